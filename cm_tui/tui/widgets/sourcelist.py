"""Source as a list of lines with a cursor: a line can be gone to, edited, copied; some lines can be marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content

from cm_tui.model import Hit, Source
from cm_tui.tui.theme.highlight import highlighted_lines, plain_lines
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import wrapped

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


def _pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds any of some words, the longest first; None without words."""
    known = sorted({word for word in words if word}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known)), re.IGNORECASE) if known else None


def _underlined(text: Content, words: re.Pattern[str] | None) -> Content:
    for found in words.finditer(text.plain) if words is not None else ():
        text = text.stylize("bold underline", found.start(), found.end())
    return text


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
    BINDINGS: ClassVar[list[BindingType]] = [("right,l", "sideways(8)"), ("left,h", "sideways(-8)")]

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
        self._words = _pattern(words)

    def draw(self, row: CodeLine, width: int) -> Content:  # noqa: ARG002 - the list cuts what is too long
        """Number and line."""
        text, inside = row.content, row.number in self._range
        text = _underlined(text, self._words) if inside else text
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


LONGEST = 4_000
"""Characters of a line that are shown."""
MOST_LINES = 4_000
"""Lines of the text that are shown."""
MARGIN = 2
"""Cells before a line: the mark, and a blank."""


@dataclass(frozen=True)
class ProseLine:
    """One line on screen, and the line of the text that it is of, from 1."""

    number: int
    text: str


def prose_lines(text: str, width: int, first: int = 1, most: int = MOST_LINES) -> list[ProseLine]:
    """Return lines that fit a width in cells, without anything that would move the cursor.

    Args:
        text: untrusted.
        width: of the panel.
        first: number of the text's first line.
        most: lines of it that are taken.
    """
    room = max(8, width - MARGIN)
    return [
        ProseLine(number, piece)
        for number, line in enumerate(plain_lines(text.rstrip())[:most], start=first)
        for piece in wrapped(line.plain[:LONGEST], room)
    ]


class ProseList(RowList[ProseLine]):
    """Wrapped lines with a cursor.

    Args:
        work: runs something slow; gets what is to be done and what takes its answer.
        text: what is shown at first; untrusted.
        empty: said when there is nothing to show.
    """

    is_text = True
    COMPONENT_CLASSES = {"prose--best"}  # noqa: RUF012 - declared so by Textual
    DEFAULT_CSS = "ProseList > .prose--best { background: $accent 14%; }"

    def __init__(
        self,
        work: Callable[[Callable[[], list[ProseLine]], Callable[[list[ProseLine]], None]], None],
        text: str = "",
        *,
        empty: str = "",
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(empty=empty, id=id)
        self._work = work
        self._text = text
        self._width = 0
        self._first = 1
        self._added = 0
        """Number of lines added below; all of them are shown."""
        self._marked = range(0)
        self._best = range(0)
        self._words: re.Pattern[str] | None = None

    def show(
        self,
        text: str,
        marked: range = range(0),
        best: range = range(0),
        words: Iterable[str] = (),
        *,
        first: int = 1,
        keep: bool = False,
    ) -> None:
        """Show a text.

        Args:
            text: untrusted.
            marked: lines with a mark.
            best: those of them that are on screen first.
            words: what stands out in marked lines.
            first: number of the text's first line.
            keep: leave the cursor on the line that it is on: more of the same text came.
        """
        self._words = _pattern(words)
        self._text, self._marked, self._best = text, marked, best
        self._added, self._first = 0, first
        self._wrap(keep=keep)

    def add(self, text: str) -> None:
        """Show further lines below those that are shown."""
        first = self._first + self._text.count("\n") + 1
        lines = text.count("\n") + 1
        before = self._text = f"{self._text}\n{text}"
        self._added += lines

        def got(rows: list[ProseLine]) -> None:
            # Text that was wrapped again meanwhile includes these lines.
            if self._text is before and (not self._rows or self._rows[-1].number < first):
                self.more_rows(rows)

        if self._width:
            self._work(partial(prose_lines, text, self._width, first, lines), got)

    def clear(self, empty: str | None = None) -> None:
        """Show a message in place of a text."""
        self._text = ""
        self.set_rows((), empty=empty)

    def on_resize(self, event: events.Resize) -> None:
        """The same at the new width."""
        super().on_resize(event)
        if self._text and self.scrollable_content_region.width != self._width:
            self.call_after_refresh(self._wrap, keep=True)

    def on_show(self) -> None:
        """What came while the list had no room."""
        if self._text and not self._width:
            self.call_after_refresh(self._wrap, keep=False)

    def _wrap(self, *, keep: bool) -> None:
        text, width = self._text, self.scrollable_content_region.width
        # Where it is not on screen yet, it is wrapped once it is.
        self._width = width
        if not width:
            return

        def got(lines: list[ProseLine]) -> None:
            if text and not self._text:
                return  # it was cleared meanwhile
            here = self.current.number if keep and self.current else 0
            goal = here or (self._best or self._marked or range(1)).start
            place = next((place for place, line in enumerate(lines) if line.number >= goal), 0)
            above = self.cursor - self.scroll_offset.y if here else self.size.height // 3
            self.set_rows(lines, cursor=place)
            self.call_after_refresh(self.scroll_to, 0, max(0, place - above), animate=False, force=True)

        self._work(partial(prose_lines, text, width, self._first, MOST_LINES + self._added), got)

    def draw(self, row: ProseLine, width: int) -> Content:  # noqa: ARG002 - lines were wrapped for this width
        """Mark and line."""
        text, inside = Content(row.text), row.number in self._marked
        text = _underlined(text, self._words) if inside else text
        return Content.assemble(("▌" if inside else " ", "$accent"), " ", text)

    def style_of(self, index: int) -> str:
        """The best lines keep their colour until the list has the focus, and with it a cursor."""
        if self._rows[index].number in self._best and not (index == self.cursor and self.has_focus):
            return "prose--best"
        return super().style_of(index)

    def chooses(self, row: ProseLine, x: int, *, again: bool) -> bool:  # noqa: ARG002 - a click only moves the cursor
        """Nothing to choose with the mouse."""
        return False
