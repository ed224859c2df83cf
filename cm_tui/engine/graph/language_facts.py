"""What the resolver knows about languages: families, words for the object itself, names that come with a language."""

from __future__ import annotations

import builtins
from importlib import resources

FAMILIES: dict[str, tuple[str, bool]] = {
    "python": ("python", False), "javascript": ("js", False), "typescript": ("js", False), "tsx": ("js", False),
    "go": ("go", False), "rust": ("rust", False),
    "java": ("jvm", True), "kotlin": ("jvm", True), "scala": ("jvm", True),
    "c": ("c", False), "cpp": ("c", True), "csharp": ("csharp", True), "fsharp": ("fsharp", False),
    "ruby": ("ruby", True),
    "php": ("php", False), "swift": ("swift", True), "lua": ("lua", False), "bash": ("bash", False),
    "elixir": ("elixir", False), "dart": ("dart", True), "zig": ("zig", False), "haskell": ("haskell", False),
}  # fmt: skip
"""Language to family (whose definitions may call each other) and whether a bare name may mean a member."""

SELF_WORDS: dict[str, dict[str, str]] = {
    "python": {"self": "object", "cls": "class", "Self": "object", "super": "super"},
    "js": {"this": "object", "super": "super"},
    "jvm": {"this": "object", "super": "super"},
    "csharp": {"this": "object", "base": "super"},
    "c": {"this": "object"},
    "ruby": {"self": "object", "super": "super"},
    "php": {"this": "object", "self": "class", "static": "class", "parent": "super"},
    "swift": {"self": "object", "Self": "class", "super": "super"},
    "rust": {"self": "object", "Self": "class"},
    "dart": {"this": "object", "super": "super"},
    "lua": {"self": "object"},
    "zig": {"self": "object", "Self": "class"},
}
"""Family to word to role: the object, its class, or the object seen from its bases."""

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

BUILTINS: dict[str, tuple[str, ...]] = {
    "python": tuple(n for n in dir(builtins) if not n.startswith("_")),
    "js": tuple(_JAVASCRIPT.split()),
    "go": tuple(_GO.split()),
}
"""Family to the names that its language brings."""


def common_names() -> list[str]:
    """Method names that any object may bear, so that on an unknown receiver they say nothing.

    Those of Python's built-in types, and of files, sockets, threads, loggers, paths, collections and the like in
    the libraries of other languages (`common_names.txt`).
    """
    listed = (resources.files(__package__) / "common_names.txt").read_text(encoding="utf-8").split()
    kinds = (str, bytes, list, dict, set, tuple, int, float, object)
    return sorted({*listed, *(name for kind in kinds for name in dir(kind))})
