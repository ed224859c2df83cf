"""The role of a file by its path: conventions that hold in any repository."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources

from cm_tui.engine.search.ranking import tokens

_CONVENTIONS = {
    table: {name: tokens.word_set(words) for name, words in rows.items()}
    for table, rows in tomllib.loads((resources.files(__package__) / "roles.toml").read_text(encoding="utf-8")).items()
}
_FOLDERS, _FILES, _NAMED_BY = (_CONVENTIONS[table] for table in ("folders", "files", "named_by"))
_TEST_FILE = re.compile(
    r"(?:^(?:test|tests|conftest|spec_helper|test_helpers?)$"
    r"|^test[_-]|[_.-](?:tests?|specs?|e2e|unittest)$"
    r"|(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|Suite|IT)$)"
)
_CONFIG = re.compile(
    r"\.config\.[cm]?[jt]s$|^\.[^/]+$|\.(?:json|ya?ml|toml|ini|cfg|lock|xml|csproj|sln|props|gemspec)$"
)
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$|\.pyi$")

ROLES = ("tests", "examples", "docs", "legacy", "vendored", "settings", "declarations")


@lru_cache(maxsize=1 << 15)
def roles(path: str) -> frozenset[str]:
    """Roles of a file by its path."""
    *folders, name = path.split("/")
    stem = "" if name.startswith(".") else _stem(name)
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    below = {folder.lower() for folder in folders}
    found = {role for role, names in _FOLDERS.items() if below & names}
    if _TEST_FILE.search(stem) or any(_is_test_project(folder) for folder in folders):
        found.add("tests")
    if suffix in _FILES["docs"]:
        found.add("docs")
    if stem.lower().strip("_") in _FOLDERS["legacy"]:
        found.add("legacy")
    if "dist" in below and suffix in _FILES["bundled"]:
        found.add("vendored")
    if name.lower() in _FILES["settings"] or _CONFIG.search(name.lower()):
        found.add("settings")
    if _DECLARATIONS.search(name):
        found.add("declarations")
    return frozenset(found)


def asked_for(role: str, stems: frozenset[str]) -> bool:
    """Return whether a query's words ask for files of a role."""
    return bool(_NAMED_BY[role] & stems)


def file_stem(path: str) -> str:
    """Name of a file without folder and suffix: `a/b.test.ts` gives `b.test`, `c.d.ts` gives `c`."""
    name = path.rpartition("/")[2]
    return _DECLARATIONS.sub("", name) if _DECLARATIONS.search(name) else _stem(name)


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


def _is_test_project(folder: str) -> bool:
    """`My.Product.Tests`, `core-test`: a whole module of tests, as in .NET, Java and Kotlin projects."""
    return re.search(r"[._-](?:unit)?tests?$", folder, re.IGNORECASE) is not None
