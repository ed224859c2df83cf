"""Source as a list of lines with a cursor: a line can be gone to, edited, copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from cm_tui.model import Source
from cm_tui.tui.highlight import highlighted_lines
from cm_tui.tui.widgets.rowlist import RowList

LONGEST_LINE = 400
"""Characters of a line that are shown; minified code has lines of megabytes."""


@dataclass(frozen=True)
class CodeLine:
    """A numbered line."""

    number: int
    content: Content


def code_lines(source: Source) -> list[CodeLine]:
    """Highlight source; takes milliseconds a thousand lines, so off the application's thread."""
    text = "\n".join(line[:LONGEST_LINE] for line in source.text.rstrip("\n").split("\n"))
    lines = highlighted_lines(text, source.language, source.path)
    return [CodeLine(source.start_line + index, line) for index, line in enumerate(lines)]


class SourceList(RowList[CodeLine]):
    """Numbered lines; the line under the cursor is marked. Left and right move sideways along long lines."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "sideways(8)", show=False),
        Binding("left,h", "sideways(-8)", show=False),
    ]

    def __init__(self, *, empty: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(empty=empty, id=id)
        self._left = 0

    def action_sideways(self, by: int) -> None:
        """Move along the lines."""
        self._left = max(0, min(self._left + by, LONGEST_LINE))
        self.refresh()

    def set_rows(self, rows: Sequence[CodeLine], *, cursor: int = 0, empty: str | None = None) -> None:
        """Show other source, from its left edge."""
        self._left = 0
        super().set_rows(rows, cursor=cursor, empty=empty)

    def draw(self, row: CodeLine, width: int) -> Content:  # noqa: ARG002 - the list cuts what is too long
        """Number and line."""
        digits = len(str(self.rows[-1].number))
        text = row.content[self._left :] if self._left < len(row.content.plain) else Content("")
        return Content.assemble((f"{row.number:>{digits}} ", "$foreground 35%"), text if self._left else row.content)

    def go(self, line: int) -> None:
        """Put the cursor on a line of the file."""
        if self.rows:
            self.cursor = line - self.rows[0].number

    def chooses(self, row: CodeLine, x: int, *, again: bool) -> bool:  # noqa: ARG002 - a click only moves the cursor
        """Nothing to choose with the mouse."""
        return False
