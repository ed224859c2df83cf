"""Documentation of symbols: docstrings, documentation before them, and comments directly above."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from cm_tui.engine.code.parse import normalise
from cm_tui.engine.code.parse.extents import stands_alone
from cm_tui.engine.code.parse.records import LocatedSymbol
from cm_tui.engine.code.parse.tree_query import Findings, Span

_ROWS_BETWEEN = 3
"""Rows that may lie between documentation and the definition it belongs to, such as its attributes."""


def document(located: Sequence[LocatedSymbol], found: Findings, lines: Sequence[str]) -> None:
    """Give each symbol its documentation; of several, the first in the order above."""
    first_on_row: dict[int, int] = {}
    for index, symbol in enumerate(located):
        first_on_row.setdefault(symbol.row.start_line - 1, index)
    docs = _inside(located, found.inside)
    for index, text in _before(found.before, first_on_row):
        docs.setdefault(index, text)
    comments = _comment_blocks(found.comments, lines)
    for row, index in first_on_row.items():
        above = comments.get(row - 1)
        if above is not None:
            located[index].lead = above.first_row
            docs.setdefault(index, normalise.clean_doc(above.text))
    for index, text in docs.items():
        located[index].row = located[index].row._replace(doc=text)


def _inside(located: Sequence[LocatedSymbol], spans: Sequence[Span]) -> dict[int, str]:
    docs: dict[int, str] = {}
    for span in spans:
        index = _innermost(located, span.start)
        if index is not None:
            docs.setdefault(index, normalise.clean_doc(span.text))
    return docs


def _before(spans: Sequence[Span], first_on_row: dict[int, int]) -> list[tuple[int, str]]:
    docs: list[tuple[int, str]] = []
    for span in spans:
        row = next(
            (row for row in range(span.first_row, span.last_row + 1 + _ROWS_BETWEEN) if row in first_on_row), None
        )
        if row is not None:
            docs.append((first_on_row[row], normalise.clean_doc(span.text)))
    return docs


def _innermost(located: Sequence[LocatedSymbol], position: int) -> int | None:
    """Return the innermost symbol around a byte, by search among the starts."""
    index = bisect_right(located, position, key=lambda p: p.start) - 1
    while index >= 0:
        if located[index].end > position:
            return index
        index -= 1
    return None


def _comment_blocks(comments: Sequence[Span], lines: Sequence[str]) -> dict[int, Span]:
    """Return blocks of comments on separate lines, by their last row."""
    blocks: dict[int, Span] = {}
    current: Span | None = None
    for span in comments:
        if not stands_alone(span, lines):
            continue
        if current is not None and span.first_row == current.last_row + 1:
            blocks.pop(current.last_row, None)
            current = Span(current.start, span.end, current.first_row, span.last_row, f"{current.text}\n{span.text}")
        else:
            current = span
        blocks[current.last_row] = current
    return blocks
