"""Traits of passages that do not depend on the query, computed once."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from cm_tui.engine.search.ranking import tokens

# --- the role of a file by its path: conventions that hold in any repository ---

_CONVENTIONS = {
    table: {name: tokens.word_set(words) for name, words in rows.items()}
    for table, rows in tokens.packaged("roles").items()
}
_FOLDERS, _FILES, _NAMED_BY = (_CONVENTIONS[table] for table in ("folders", "files", "named_by"))
WITHOUT_SYMBOLS = _FILES["without_symbols"]
_TEST_FILE = re.compile(
    r"(?:^(?:test|tests|conftest|spec_helper|test_helpers?)$"
    r"|^test[_-]|[_.-](?:tests?|specs?|e2e|unittest)$"
    r"|(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|Suite|IT)$)"
)
_TEST_PROJECT = re.compile(r"[._-](?:unit)?tests?$", re.IGNORECASE)
"""`My.Product.Tests`, `core-test`: a whole module of tests, as in .NET, Java and Kotlin projects."""
_CONFIG = re.compile(
    r"\.config\.[cm]?[jt]s$|^\.[^/]+$|\.(?:json|ya?ml|toml|ini|cfg|lock|xml|csproj|sln|props|gemspec)$"
)
_NEWS = re.compile(r"(?i:change[-_]?logs?|changes|release[-_]?notes|releases|blog)(?![a-zA-Z])|(?:HISTORY|NEWS)$")
_TRANSLATED = re.compile(r"(?:.*[._])?(?:ar|cs|de|es|fa|fr|ja|ko|nl|pl|pt|ru|tr|uk|vi|zh)(?:[-_][A-Za-z]{2,4})?$")
"""A folder or file of a document in another language than English: `docs/zh-CN`, `README.ja`."""
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$|\.pyi$")

ROLES = ("tests", "examples", "docs", "legacy", "news", "translated", "vendored", "settings", "declarations")


@lru_cache(maxsize=1 << 15)
def roles(path: str) -> frozenset[str]:
    """Roles of a file by its path."""
    *folders, name = path.split("/")
    stem = "" if name.startswith(".") else _stem(name)
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    below = {folder.lower() for folder in folders}
    found = {role for role, names in _FOLDERS.items() if below & names}
    # Deeper folders of that name connect programs; the first one tests the whole repository.
    if _TEST_FILE.search(stem) or folders[:1] == ["integration"] or any(map(_TEST_PROJECT.search, folders)):
        found.add("tests")
    if suffix in _FILES["docs"]:
        found.add("docs")
    if stem.lower().strip("_") in _FOLDERS["legacy"]:
        found.add("legacy")
    if not suffix or suffix in _FILES["docs"]:
        patterns = {"news": _NEWS, "translated": _TRANSLATED} if suffix else {"news": _NEWS}
        found |= {role for role, pattern in patterns.items() if any(map(pattern.match, (*folders, stem)))}
    if "dist" in below and suffix in _FILES["bundled"]:
        found.add("vendored")
    if name.lower() in _FILES["settings"] or _CONFIG.search(name.lower()):
        found.add("settings")
    if _DECLARATIONS.search(name):
        found.add("declarations")
    return frozenset(found)


def requested_role(role: str, stems: frozenset[str]) -> bool:
    """Return whether a query's words ask for files of a role."""
    return bool(_NAMED_BY[role] & stems)


def file_stem(path: str) -> str:
    """Name of a file without folder and suffix: `a/b.test.ts` gives `b.test`, `c.d.ts` gives `c`."""
    name = path.rpartition("/")[2]
    return _DECLARATIONS.sub("", name) if _DECLARATIONS.search(name) else _stem(name)


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


# --- traits of passages that do not depend on the query, computed once ---

_WORKING = tokens.word_set("function method constructor macro property")
TYPES = tokens.word_set("class struct interface trait enum type module protocol object namespace union record")
_LONG = math.log1p(40)
"""Lines from which on length no longer indicates whether a passage does any work."""


_HEAD_LINES = 2
_UNKNOWN = 0.5
"""How nameless lines are that may be a function as well as imports."""
_BODILESS = 2
"""Lines of a property that computes nothing."""
_REMARK = re.compile(r"""\s*(?:#|//|/\*|\*|--|;|%|<!--|\"{3}|'{3})""")
"""How a line of a comment begins, in one language or another."""


_TEST_MODULES = tokens.word_set("tests test")
_TEST = re.compile(r"\s*#\[(?:\w+::)*test\b")
"""How a test begins in Rust, where tests are in the file that they test."""


class Definition(NamedTuple):
    """A symbol that begins within a passage."""

    name: str
    qualname: str
    kind: str
    nested: bool
    lines: int


class Owner(NamedTuple):
    """The symbol that a passage is, or is a piece of."""

    qualname: str
    name: str
    kind: str
    begins: int
    """Its first line: all pieces of a long function have the same."""


class Traits(NamedTuple):
    """Facts of a passage that ranking looks at for every question."""

    names: tuple[tuple[str, ...], ...]
    """Pieces of the name of its owner and of each symbol that it defines."""
    around: tuple[str, ...]
    """Pieces of the names of its owner's containers."""
    head: tuple[str, ...]
    """Pieces of the words of its first lines that are no comment: how it is declared, with its parameters."""
    document: bool
    length: float
    """Lines that are not blank, by their logarithm: 1 from forty on."""
    nameless: float
    """1 where it belongs to no symbol and defines none; half in a language whose symbols are not read."""
    values: bool
    types: bool
    tests: bool
    """Whether it is a test among other code; the role of a file covers the others."""


def traits_of(path: str, text: str, owner: Owner | None, definitions: Sequence[Definition]) -> Traits:
    """Return the traits of a passage.

    Args:
        path: of its file.
        text: its lines.
        owner: the symbol that it belongs to.
        definitions: symbols that begin within it.
    """
    names = [definition.name for definition in definitions if owner is None or definition.qualname != owner.qualname]
    document = "docs" in roles(path) or (owner is not None and owner.kind == "section")
    kinds = {owner.kind} if owner else {definition.kind for definition in definitions}
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    # A property without a body is a value.
    working = _WORKING if len(lines) > _BODILESS else _WORKING - {"property"}
    works = document or not kinds.isdisjoint(working)
    types = not works and not kinds.isdisjoint(TYPES)
    return Traits(
        names=tuple(name_pieces(name) for name in ([owner.name, *names] if owner else names)),
        around=name_pieces(owner.qualname.removesuffix(owner.name)) if owner else (),
        head=_head(lines),
        document=document,
        length=min(1.0, math.log1p(len(lines)) / _LONG),
        nameless=0.0 if kinds or document else _UNKNOWN if path.rpartition(".")[2].lower() in WITHOUT_SYMBOLS else 1.0,
        values=bool(kinds) and not works and not types,
        types=types,
        tests=_is_test(owner, text),
    )


def _is_test(owner: Owner | None, text: str) -> bool:
    if owner is None:
        return False
    *around, _ = containers = owner.qualname.split(".")
    return (
        not _TEST_MODULES.isdisjoint(containers if owner.kind == "module" else around) or _TEST.match(text) is not None
    )


def _head(lines: Sequence[str]) -> tuple[str, ...]:
    head = islice((line for line in lines if not _REMARK.match(line)), _HEAD_LINES)
    # By word, as most of them are in many passages.
    return tuple(dict.fromkeys(piece for line in head for word in tokens.words(line) for piece in name_pieces(word)))


@lru_cache(maxsize=1 << 16)
def name_pieces(name: str) -> tuple[str, ...]:
    """Pieces of a symbol's name, or of a heading, each once."""
    return tuple(dict.fromkeys(piece for word in tokens.words(name) for piece in tokens.parts(word)))
