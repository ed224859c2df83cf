"""Rows of what is remembered, in their place beside code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import Hit
from cm_tui.tui.modes.search.file_rows import FileRow, FurtherRow
from cm_tui.tui.widgets.text import fit

MORE_CODE = "More code"
FROM_MEMORY = "From memory"


@dataclass(frozen=True)
class Heading:
    """A row that says what follows; the cursor goes past it."""

    words: str


ResultRow = Hit | FileRow | FurtherRow | Heading


def rows_of(code: Sequence[ResultRow], beside: Sequence[Hit], limit: int) -> tuple[ResultRow, ...]:
    """Return rows: the code that the profile gives everywhere, what is remembered, then code beyond that.

    Args:
        code: rows of it, in order.
        beside: what is remembered, in order.
        limit: how many of the rows of code the profile gives elsewhere.
    """
    if not beside:
        return tuple(code)
    rows: tuple[ResultRow, ...] = (*code[:limit], Heading(FROM_MEMORY), *beside)
    return (*rows, Heading(MORE_CODE), *code[limit:]) if code[limit:] else rows


def hit_of(row: ResultRow | None) -> Hit | None:
    """Return the hit that a row stands for; a heading stands for none."""
    return row.hit if isinstance(row, FileRow | FurtherRow) else row if isinstance(row, Hit) else None


def heading(row: Heading, width: int) -> Content:
    """Return a quiet line with words in it."""
    words = f"── {row.words} "
    return Content.assemble((fit(words + "─" * max(0, width - cell_len(words) - 1), width), "$muted"))
