"""Markdown: its headings, and links to files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

from cm_tui.engine.code.parse.normalise import MAX_SIGNATURE, fold
from cm_tui.engine.code.parse.qualified_name import BETWEEN_HEADINGS
from cm_tui.engine.code.parse.records import LocatedSymbol, ParsedImport, ParsedSymbol
from cm_tui.engine.code.parse.tree_query import Findings

# --- sections of a document: each heading begins one, up to the next heading of its level or above ---


class Heading(NamedTuple):
    """A heading: its first row, its level from 1 on, and its text without markup."""

    row: int
    level: int
    name: str
    lines_above: int = 0
    """Lines above its text."""


def sections(headings: Sequence[Heading], lines: Sequence[str]) -> list[LocatedSymbol]:
    """Return the sections of a document, in order."""
    offsets = _offsets(lines)
    located: list[LocatedSymbol] = []
    open_sections: list[tuple[int, int]] = []
    overloads: Counter[str] = Counter()
    for position, (row, level, name, above_text) in enumerate(headings):
        while open_sections and open_sections[-1][0] >= level:
            open_sections.pop()
        stop = next((other.row for other in headings[position + 1 :] if other.level <= level), len(lines))
        last = _last_with_text(lines, row, stop)
        parent = open_sections[-1][1] if open_sections else None
        above = located[parent].row.qualname + BETWEEN_HEADINGS if parent is not None else ""
        qualname = above + name
        symbol = ParsedSymbol(
            parent,
            "section",
            name,
            qualname,
            overloads[qualname],
            fold(lines[row + above_text], MAX_SIGNATURE),
            "",
            row + 1,
            last + 1,
        )
        overloads[qualname] += 1
        open_sections.append((level, len(located)))
        located.append(LocatedSymbol(symbol, offsets[row], offsets[last + 1], row, offsets[row]))
    return located


def _last_with_text(lines: Sequence[str], row: int, stop: int) -> int:
    last = stop - 1
    while last > row and not lines[last].strip():
        last -= 1
    return last


def _offsets(lines: Sequence[str]) -> list[int]:
    """Byte at which each line begins, and the end."""
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line.encode("utf-8", "replace")) + 1)
    return offsets


# --- markdown ---

_ATX = re.compile(r"\s*(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*")
_MARKUP = re.compile(
    r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`+|<[^>]+>|\s*\{#[^}]*\}$"
)
_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*(<[^>]*>|[^\s)]+)[^)]*\)|^\s{0,3}\[[^\]]+\]:\s*(<[^>]*>|\S+)"
)
_ELSEWHERE = re.compile(r"[a-zA-Z][\w+.-]*:|//|#")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")


def headings(found: Findings, lines: Sequence[str]) -> list[Heading]:
    """Return the headings of a document in order, without empty ones."""
    return [
        Heading(raw.first_row, level, name)
        for raw in sorted(found.symbols.values(), key=lambda raw: raw.start)
        for level, name in [_heading(lines, raw.first_row, raw.last_row)]
        if name
    ]


def links(found: Findings, lines: Sequence[str], located: Sequence[LocatedSymbol]) -> list[ParsedImport]:
    """Links to files, as imports of their section; code is skipped."""
    code = {row for node in found.scopes for row in range(node.start_point[0], node.end_point[0] + 1)}
    rows: list[ParsedImport] = []
    section: int | None = None
    following = 0
    for row, line in enumerate(lines):
        while following < len(located) and located[following].row.start_line <= row + 1:
            section = following
            following += 1
        if row in code or "]" not in line:
            continue
        for match in _LINK.finditer(_CODE_SPAN.sub("", line)):
            target = (match[1] or match[2]).strip("<>")
            if _ELSEWHERE.match(target) is None:
                path = unquote(target.partition("#")[0].partition("?")[0])
                rows.append(ParsedImport(section, path, None, None, False, row + 1))
    return [row for row in rows if row.module]


def _heading(lines: Sequence[str], first_row: int, last_row: int) -> tuple[int, str]:
    """Level and text of a heading that covers those rows."""
    atx = _ATX.fullmatch(lines[first_row])
    if atx is not None:
        return len(atx[1]), _plain(atx[2] or "")
    text = " ".join(lines[first_row:last_row])
    return (1 if lines[last_row].strip().startswith("=") else 2), _plain(text)


def _plain(text: str) -> str:
    return fold(_MARKUP.sub(lambda match: match[1] or "", text), MAX_SIGNATURE)
