"""Source as a list of lines with a cursor: a line can be gone to, edited, copied; some lines can be marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from cm_tui.model import Hit, Source
from cm_tui.tui.theme.highlight import highlighted_lines, plain_lines
from cm_tui.tui.widgets.rowlist import RowList

LONGEST_LINE = 400
"""Characters of a line that are shown; minified code has lines of megabytes."""


@dataclass(frozen=True)
class CodeLine:
    """A numbered line."""

    number: int
    content: Content


def code_lines(source: Source, *, plain: bool = False) -> list[CodeLine]:
    """Source as lines, in colours unless `plain`: those take milliseconds a thousand lines, so off the screen's thread."""
    text = "\n".join(line[:LONGEST_LINE] for line in source.text.rstrip("\n").split("\n"))
    lines = plain_lines(text) if plain else highlighted_lines(text, source.language, source.path)
    return [CodeLine(source.start_line + index, line) for index, line in enumerate(lines)]


def matching(hit: Hit) -> tuple[range, range, list[str]]:
    """The lines of a hit, those of them that match the query best, and the words that do."""
    height = hit.snippet.rstrip("\n").count("\n") + 1
    last = min(hit.end_line, hit.snippet_line + height - 1)
    whole = hit.snippet_line <= hit.start_line and last >= hit.end_line
    words = [part.term for part in hit.parts if part.term]
    best = range(0) if whole else range(hit.snippet_line, last + 1)
    return range(hit.start_line, hit.end_line + 1), best, words


class SourceList(RowList[CodeLine]):
    """Numbered lines. Left and right move sideways along long ones.

    Args:
        empty: said when there is nothing to show.
        numbers: write the number before each line.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"sourcelist--range", "sourcelist--match"}
    DEFAULT_CSS = """
    SourceList > .sourcelist--range { background: $foreground 4%; }
    SourceList > .sourcelist--match { background: $accent 14%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "sideways(8)", show=False),
        Binding("left,h", "sideways(-8)", show=False),
    ]

    def __init__(self, *, empty: str = "", numbers: bool = True, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(empty=empty, id=id)
        self._numbers = numbers
        self._left = 0
        self._range = range(0)
        self._best = range(0)
        self._words: re.Pattern[str] | None = None

    # --- what is shown ---

    def set_rows(self, rows: Sequence[CodeLine], *, cursor: int = 0, empty: str | None = None) -> None:
        """Show other source, from its left edge."""
        self._left = 0
        super().set_rows(rows, cursor=cursor, empty=empty)

    def recolour(self, rows: Sequence[CodeLine]) -> None:
        """The same lines in colours: nothing moves."""
        if len(rows) == len(self._rows):
            self._rows = rows
            self.refresh()

    def mark(self, lines: range, best: range = range(0), words: Iterable[str] = ()) -> None:
        """Mark lines, some of them more strongly; words stand out within them."""
        self._range, self._best = lines, best
        known = sorted({word for word in words if word}, key=len, reverse=True)
        self._words = re.compile("|".join(map(re.escape, known)), re.IGNORECASE) if known else None

    def draw(self, row: CodeLine, width: int) -> Content:  # noqa: ARG002 - the list cuts what is too long
        """Number and line."""
        text, inside = row.content, row.number in self._range
        if inside and self._words:
            for found in self._words.finditer(text.plain):
                text = text.stylize("bold underline", found.start(), found.end())
        if self._left:
            text = text[self._left :] if self._left < len(text.plain) else Content("")
        edge = ("▌" if inside else " ", "$accent") if self._range else ""
        digits = len(str(self.rows[-1].number))
        number = (f"{row.number:>{digits}} ", "$soft" if inside else "$muted") if self._numbers else ""
        return Content.assemble(edge, number, text)

    def style_of(self, index: int) -> str:
        """Marked lines keep their colour until the list has the focus, and with it a cursor."""
        if not self._range or (index == self.cursor and self.has_focus):
            return super().style_of(index)
        number = self._rows[index].number
        return "sourcelist--match" if number in self._best else "sourcelist--range" if number in self._range else ""

    # --- moving about ---

    def action_sideways(self, by: int) -> None:
        """Move along the lines."""
        self._left = max(0, min(self._left + by, LONGEST_LINE))
        self.refresh()

    def go(self, line: int) -> None:
        """Put the cursor on a line of the file."""
        if self.rows:
            self.cursor = line - self.rows[0].number

    def show_marked(self) -> None:
        """Put the cursor on the first of the marked lines, and some of what is above it on screen."""
        goal = self._best or self._range
        if not goal or not self.rows:
            return
        self.go(goal.start)
        above = max(1, (self.size.height - min(len(goal), self.size.height)) // 3)
        self.call_after_refresh(self.scroll_to, 0, self.cursor - above, animate=False, force=True)

    def show_at_top(self, line: int) -> None:
        """Put the cursor on a line, and the line at the top."""
        self.go(line)
        self.call_after_refresh(self.scroll_to, 0, self.cursor, animate=False, force=True)

    def chooses(self, row: CodeLine, x: int, *, again: bool) -> bool:  # noqa: ARG002 - a click only moves the cursor
        """Nothing to choose with the mouse."""
        return False
