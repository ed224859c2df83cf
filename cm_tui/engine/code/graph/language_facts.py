"""Facts about languages for the resolver, by family, from `languages.toml`.

A language without a family there is its own family, and imports by path.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Literal

from cm_tui.engine.code.scan.languages import read_facts

BUILTIN_SCOPE = -(10**15)
"""Below every file's scope; one a family."""


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
    modules: Literal["path", "dotted", "namespace", "python", "javascript", "go", "rust", "dart"] = "path"
    """How an import names a file."""
    suffixes: tuple[str, ...] = ()
    """Extensions that an import leaves out."""
    enclosing_visible: bool = False
    """Whether the names of the namespaces around one, up to the root, are visible in it."""
    root: str = ""
    """Word before a name that begins at the root of the namespaces."""
    module_classes: bool = False
    """Whether a class is also a module: found by its whole name, in whatever file, with others below it."""
    qualified_members: bool = False
    """Whether what a namespace contains has no bare name outside of it."""
    exports: str = ""
    """Name whose value is a module's default export."""
    parts: Sequence[Mapping[str, str]] = ()
    """Definitions written in parts: `kind` in `language`, with the word `mark` in the signatures of `marked` parts."""
    separator: str = "."
    """Between a module and a name of it."""
    takes_all: bool = False
    """Whether an import without names imports all definitions of its module."""


_ALL = tuple(
    replace(family, builtins=tuple(n for n in dir(builtins) if not n.startswith("_")))
    if family.name == "python"
    else family
    for family in read_facts("family", Family)
)
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
