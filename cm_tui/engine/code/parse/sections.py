"""Sections of a document: each heading begins one, up to the next heading of its level or above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cm_tui.engine.code.parse.normalise import MAX_SIGNATURE, fold
from cm_tui.engine.code.parse.qualified_name import BETWEEN_HEADINGS
from cm_tui.engine.code.parse.records import LocatedSymbol, ParsedSymbol


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
