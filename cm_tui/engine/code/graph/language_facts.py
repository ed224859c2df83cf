"""Facts about languages for the resolver, by family, in addition to `languages.py`.

A language without a line here is its own family, and imports by path.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Literal

BUILTIN_SCOPE = -(10**15)
"""Below every file's scope; one a family."""

_JAVASCRIPT = """
Array ArrayBuffer BigInt Boolean Buffer Date Error Function Infinity Intl JSON Map Math NaN Number Object Promise
Proxy RangeError Reflect RegExp Set String Symbol TypeError URL URLSearchParams WeakMap WeakSet any boolean
clearInterval clearTimeout console document fetch globalThis isFinite isNaN localStorage navigator never number
parseFloat parseInt process queueMicrotask require setInterval setTimeout string structuredClone unknown void window
"""
_GO = """
any append bool byte cap clear close copy delete error float64 int len make max min new panic print println recover
rune string
"""


_JVM = """
AssertionError Boolean Byte Character CharSequence Class Comparable Double Enum Error Exception Float
IllegalArgumentException IllegalStateException Integer Iterable Long Math NullPointerException Number Object Override
Runnable Runtime RuntimeException Short String StringBuffer StringBuilder SuppressWarnings System Thread Throwable
UnsupportedOperationException Void
"""
_RUST = """
Box Default Drop Err From Into None Ok Option Result Some String Vec alloc core format panic print println std str
unreachable vec
"""
_C_KEYWORDS = """
alignas alignof const_cast decltype defined dynamic_cast noexcept reinterpret_cast requires sizeof static_assert
static_cast typeid __attribute__ __declspec
"""


@dataclass(frozen=True, slots=True)
class Family:
    """Languages whose definitions may call each other."""

    name: str
    languages: tuple[str, ...]
    implicit: tuple[str, ...] = ()
    """Languages in which a bare name may mean a member."""
    self_words: Mapping[str, Literal["object", "class", "super"]] = field(default_factory=dict)
    """Words for the object itself, its class, and the object seen from its bases."""
    builtins: tuple[str, ...] = ()
    """Built-in names."""
    guesses: bool = False
    """Whether a call on an unknown receiver means the only definition of that name in the project."""
    global_names: bool = False
    """Whether a bare name that is found nowhere near may be a function of any file."""
    counts_arguments: bool = False
    """Whether a call has to have as many arguments as its function has parameters."""
    keywords: tuple[str, ...] = ()
    """Words of the language that look like calls to the extractor."""
    shares: Literal["", "folder", "package", "namespace", "project"] = ""
    """Whose top-level names a file sees without an import."""
    modules: Literal["path", "dotted", "namespace", "go", "rust", "dart"] = "path"
    """How an import names a file; Python and JavaScript have separate modules for that."""
    suffixes: tuple[str, ...] = ()
    """Extensions that an import leaves out."""
    separator: str = "."
    """Between a module and a name of it."""
    takes_all: bool = False
    """Whether an import without names imports all definitions of its module."""


_ALL = (
    Family("python", ("python",), self_words={"self": "object", "cls": "class", "Self": "object", "super": "super"},
           builtins=tuple(n for n in dir(builtins) if not n.startswith("_")), guesses=True),
    Family("js", ("javascript", "typescript", "tsx"), self_words={"this": "object", "super": "super"},
           builtins=tuple(_JAVASCRIPT.split()), guesses=True),
    Family("go", ("go",), builtins=tuple(_GO.split()), shares="folder", modules="go", separator="/"),
    Family("rust", ("rust",), self_words={"self": "object", "Self": "class"}, builtins=tuple(_RUST.split()),
           counts_arguments=True, modules="rust", separator="::"),
    Family("jvm", ("java", "kotlin", "scala"), ("java", "kotlin", "scala"), {"this": "object", "super": "super"},
           builtins=tuple(_JVM.split()), shares="package", modules="dotted",
           suffixes=(".java", ".kt", ".kts", ".scala")),
    Family("c", ("c", "cpp"), ("cpp",), {"this": "object"}, builtins=("std",), global_names=True, counts_arguments=True,
           keywords=tuple(_C_KEYWORDS.split()), shares="namespace",
           suffixes=(".h", ".hpp", ".hh", ".hxx", ".c", ".cc", ".cpp"), takes_all=True),
    Family("csharp", ("csharp",), ("csharp",), {"this": "object", "base": "super"}, shares="namespace",
           modules="namespace", takes_all=True),
    Family("fsharp", ("fsharp",), global_names=True, shares="project", modules="dotted", suffixes=(".fs",), takes_all=True),
    Family("ruby", ("ruby",), ("ruby",), {"self": "object", "super": "super"}, shares="project", suffixes=(".rb",),
           takes_all=True),
    Family("php", ("php",), self_words={"this": "object", "self": "class", "static": "class", "parent": "super"},
           shares="namespace", modules="namespace", suffixes=(".php",), separator="\\", takes_all=True),
    Family("swift", ("swift",), ("swift",), {"self": "object", "Self": "class", "super": "super"}, shares="project"),
    Family("lua", ("lua",), global_names=True, self_words={"self": "object"}, modules="dotted", suffixes=(".lua",)),
    Family("bash", ("bash",), global_names=True, shares="project", suffixes=(".sh", ".bash"), takes_all=True),
    Family("elixir", ("elixir",), global_names=True, shares="project", modules="dotted", suffixes=(".ex", ".exs"), takes_all=True),
    Family("dart", ("dart",), ("dart",), {"this": "object", "super": "super"}, modules="dart", suffixes=(".dart",),
           takes_all=True),
    Family("zig", ("zig",), self_words={"self": "object", "Self": "class"}, suffixes=(".zig",)),
    Family("haskell", ("haskell",), global_names=True, modules="dotted", suffixes=(".hs",), takes_all=True),
)  # fmt: skip
FAMILIES = {family.name: family for family in _ALL}
_DEFAULT = Family("", ())


def facts_of(family: str) -> Family:
    """Return the facts about a family by name."""
    return FAMILIES.get(family, _DEFAULT)


def sharing(kind: Literal["folder", "package", "namespace", "project"]) -> frozenset[str]:
    """Return the families whose files share names within a folder, a namespace or the whole project."""
    return frozenset(family.name for family in _ALL if family.shares == kind)


def common_names() -> list[str]:
    """Common method names, which mean nothing on an unknown receiver.

    Those of Python's built-in types, and of files, sockets, threads, loggers, paths, collections and the like in other
    languages' libraries (`common_names.txt`).
    """
    listed = (resources.files(__package__) / "common_names.txt").read_text(encoding="utf-8").split()
    kinds = (str, bytes, list, dict, set, tuple, int, float, object)
    return sorted({*listed, *(name for kind in kinds for name in dir(kind))})
