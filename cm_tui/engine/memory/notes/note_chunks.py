"""Cutting a note into passages: whole lines, about 400 tokens each, under their headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cm_tui.engine.code.parse.markdown import Heading
from cm_tui.engine.memory.notes.headings import headings

CHARACTERS_A_TOKEN = 4
TOKENS = 400
OVERLAP_TOKENS = 80
_MOST = TOKENS * CHARACTERS_A_TOKEN
_OVERLAP = OVERLAP_TOKENS * CHARACTERS_A_TOKEN
_LONGEST_LINE = 20_000
"""Characters of one line that are searched; a longer one is data, not text."""
_BETWEEN = " › "


class NoteChunk(NamedTuple):
    """A passage of a note.

    Attributes:
        start_line: 1-based.
        end_line: inclusive.
        heading: the headings above, the outermost first; empty: none.
        text: the lines.
    """

    start_line: int
    end_line: int
    heading: str
    text: str


def chunk_note(lines: Sequence[str], skipped: int = 0) -> Iterator[NoteChunk]:
    """Cut a note by sections; pieces of a long section overlap, so that nothing is cut apart.

    `skipped`: lines of front matter.
    """
    found = [one for one in headings(lines) if one.row >= skipped]
    edges = [skipped, *(one.row for one in found), len(lines)]
    above: list[Heading] = []
    for number, (start, stop) in enumerate(pairwise(edges)):
        if number:
            heading = found[number - 1]
            above = [one for one in above if one.level < heading.level] + [heading]
        if number and not _has_text(lines, start + 1, stop):
            # A heading directly above another one is found with that one.
            continue
        yield from _cut(lines, start, stop, _BETWEEN.join(one.name for one in above))


def _has_text(lines: Sequence[str], start: int, stop: int) -> bool:
    return any(line.strip().strip("=-") for line in lines[start:stop])


def _cut(lines: Sequence[str], start: int, stop: int, heading: str) -> Iterator[NoteChunk]:
    """Cut the lines from `start` up to, not with, `stop`."""
    while True:
        start, end = _trimmed(lines, start, stop)
        if start >= end:
            return
        last = _reach(lines, start, end)
        yield NoteChunk(start + 1, last, heading, "\n".join(line[:_LONGEST_LINE] for line in lines[start:last]))
        if last >= end:
            return
        start = max(start + 1, _overlap_start(lines, start, last))


def _trimmed(lines: Sequence[str], start: int, stop: int) -> tuple[int, int]:
    """Return the span without blank lines at its ends."""
    while start < stop and not lines[start].strip():
        start += 1
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return start, stop


def _reach(lines: Sequence[str], start: int, stop: int) -> int:
    """Return the line before which to end: as many as fit, up to the end of a paragraph in the second half."""
    size, row = 0, start
    while row < stop and (row == start or size + len(lines[row]) < _MOST):
        size += len(lines[row]) + 1
        row += 1
    if row < stop:
        for candidate in range(row, start + (row - start) // 2, -1):
            if not lines[candidate - 1].strip():
                row = candidate
                break
        while row > start + 1 and not lines[row - 1].strip():
            row -= 1
    return row


def _overlap_start(lines: Sequence[str], start: int, last: int) -> int:
    """Return the first line of the next piece, with the overlap of two pieces."""
    size, row = 0, last
    while row > start + 1 and size + len(lines[row - 1]) < _OVERLAP:
        row -= 1
        size += len(lines[row]) + 1
    return row
