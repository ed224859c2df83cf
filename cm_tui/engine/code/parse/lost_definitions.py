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
_WORDS = r"(?:[a-z]+(?:\([\w ]+\))?\s+)*"
_OPENINGS = {
    "python": r"(?:async\s+)?(?P<what>def|class)\s+(?P<name>\w+)\s*[(:\[]",
    "javascript": r"(?:export\s+)?(?:default\s+)?(?:async\s+)?(?P<what>function|class)\s*\*?\s+(?P<name>[\w$]+)\s*[({<]?",
    "typescript": r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const\s+(?=enum))?"
    r"(?P<what>function|class|interface|enum)\s*\*?\s+(?P<name>[\w$]+)\s*(?:[({<]|extends\b|implements\b|$)",
    "go": r"(?P<what>func|type)\s+(?:\([^)]*\)\s*)?(?P<name>\w+)\s*(?:\[[^\]]*\]\s*)?(?:\(|struct\b|interface\b)",
    "rust": r"(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern\s+\"C\")\s+)*(?P<what>fn|struct|enum|trait|union|mod)\s+"
    r"(?P<name>[A-Za-z_]\w*)\s*[<({;:]",
    "java": r"(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp)\s+)*"
    r"(?P<what>class|interface|enum|record|@interface)\s+(?P<name>\w+)\s*(?:[<({]|extends\b|implements\b|permits\b|$)",
    "csharp": rf"{_WORDS}(?P<what>class|interface|enum|struct|record|namespace)\s+(?:\w+\.)*(?P<name>[A-Z]\w*)\s*(?:[<({{:]|where\b|$)",
    "ruby": r"(?P<what>def|class|module)\s+(?:self\.)?(?:\w+::)*(?P<name>\w+[?!=]?)",
    "php": r"(?:(?:abstract|final|public|protected|private|static|readonly)\s+)*(?P<what>function|class|interface|trait|enum)\s+&?"
    r"(?P<name>\w+)\s*(?:[({:]|extends\b|implements\b|$)",
    "kotlin": rf"(?:@\w+(?:\([^()]*\))?\s+)*{_WORDS}(?P<what>class|interface|object|fun)\s+(?:<[^<>]*>\s*)?(?:\w+(?:<[^<>]*>)?\??\.)*"
    r"(?P<name>\w+)\s*(?:[<({:]|$)",
    "swift": rf"(?:@\w+(?:\([^()]*\))?\s+)*{_WORDS}(?P<what>class|struct|enum|protocol|actor|extension|func)\s+"
    r"(?P<name>(?!func\b|var\b|let\b)\w+)\s*[<({:]",
    "scala": rf"{_WORDS}(?P<what>def|class|trait|object|enum)\s+(?P<name>\w+)\s*(?:[\[({{:=]|extends\b|$)",
    "lua": r"(?:local\s+)?(?P<what>function)\s+(?:\w+[.:])*(?P<name>\w+)\s*\(",
    "elixir": r"(?P<what>defp?|defmacrop?|defmodule|defprotocol)\s+(?:\w+\.)*(?P<name>\w+[?!]?)(?:\(|\s+do\b|,\s*do:|\s*$)",
    "dart": rf"{_WORDS}(?P<what>class|mixin|enum)\s+(?P<name>[A-Z_]\w*)\s*(?:[<{{]|extends\b|implements\b|with\b|on\b)",
    "zig": r"(?:(?:pub|export|inline|noinline)\s+|extern\s+(?:\"\w+\"\s+)?)*(?P<what>fn)\s+(?P<name>\w+)\s*\(",
    "haskell": r"(?P<what>data|newtype|class)\s+(?:[^=\n]*=>\s*)?(?P<name>[A-Z]\w*)",
    "fsharp": r"(?P<what>type|module)\s+(?:private\s+|internal\s+|rec\s+)*(?:\w+\.)*(?P<name>[A-Z]\w*)",
}
"""First line of a definition by its first word, after white space, by language."""
_SAME = {"tsx": "typescript", "razor": "csharp"}
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
def _opening(name: str) -> re.Pattern[str] | None:
    pattern = _OPENINGS.get(_SAME.get(name, name))
    return None if pattern is None else re.compile(r"\s*" + pattern)


def openings_by_lines(language: Language, lines: Sequence[str], tree: Tree) -> Iterator[Lost]:
    """Yield the lines of a file with errors that begin a definition by their first word."""
    opening = _opening(language.name) if tree.root_node.has_error else None
    if opening is None:
        return
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
