"""Supported languages, and facts about them that a query file cannot express, from `languages.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from typing import Any, TypeVar, cast

from cm_tui.engine.platform.git.encodings import wide_text

Facts = TypeVar("Facts")

EXTRACTOR_VERSION = "11"
"""Increased whenever the same bytes would give other rows: because of this table, a query or the extractor."""


@dataclass(frozen=True, eq=False)
class Language:
    """Language or text format.

    `grammar` and `queries` are empty for formats that are cut by lines. `parameters` gives the role (`optional`,
    `variadic`, `skip`) of node types in a parameter list, also as a direct child of a parameter; others are required
    unless they have a field of `optional_fields`. `default` and `spread` are next to the parameter that they make
    optional; `*` is the role of all other types, `inside` sends one of them to its children; `>` before a type means
    only those directly in the list.
    """

    name: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    grammar: str = ""
    queries: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    optional_fields: tuple[str, ...] = ("value", "default_value", "default")
    grouped_parameters: bool = False
    """One parameter node may declare several names (Go)."""
    self_names: frozenset[str] = frozenset()
    """Names of a method's first parameter that calls do not pass."""
    constructors: frozenset[str] = frozenset()
    constructor_is_class_name: bool = False
    annotations_inside: bool = False
    """Annotations are a part of the definition's node; a signature leaves them out."""
    clauses: bool = False
    """Definitions of one function that follow one another are its clauses."""
    opening: str = ""
    """First line of a definition by its first word, after white space."""
    recovery: str = ""
    """First line of a function, for functions that the grammar loses in an error."""
    recover_always: bool = False
    """Functions are lost without an error too: inside macros that are only tokens to the grammar."""
    macros: bool = False
    """A preprocessor expands macros before the grammar counts; unexpanded, they make declarations look like calls."""
    no_names: frozenset[str] = frozenset()
    """Words that are never names, even in an error of the grammar."""
    transparent: frozenset[str] = frozenset()
    """Generic types that are replaced by their first argument."""
    builtin: frozenset[str] = frozenset()
    """Types of the language itself: neither referred to nor bound."""
    known_types: frozenset[str] = frozenset()
    """Those of them that are bound anyway: calls on their objects are known to be outside."""


@cache
def _facts() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads((resources.files(__package__) / "languages.toml").read_text(encoding="utf-8"))


def read_facts(section: str, kind: type[Facts]) -> tuple[Facts, ...]:
    """Return the records of a section of `languages.toml`, in its order; lists of words are texts there."""
    entries = _facts()[section]
    makers = {field.name: _MAKERS.get(str(field.type).partition("[")[0]) for field in fields(cast("Any", kind))}
    found = []
    for name, own in entries.items():
        values = {**entries.get(own.get("like", ""), {}), **own, "like": None}
        del values["like"]
        made = {key: maker(value.split()) if (maker := makers[key]) else value for key, value in values.items()}
        found.append(cast("Any", kind)(name, **made))
    return tuple(found)


_MAKERS: dict[str, Callable[[list[str]], Any]] = {"tuple": tuple, "frozenset": frozenset}
_ALL = read_facts("language", Language)
LANGUAGES: Mapping[str, Language] = {language.name: language for language in _ALL}
"""By name."""

_ALSO_CALLED = {
    "c#": "csharp", "docker": "dockerfile", "f#": "fsharp", "golang": "go", "objective-c": "objc",
    "shell": "bash", "vb": "vbnet", "visualbasic": "vbnet",
}  # fmt: skip
_WITHIN = {"typescript": ("tsx",)}
"""Languages implied by another."""

_BY_EXTENSION = {extension: language.name for language in _ALL for extension in language.extensions}
_BY_FILENAME = {name: language.name for language in _ALL for name in language.filenames}
_BY_INTERPRETER = {name: language.name for language in _ALL for name in language.interpreters}
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?env\s+(?:-\S+\s+|\w+=\S+\s+)*(?:\S*/)?([^\s/]+)|#!\s*(?:\S*/)?([^\s/]+)")
_CPP_HEADER = re.compile(
    rb"^\s*(?:class\s+\w|namespace\s|template\s*<|using\s|public:|private:|protected:|virtual\s)|\bstd::", re.MULTILINE
)
_SHOWN_HEAD = 4096
_CPP_FURTHER_DOWN = re.compile(
    rb"^[ \t]*(?:class\s+(?:[A-Z_]+\s+)?\w+\s*(?:final\s*)?[:{]|namespace\s+[\w:]+\s*\{|template\s*<|using\s+[\w:]+\s*[=;]"
    rb"|using\s+namespace\s)",
    re.MULTILINE,
)
"""Lines that no comment of a C header contains by chance, for headers that begin with a long one."""


HEAD_BYTES = 65_536
"""Bytes of a file to check when its name does not determine its language."""


def called() -> dict[str, tuple[str, ...]]:
    """Return the languages by every name for them: their own, an extension, another name.

    The language of that name comes first, then the implied ones.
    """
    names = {
        **{extension[1:]: name for extension, name in _BY_EXTENSION.items()},
        **_ALSO_CALLED,
        **{name: name for name in LANGUAGES},
    }
    return {word: (name, *_WITHIN.get(name, ())) for word, name in names.items()}


def language_of(path: str, head: bytes = b"") -> str:
    """Name the language of a file.

    `path`: its path; only the name counts. `head`: the first bytes of its content, for scripts without an extension and
    for C++ headers called `.h`. Returns a key of `LANGUAGES`; `text` for any other text.
    """
    name = path.rpartition("/")[2]
    if name in _BY_FILENAME:
        return _BY_FILENAME[name]
    if b"\0" in head and (text := wide_text(head[: len(head) // 4 * 4])) is not None:
        head = text.encode()
    if name.startswith(("Dockerfile.", "Containerfile.")):
        return "dockerfile"
    stem, dot, extension = name.rpartition(".")
    language = _BY_EXTENSION.get(f".{extension}".lower()) if dot and stem else None
    if extension == "h" and stem and (_CPP_HEADER.search(head[:_SHOWN_HEAD]) or _CPP_FURTHER_DOWN.search(head)):
        return "cpp"
    if language is not None:
        return language
    if head.startswith(b"#!") and (match := _SHEBANG.match(head)):
        interpreter = (match[1] or match[2]).decode("ascii", "replace").lower()
        return _BY_INTERPRETER.get(interpreter) or _BY_INTERPRETER.get(interpreter.rstrip("0123456789.")) or "text"
    return "text"
