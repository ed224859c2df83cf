"""YAML and JSON, read strictly, with the place of every mistake."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cm_tui.engine.context.definitions.definition_files import listed
from cm_tui.engine.context.definitions.library import load
from cm_tui.engine.context.definitions.parsing import MAX_BYTES, Document, DocumentError, parse

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def yaml(text: str) -> Document:
    return parse(text.encode(), is_json=False)


def test_every_key_and_value_has_its_place() -> None:
    found = yaml("name: release\nsteps:\n  - type: kv_get\n    keys: [release]\n")
    assert found.value == {"name": "release", "steps": [{"type": "kv_get", "keys": ["release"]}]}
    assert found.place(("steps", 0, "keys", 0)) == (4, 12)
    assert found.key_place(("steps", 0, "keys")) == (4, 5)
    assert found.place(("steps", 0, "nothing")) == (3, 5)
    as_json = parse(b'{"name": "a",\n "steps": [{"type": "kv_get"}]}', is_json=True)
    assert as_json.place(("steps", 0, "type")) == (2, 21)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a: &x [1]\nb: *x\n", (1, 4), "anchors"),
        ("a: 1\nb:\n  a: 2\n  a: 3\n", (4, 3), "repeated here"),
        ("a:\n\t- 1\n", (2, 1), "tab"),
        ("a: !!python/object:os.system x\n", (1, 4), "tag"),
        ("base: {a: 1}\nb:\n  <<: {c: 1}\n", (3, 3), "merge keys"),
        ("a: 1\n--- \nb: 2\n", (2, 1), "second document"),
        ("", (1, 1), "empty"),
        ("# nothing but this\n", (1, 1), "empty"),
        ("a: [1, 2\n", (2, 1), "expected"),
        ("a: 1e999\n", (1, 4), "too large"),
        ("[" * 60, (1, 41), "nested"),
        ('a: "\\ud800"\n', (1, 4), "half of a surrogate"),
    ],
)
def test_mistakes_in_yaml(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(DocumentError, match=message) as found:
        yaml(text)
    assert found.value.place == place


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('{"a": 1, "a": 2}', (1, 10), "repeated here"),
        ('{"a": NaN}', (1, 7), "expected"),
        ('{"a": 1,}', (1, 9), "double quotes"),
        ("{'a': 1}", (1, 2), "double quotes"),
        ('{"a": 1} x', (1, 10), "data after the end"),
        ('{"a": 1\n "b": 2}', (2, 2), "`,`, `}` or `]`"),
        ('"abc', (1, 1), "unterminated"),
        ("[" * 50 + "]" * 50, (1, 41), "nested"),
        ('{"a": 1e999}', (1, 7), "too large"),
        ('{"\\ud800": 1}', (1, 2), "half of a surrogate"),
        ("01", (1, 2), "data after the end"),
    ],
)
def test_mistakes_in_json(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(DocumentError, match=message) as found:
        parse(text.encode(), is_json=True)
    assert found.value.place == place


def test_scalars_are_those_of_yaml_1_2() -> None:
    found = yaml("a: yes\nb: 2020-01-01\nc: ~\nd: true\ne: 1.5\nf: 012\ng: '1'\nh: off\n")
    assert found.value == {
        "a": "yes", "b": "2020-01-01", "c": None, "d": True, "e": 1.5, "f": 12, "g": "1", "h": "off",
    }  # fmt: skip


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(DocumentError, match="not UTF-8") as found:
        parse(b"a: 1\nb: \xff\n", is_json=False)
    assert found.value.place == (2, 4)
    assert parse("\ufeffa: 1".encode(), is_json=False).value == {"a": 1}


@given(PLAIN)
@example({"\x7f": None, "\x80": None})
def test_json_is_read_as_json(value: object) -> None:
    assert parse(json.dumps(value).encode(), is_json=True).value == value
    found = parse(json.dumps([value, 1], ensure_ascii=False, indent="\t").encode("utf-8", "replace"), is_json=True)
    assert found.value[1] == 1
    assert found.place((1,)).column == 2


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.booleans(),
)
def test_whatever_the_bytes_it_is_a_document_or_a_mistake_with_a_place(content: bytes, is_json: bool) -> None:
    try:
        place = parse(content, is_json=is_json).place(())
    except DocumentError as error:
        place = error.place
    assert min(place) >= 1


VALID = (
    b"name: release\nenabled: true\nmaxContribution: 400\nsteps:\n"
    b"  - {type: kv_get, keys: [release]}\n  - {type: format, template: 'x {{release}}'}\n"
)


@given(st.integers(0, len(VALID)), st.integers(0, 12), st.binary(max_size=12))
def test_a_damaged_file_is_never_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, at: int, size: int, new: bytes
) -> None:
    root = tmp_path_factory.mktemp("damaged")
    folder = root / ".cm" / "retrieval"
    folder.mkdir(parents=True)
    (folder / "a.yaml").write_bytes(VALID[:at] + new + VALID[at + size :])
    found = load(root)
    assert len(found.retrieval) + len({one.file for one in found.problems if one.severity == "error"}) >= 2 - bool(
        any(one.value.name == "pack" and one.file.startswith(".cm") for one in found.retrieval)
    )


def test_files_that_are_none(tmp_path: Path) -> None:
    folder = tmp_path / ".cm" / "rules"
    folder.mkdir(parents=True)
    (folder / "big.json").write_bytes(b'{"rules": [' + b" " * 10_000_000 + b"]}")
    (tmp_path / "outside.json").write_text('{"rules": []}')
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    os.mkfifo(folder / "pipe.yaml")
    (folder / "folder.yaml").mkdir()
    (folder / ".hidden.yaml").write_text("nonsense: [")
    (folder / "good.yaml").write_text("action: {exclude: 'kv://x'}\n")
    found = load(tmp_path)
    assert [one.value.name for one in found.rules if one.file.startswith(".cm")] == ["good"]
    told = {one.file.rpartition("/")[2]: one.message for one in found.problems}
    assert f"{MAX_BYTES:,}" in told["big.json"]
    assert set(told) == {"big.json", "link.json", "pipe.yaml", "folder.yaml"}
    assert len(listed(tmp_path)[0]) == 5
