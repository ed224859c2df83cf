"""Types of referenced .NET assemblies: which files, and what is read from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.code.graph import assembly_members
from cm_tui.engine.code.graph.assemblies import referenced_assemblies
from cm_tui.engine.code.graph.assembly_members import members_of
from cm_tui.errors import NotFoundError
from tests.dotnet import add_assembly, put, runtime
from tests.tiers import examples

APP = "App/App.csproj"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUGET_PACKAGES", str(tmp_path / "packages"))
    monkeypatch.setattr("cm_tui.engine.code.graph.assemblies._framework", list)
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def dll(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_a_type_with_its_members_as_csharp_writes_them():
    page = members_of("PyObject", [runtime()])
    signatures = {row.signature: row for row in page.rows}
    assert page.rows[0].signature == "public class Python.Runtime.PyObject : DynamicObject"
    assert page.rows[0].path == str(runtime())
    assert {
        "public PyObject GetAttr(string name)",
        "public bool TryGetMember(GetMemberBinder binder, ref object result)",
        "public static PyObject FromManagedObject(object ob)",
        "public PyObject this[int index] { get; set; }",
        "public T As<T>()",
    } <= {text.replace(" override", "").replace(" virtual", "") for text in signatures}
    assert all(row.qualname.startswith("Python.Runtime.PyObject.") for row in page.rows[1:])
    assert not any("private" in text or "internal " in text.replace("protected internal", "") for text in signatures)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Python.Runtime.Py.GILState", "public class Python.Runtime.Py.GILState"),
        ("Py+GILState", "public class Python.Runtime.Py.GILState"),
        ("PyBuffer", "public sealed class Python.Runtime.PyBuffer"),
        ("BufferOrderStyle", "public enum Python.Runtime.BufferOrderStyle"),
        ("IPyObjectDecoder", "public interface Python.Runtime.IPyObjectDecoder"),
    ],
)
def test_names_and_kinds_of_types(name: str, first: str):
    assert members_of(name, [runtime()]).rows[0].signature == first


def test_what_is_not_there_or_has_no_single_meaning_is_said(tmp_path: Path):
    with pytest.raises(NotFoundError, match=r"No type 'Nonsense' in 1 referenced assembly\."):
        members_of("Nonsense", [runtime()])
    broken = tmp_path / "Broken.dll"
    broken.write_bytes(runtime().read_bytes()[:150_000] + b"\0PyObject\0")
    with pytest.raises(NotFoundError, match=r"Some could not be read: Broken\.dll\."):
        members_of("PyObject", [broken])
    assert members_of("PyObject", [broken, runtime()]).note == f"in {runtime()}; could not be read: Broken.dll"


@given(changes=st.lists(st.tuples(st.integers(0, 440_000), st.binary(min_size=1, max_size=8)), min_size=1, max_size=60))
@settings(max_examples=examples(60), deadline=None)
def test_a_damaged_assembly_is_read_or_named(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, bytes]]
):
    data = bytearray(runtime().read_bytes())
    for at, value in changes:
        data[at : at + len(value)] = value
    path = tmp_path_factory.mktemp("damaged") / "Damaged.dll"
    path.write_bytes(data)
    types, unread = assembly_members._read("PyObject", [str(path)])
    assert types or unread or b"\0PyObject\0" not in data


def test_what_was_restored_comes_before_what_is_stated(root: Path, tmp_path: Path):
    packages = tmp_path / "packages"
    put(root / APP, '<PackageReference Include="Some.Json" Version="1.0.0" />')
    old = dll(packages / "some.json/1.0.0/lib/net45/Some.Json.dll")
    newer = dll(packages / "some.json/1.0.0/lib/netstandard2.0/Some.Json.dll")
    assert referenced_assemblies(root, [APP]) == [newer]
    newest = dll(packages / "some.json/1.0.0/lib/net8.0/Some.Json.dll")
    assert referenced_assemblies(root, [APP]) == [newest]
    restored = {
        "targets": {"net45": {"Some.Json/1.0.0": {"compile": {"lib/net45/Some.Json.dll": {}, "../../x.dll": {}}}}},
        "libraries": {"Some.Json/1.0.0": {"path": "some.json/1.0.0"}},
        "packageFolders": {"/elsewhere/": {}},
    }
    dll(packages / "some.json/x.dll")
    (root / "App/obj").mkdir()
    (root / "App/obj/project.assets.json").write_text(json.dumps(restored))
    assert old in referenced_assemblies(root, [APP])
    assert newest not in referenced_assemblies(root, [APP])
    (root / "App/obj/project.assets.json").write_text('{"targets": []}')
    assert referenced_assemblies(root, [APP]) == [newest]


def test_versions_are_central_unstated_or_of_an_older_kind(root: Path, tmp_path: Path):
    packages = tmp_path / "packages"
    for version in ("1.9.0", "1.10.0", "2.0.0"):
        dll(packages / f"some.json/{version}/lib/net8.0/Some.Json.dll")
    put(root / APP, '<PackageReference Include="Some.Json" />')
    put(
        root / "Directory.Packages.props",
        '<PackageVersion Include="Some.Json"><Version>1.9.0</Version></PackageVersion>',
    )
    assert [path.parts[-4] for path in referenced_assemblies(root, [APP])] == ["2.0.0"]
    assert [path.parts[-4] for path in referenced_assemblies(root, ["Directory.Packages.props", APP])] == ["1.9.0"]
    (root / "packages.config").write_text('<packages><package id="Old" version="3.1" /></packages>')
    old = dll(root / "packages/Old.3.1/lib/net40/Old.dll")
    assert referenced_assemblies(root, ["packages.config"]) == [old]


def test_only_files_of_the_checkout_the_packages_and_the_framework_are_read(root: Path, tmp_path: Path):
    outside = dll(tmp_path / "outside" / "Secret.dll")
    (root / "lib").mkdir()
    (root / "lib" / "link.dll").symlink_to(outside)
    hints = ["..\\..\\outside\\Secret.dll", "..\\lib\\link.dll", str(outside), "x" * 5000, "$(Home)\\x.dll"]
    put(root / APP, "".join(f"<Reference><HintPath>{hint}</HintPath></Reference>" for hint in hints))
    assert referenced_assemblies(root, [APP]) == []
    put(
        root / APP,
        '<PackageReference Include="../../outside" Version=".." /><PackageReference Include=".." Version="*" />'
        f'<PackageReference Include="{"y" * 5000}" Version="{"1" * 5000}" />',
    )
    assert referenced_assemblies(root, [APP]) == []
    dll(tmp_path / "packages" / "pkg" / "1" / "lib" / "net8.0" / "Pkg.dll")
    project = '<Project><PackageReference Include="pkg" Version="1" /></Project>'
    for encoding in ("utf-8", "utf-16"):
        (root / APP).write_text(project, encoding)
        assert len(referenced_assemblies(root, [APP])) == 1
        (root / APP).write_text(f'<!DOCTYPE x [<!ENTITY a "b">]>{project}', encoding)
        assert referenced_assemblies(root, [APP]) == []
    (root / APP).write_text("<Project>")
    assert referenced_assemblies(root, [APP, "App/gone.csproj"]) == []


def test_an_assembly_of_the_repository_is_read_through_the_engine(root: Path):
    add_assembly(root)
    assert members_of("PyObject", referenced_assemblies(root, [APP])).total > 50


def test_a_reader_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(assembly_members, "SECONDS", 0.05)
    monkeypatch.setattr(assembly_members, "_START", "import time; time.sleep(60)")
    with pytest.raises(NotFoundError, match="the process that reads them ended"):
        members_of("PyObject", [runtime()])


def test_the_newest_framework_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("DOTNET_ROOT", str(tmp_path))
    monkeypatch.setenv("NUGET_PACKAGES", str(tmp_path / "none"))
    pack = tmp_path / "packs/Microsoft.NETCore.App.Ref"
    found = [
        dll(pack / f"{version}/ref/{target}/System.dll")
        for version, target in (("9.0.1", "net9.0"), ("10.0.0", "net10.0"))
    ]
    put(tmp_path / "own" / APP, "")
    assert referenced_assemblies(tmp_path / "own", [APP])[:2] == found[::-1]
    assert referenced_assemblies(tmp_path / "own", []) == []
