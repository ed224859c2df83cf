"""Definitions lost in an error of the grammar: text that begins one, without that name in the tree."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from tree_sitter import Node, Tree

from cm_tui.engine.code.parse.c_heads import Head
from cm_tui.engine.code.parse.c_macros import name_of
from cm_tui.engine.code.parse.records import LocatedSymbol
from cm_tui.engine.code.scan.languages import Language

_SHOWN = 5
"""Definitions to name in a message; further ones are counted."""
_NO_CODE = re.compile(r"string|comment|heredoc|template|quasi|char|regex|raw|text|doc|sigil|interpret")
_MOST_LINES = 20_000
"""Lines of a file that are looked at."""


class Lost(NamedTuple):
    """Definition that nothing was found of: its 1-based line, its keyword and name."""

    line: int
    what: str
    name: str


def without_known(openings: Iterable[Lost], located: Iterable[LocatedSymbol]) -> list[Lost]:
    """Return the openings that gave no symbol of their name on their line."""
    openings = list(openings)
    if not openings:
        return []
    known: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for item in located:
        known[item.row.name.strip("`")].append((item.row.start_line, item.row.end_line))
    return [one for one in openings if not any(first <= one.line <= last for first, last in known.get(one.name, ()))]


def in_words(lost: Sequence[Lost]) -> str:
    """Describe lost definitions: `read in part: line 12 (class Foo), line 40 (fun bar)`."""
    named = ", ".join(f"line {one.line} ({one.what} {one.name})" for one in lost[:_SHOWN])
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return f"read in part, the grammar lost {named}{more}"


@cache
def _opening(pattern: str) -> re.Pattern[str]:
    return re.compile(r"\s*" + pattern)


def openings_by_lines(language: Language, lines: Sequence[str], tree: Tree) -> Iterator[Lost]:
    """Yield the lines of a file with errors that begin a definition by their first word."""
    if not (language.opening and tree.root_node.has_error):
        return
    opening = _opening(language.opening)
    offset = 0
    for row, line in enumerate(lines[:_MOST_LINES]):
        match = opening.match(line[:400])
        if match is not None and _is_code(
            tree.root_node, offset + len(line[: match.start("what")].encode("utf-8", "replace"))
        ):
            yield Lost(row + 1, match["what"], match["name"])
        offset += len(line.encode("utf-8", "replace")) + 1


def _is_code(root: Node, at: int) -> bool:
    """Whether a byte is in no comment or string."""
    node = root.descendant_for_byte_range(at, at)
    while node is not None and node.parent is not None:
        if node.is_named and _NO_CODE.search(node.type):
            return False
        node = node.parent
    return True


def openings_of_heads(data: bytes, heads: Iterable[Head]) -> Iterator[Lost]:
    """Yield the heads of declarations that have a body and a name."""
    row, counted = 1, 0
    for head in heads:
        if head.what in {"type", "enum", "function"} and (name := name_of(head)) is not None:
            row += data.count(b"\n", counted, name.start)
            counted = name.start
            what = head.what if head.what == "function" else "type"
            yield Lost(row, what, name.text.decode("utf-8", "replace"))
