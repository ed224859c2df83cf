"""Traits of passages that do not depend on the query, computed once."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from cm_tui.engine.search.ranking import roles, tokens

_WORKING = tokens.word_set("function method constructor macro property")
_TYPES = tokens.word_set("class struct interface trait enum type module protocol object namespace union record")
_LONG = math.log1p(40)
"""Lines from which on length no longer indicates whether a passage does any work."""


_HEAD_LINES = 2
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
    nameless: bool
    """Whether it belongs to no symbol and defines none."""
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
    document = "docs" in roles.roles(path) or (owner is not None and owner.kind == "section")
    kinds = {owner.kind} if owner else {definition.kind for definition in definitions}
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    # A property without a body is a value.
    working = _WORKING if len(lines) > _BODILESS else _WORKING - {"property"}
    works = document or not kinds.isdisjoint(working)
    types = not works and not kinds.isdisjoint(_TYPES)
    return Traits(
        names=tuple(name_pieces(name) for name in ([owner.name, *names] if owner else names)),
        around=name_pieces(owner.qualname.removesuffix(owner.name)) if owner else (),
        head=_head(lines),
        document=document,
        length=min(1.0, math.log1p(len(lines)) / _LONG),
        nameless=not kinds and not document,
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
    return tuple(dict.fromkeys(piece for line in head for word in tokens.words(line) for piece in tokens.parts(word)))


@lru_cache(maxsize=1 << 16)
def name_pieces(name: str) -> tuple[str, ...]:
    """Pieces of a symbol's name, or of a heading, each once."""
    return tuple(dict.fromkeys(piece for word in tokens.words(name) for piece in tokens.parts(word)))
