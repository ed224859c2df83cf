from pathlib import Path

import pytest

from cm_tui.config import IndexConfig
from cm_tui.engine.code.scan.skip_rules import SkipRules, by_content, folders_of, suffix_of
from cm_tui.errors import ConfigError


def rules(root: Path, tracked: list[str] | None = None, **settings) -> SkipRules:
    return SkipRules(IndexConfig(**settings), root, None if tracked is None else folders_of(tracked))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("src/app.py", None),
        ("package-lock.json", "lock file"),
        ("deep/in/Cargo.lock", "lock file"),
        ("go.sum", "lock file"),
        ("web/app.min.js", "minified"),
        ("web/app-min.css", "minified"),
        ("web/app.js.map", "source map"),
        ("maps/world.map", None),
        ("node_modules/x/index.js", "dependency folder"),
        ("packages/a/node_modules/x/index.js", "dependency folder"),
        ("packages/a/index.js", None),
        ("tmp/a.py", None),
        ("app.egg-info/PKG-INFO", "cache"),
        ("pkg/__pycache__/a.cpython-311.pyc", "cache"),
        ("logo.png", "binary"),
        ("notes/README.doc", None),
        ("letter.docx", "binary"),
        ("logo.svg", "data"),
        ("run.log", "data"),
        ("locale/de/LC_MESSAGES/django.po", "translation catalogue"),
        (".cm/memory.json", "folder of cm itself"),
        (".env", "credentials"),
        (".env.production", "credentials"),
        (".env.example", None),
        ("environment.py", None),
        ("keys/server.pem", "credentials"),
        ("id_rsa", "credentials"),
        ("home/.aws/credentials", "credentials"),
        ("node_modules/x/.npmrc", "dependency folder"),
        (".github/workflows/ci.yml", None),
        ("Makefile", None),
    ],
)
def test_rules_by_path(tmp_path, path, reason):
    assert rules(tmp_path, []).by_path(path) == reason


def test_only_the_path_below_the_root_counts(tmp_path):
    root = tmp_path / "node_modules" / "build" / "packages" / "app"
    root.mkdir(parents=True)
    assert rules(root, []).by_path("src/a.py") is None
    assert rules(root).by_path("src/a.py") is None


def test_a_tracked_build_folder_is_source_and_an_untracked_one_an_output(tmp_path):
    (tmp_path / "build").mkdir()
    assert rules(tmp_path, ["build/compiler.py"]).by_path("build/new.py") is None
    assert rules(tmp_path, ["src/a.py"]).by_path("build/a.py") == "build output"
    assert rules(tmp_path, ["build/compiler.py"]).by_path("build/dist/new.js") == "build output"
    assert rules(tmp_path, ["src/a.py"]).by_path("bin/tool.py") is None


def test_without_git_a_build_folder_is_an_output_only_beside_what_makes_it(tmp_path):
    plain = rules(tmp_path)
    assert plain.by_path("build/a.py") is None
    assert plain.by_path("dist/a.js") is None
    assert plain.by_path("target/a.rs") is None
    (tmp_path / "Cargo.toml").touch()
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "App.csproj").touch()
    again = rules(tmp_path)
    assert again.by_path("target/debug/a.rs") == "build output"
    assert again.by_path("web/obj/a.cs") == "build output"
    assert again.by_path("obj/a.cs") is None


def test_folders_that_say_what_they_are(tmp_path):
    for folder, marker in (("env39", "pyvenv.cfg"), ("thing", "CACHEDIR.TAG"), ("vendor", "modules.txt")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / marker).touch()
    judged = rules(tmp_path, ["vendor/modules.txt", "vendor/x/a.go", "other/vendor/b.go"])
    assert judged.by_path("env39/lib/a.py") == "dependency folder"
    assert judged.by_path("thing/a.py") == "cache"
    assert judged.by_path("vendor/x/a.go") == "dependency folder"
    assert judged.by_path("other/vendor/b.go") is None


def test_a_project_overrides_the_defaults(tmp_path):
    own = rules(tmp_path, [], include=("*.lock", "/web/", "*.png"), exclude=("secret/", "*.gen.py", "!keep.gen.py"))
    assert own.by_path("poetry.lock") is None
    assert own.by_path("web/node_modules/a.min.js") is None
    assert own.by_path("other/web/a.min.js") == "minified"
    assert own.by_path("logo.png") == "binary"
    assert own.by_path("a/secret/b.py") == "excluded by configuration"
    assert own.by_path("a.gen.py") == "excluded by configuration"
    assert own.by_path("keep.gen.py") is None


def test_credentials_come_back_by_name_unless_nobody_trusts_the_pattern(tmp_path):
    own = rules(tmp_path, [], include=("deploy/.env", "web/*"), untrusted_include=("web/*",))
    assert own.by_path("deploy/.env") is None
    assert own.by_path("web/.env") == "credentials"
    assert own.by_path("web/app.min.js") is None
    assert own.verdict("deploy/.env", "credentials") is None
    assert own.verdict("web/key", "credentials") == "credentials"
    assert own.verdict("deploy/.env", "binary") == "binary"


def test_size_limits(tmp_path):
    own = rules(tmp_path, [], max_file_bytes=500_000, include=("big.json",))
    assert own.by_size("a.py", 500_000) is None
    assert own.by_size("a.py", 500_001) == "larger than 500 kB"
    assert own.by_size("a.json", 99_000) is None
    assert own.by_size("a.json", 101_000) == "data"
    assert own.by_size("big.json", 101_000) is None
    assert own.by_size("a.csv", 20_000) == "data"
    assert own.by_size("Makefile", 20_000) is None


def test_a_pattern_that_makes_no_sense_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"index\.exclude"):
        rules(tmp_path, [], exclude=("!",))


@pytest.mark.parametrize(
    ("path", "data", "included", "reason"),
    [
        ("a.py", b"x = 1\n", False, None),
        ("a.py", b"", False, None),
        ("a", b"\x7fELF\0\0", False, "binary"),
        ("a", b"\x7fELF\0\0", True, "binary"),
        ("a.py", b"x" * 9000 + b"\0", False, None),
        ("notes.doc", b"How it is built\n", False, None),
        ("notes.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16), False, "binary"),
        ("notes.doc", b"{\\rtf1\\ansi How it is built}", False, "binary"),
        ("Tank.mo", b"model Tank\nend Tank;\n", False, None),
        ("django.mo", b"\xde\x12\x04\x95" + bytes(4), False, "binary"),
        ("a.js", b"var a=1;" * 1000, False, "minified"),
        ("a.js", b"var a=1;" * 1000, True, None),
        ("a.py", b"a = [" + b"1, " * 3000 + b"]\n", False, None),
        ("a.js", b"var a = 1;\n" * 1000, False, None),
        ("a.js", b"var a = 1;\n" * 1000 + b"x" * 2000, False, None),
        ("a.js", "é\n".encode("latin-1"), False, None),
        ("key.txt", b"-----BEGIN " + b"PRIVATE KEY-----\nAAAA\n", False, "credentials"),
        ("key.txt", b"-----BEGIN " + b"PRIVATE KEY-----\nAAAA\n", True, "credentials"),
    ],
)
def test_rules_by_content(path, data, included, reason):
    assert by_content(path, data, included=included) == reason


def test_suffixes_and_folders():
    assert [suffix_of(path) for path in ("a/b.PY", "a.b/c", ".env", ".eslintrc.json", "x.")] == [
        "py",
        "",
        "",
        "json",
        "",
    ]
    assert folders_of(["a/b/c.py", "a/d.py", "e.py"]) == {"a", "a/b"}
