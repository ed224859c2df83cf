"""A list of rows of one or two lines that stays quick at any length: only rows on screen are drawn."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, cast, overload

from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from cm_tui.lru import LRU

R = TypeVar("R")
_LEAVE_FILTER = "Esc leaves the filter input."


class RowList(ScrollView, Generic[R], can_focus=True):
    """Rows with a cursor; a subclass draws one row in `draw`.

    Args:
        rows: what is listed at first.
        draw: draws one row in a width, where that is all that the list is for.
        empty: why there is nothing, shown by an empty list.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rowlist--cursor",
        "rowlist--cursor-blurred",
        "rowlist--hover",
        "rowlist--empty",
    }
    DEFAULT_CSS = """
    RowList { height: 1fr; width: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1;
              text-wrap: nowrap; text-overflow: ellipsis; }
    RowList > .rowlist--cursor { background: $block-cursor-background; }
    RowList > .rowlist--cursor-blurred { background: $block-cursor-blurred-background; }
    RowList > .rowlist--hover { background: $boost; }
    RowList > .rowlist--empty { color: $muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("up,k", "move(-1)"),
        ("down,j", "move(1)"),
        ("pageup", "page(-1)"),
        ("pagedown", "page(1)"),
        ("home,g", "edge(0)"),
        ("end,G", "edge(1)"),
        ("enter", "choose"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)
    is_filter_focused: reactive[bool] = reactive(False)
    """Keys are typed into a filter: the words for an empty list, which may offer keys, say how to leave it."""
    row_height = 1
    """Lines of a row; a subclass that changes it gives `draw_line`."""
    is_text = False
    """Show the cursor only with the focus: the rows are lines of a text."""

    @dataclass
    class RowMessage(Message):
        """Something about a row."""

        rows: RowList[Any]
        row: Any

        @property
        def control(self) -> RowList[Any]:
            """The list."""
            return self.rows

    class Highlighted(RowMessage):
        """The cursor stands on another row."""

    class Chosen(RowMessage):
        """Enter or a click on the row that the cursor stands on."""

    class RowsRequested(Message):
        """Rows on screen, or under the cursor, are not loaded yet.

        Args:
            group: what `want` was given.
            many: rows of the whole list up to the last visible one.
        """

        def __init__(self, group: Any, many: int) -> None:
            super().__init__()
            self.group, self.many = group, many

    def __init__(
        self,
        rows: Sequence[R] = (),
        draw: Callable[[R, int], Content] | None = None,
        *,
        empty: str = "",
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self._rows = rows
        self._draw = draw
        self._empty = empty
        self._hover = -1
        self._height = 0
        self._requested: set[Hashable] = set()
        """Groups requested since these rows came."""

    # --- what is shown ---

    def draw(self, row: R, width: int) -> Content:
        """One row as one line; for a subclass to give."""
        return self._draw(row, width) if self._draw is not None else Content(str(row))

    def draw_line(self, row: R, line: int, width: int) -> Content:  # noqa: ARG002 - one line is all there is here
        """One line of a row, counted from 0."""
        return self.draw(row, width)

    def is_heading(self, row: R) -> bool:  # noqa: ARG002 - for a subclass to look at
        """Return whether a row is a heading, which the cursor skips; for a subclass to give."""
        return False

    def key_of(self, row: R) -> Hashable:
        """Return the key by which `refill` finds a row again, or None; for a subclass to give."""
        return id(row)

    def placeholder(self, group: Hashable = None) -> Content:
        """Draw a row that is not loaded, and ask for those of its group once."""
        if group not in self._requested:
            self._requested.add(group)
            self.post_message(self.RowsRequested(group, max(self.cursor, self.row_at(self.size.height)) + 1))
        return Content.styled("   …", "$muted")

    def row_at(self, y: int) -> int:
        """Index of the row at a line of the widget."""
        return (y + self.scroll_offset.y) // self.row_height

    @property
    def rows(self) -> Sequence[R]:
        """All rows."""
        return self._rows

    @property
    def current(self) -> R | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    def set_rows(self, rows: Sequence[R], *, cursor: int = 0, empty: str | None = None) -> None:
        """Show other rows, with the cursor on one of them."""
        self._rows = rows
        if empty is not None:
            self._empty = empty
        self._hover = -1
        self._requested.clear()
        cursor = max(0, min(cursor, len(rows) - 1))
        if rows and self.is_heading(rows[cursor]):
            cursor = min(cursor + 1, len(rows) - 1)
        self.virtual_size = Size(max(1, self.size.width), len(rows) * self.row_height)
        self.set_reactive(RowList.cursor, cursor)
        self.refresh()
        self.call_after_refresh(self._show_cursor)
        if rows:
            self.post_message(self.Highlighted(self, self.current))

    def say(self, words: str) -> None:
        """Show why there are no rows, while there are none."""
        if not self._rows:
            self.set_rows((), empty=words)

    def refill(self, rows: Sequence[R], *, empty: str | None = None, at: Hashable = None) -> None:
        """Show other rows with the cursor on the row of a key, or on the same row; where it is gone, on its successor."""
        if at is None and self.current is not None:
            at = self.key_of(self.current)
        place = None if at is None else self.place_of(at, rows)
        self.set_rows(rows, cursor=self.cursor if place is None else place, empty=empty)

    def place_of(self, key: Hashable, rows: Sequence[R] | None = None) -> int | None:
        """Return the place of the row with a key."""
        rows = self._rows if rows is None else rows
        return next((place for place, row in enumerate(rows) if self.key_of(row) == key), None)

    def set_lines(self, lines: int) -> None:
        """Draw rows of so many lines."""
        if lines != self.row_height:
            self.row_height = lines
            self.set_rows(self._rows, cursor=self.cursor)

    def more_rows(self, rows: Sequence[R]) -> None:
        """Show further rows below those that are there; cursor and view stay."""
        self._rows = [*self._rows, *rows]
        self.virtual_size = Size(max(1, self.size.width), len(self._rows) * self.row_height)
        self.refresh()

    def put_cursor(self, index: int) -> None:
        """Place the cursor for the next rows, without a message."""
        self.set_reactive(RowList.cursor, index)

    def redraw(self) -> None:
        """Draw again what is on screen; the rows are the same."""
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Rows are as wide as the list; the cursor stays in view where it was."""
        if not self._height or 0 <= self.cursor * self.row_height - self.scroll_offset.y < self._height:
            self.call_after_refresh(self._show_cursor)
        self._height = event.size.height
        self.virtual_size = Size(max(1, event.size.width), len(self._rows) * self.row_height)
        self.refresh()

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """Move a scrollbar that reappears to the current offset: Textual only moves visible ones."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def render_line(self, y: int) -> Strip:
        """The row at a line of the screen, as wide as the scrollbar leaves room for."""
        width = self.scrollable_content_region.width
        index = self.row_at(y)
        if index >= len(self._rows):
            return self._blank(y, width)
        content = self.draw_line(self._rows[index], (y + self.scroll_offset.y) % self.row_height, width)
        name = self.style_of(index)
        style = self.get_visual_style(name) if name else self.visual_style
        strips = Visual.to_strips(self, content, width, 1, style, apply_selection=False)
        strip = strips[0] if strips else Strip.blank(width)
        return strip.crop_extend(0, width, style.rich_style)

    def style_of(self, index: int) -> str:
        """The component class that a row is drawn with; empty: none."""
        if self.is_text and not self.has_focus:
            return ""
        if index == self.cursor:
            return "rowlist--cursor" if self.has_focus else "rowlist--cursor-blurred"
        return "rowlist--hover" if index == self._hover else ""

    def _blank(self, y: int, width: int) -> Strip:
        style = self.get_visual_style("rowlist--empty")
        words = f"{self._empty} {_LEAVE_FILTER}" if self.is_filter_focused and self._empty else self._empty
        lines = [] if self._rows else textwrap.wrap(words, max(8, width - 2))
        if y >= len(lines):
            return Strip.blank(width, self.visual_style.rich_style)
        line = Content(f" {lines[y]}")
        return Visual.to_strips(self, line, width, 1, style, apply_selection=False)[0].crop_extend(
            0, width, style.rich_style
        )

    # --- the cursor ---

    def validate_cursor(self, cursor: int) -> int:
        """Keep it on a row, and off headings: beyond one, in the direction in which it goes."""
        cursor = max(0, min(cursor, len(self._rows) - 1))
        if self._rows and self.is_heading(self._rows[cursor]):
            cursor += 1 if cursor >= self.cursor or cursor == 0 else -1
        return cursor

    def watch_cursor(self, before: int, after: int) -> None:
        """Bring the row on screen and tell."""
        if before == after:
            return
        self.refresh()
        self._show_cursor()
        if self._rows:
            self.post_message(self.Highlighted(self, self.current))

    def _show_cursor(self) -> None:
        self.scroll_to_region(Region(0, self.cursor * self.row_height, 1, self.row_height), animate=False, force=True)

    def action_move(self, by: int) -> None:
        """Cursor up or down."""
        self.cursor += by

    def action_page(self, by: int) -> None:
        """A page up or down."""
        self.cursor += by * max(1, self.size.height // self.row_height - 1)

    def action_edge(self, end: int) -> None:
        """First or last row."""
        self.cursor = len(self._rows) - 1 if end else 0

    def action_choose(self) -> None:
        """Choose the row under the cursor; on an empty list the screen gives the reason why there is nothing to choose."""
        if not self._rows:
            raise SkipAction
        if self.current is not None:
            self.post_message(self.Chosen(self, self.current))

    # --- the mouse ---

    def on_click(self, event: events.Click) -> None:
        """The first click moves the cursor, the next one chooses."""
        index = self.row_at(event.y)
        if index >= len(self._rows):
            return
        again = index == self.cursor
        self.cursor = index
        if self.chooses(cast("R", self.current), event.x, again=again):
            self.action_choose()

    def chooses(self, row: R, x: int, *, again: bool) -> bool:  # noqa: ARG002 - for a subclass to look at
        """True when a click chooses the row; `again`: the cursor was on it already."""
        return again

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Mark the row under the mouse."""
        self._set_hover(self.row_at(event.y))

    def on_leave(self) -> None:
        """The mouse is gone."""
        self._set_hover(-1)

    def _set_hover(self, index: int) -> None:
        if index != self._hover:
            self._hover = index
            self.refresh()


PAGE = 200
"""Rows of a page."""
KEPT = 40
"""Pages kept; the one that was not looked at for longest goes first."""


class PagedRows(Sequence["R | None"], Generic[R]):
    """Rows by index; one whose page is not there yet is None, and its page is wanted.

    Args:
        length: how many rows there are.
        request: called once with the number of each visible page.
    """

    def __init__(self, length: int, request: Callable[[int], None]) -> None:
        self._length = length
        self._request = request
        self._pages: LRU[int, Sequence[R]] = LRU(KEPT)
        self._requested: set[int] = set()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> R | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[R | None]: ...
    def __getitem__(self, index: int | slice) -> R | Sequence[R | None] | None:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._length))]
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(index)
        number, place = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None:
            if number not in self._requested:
                self._requested.add(number)
                self._request(number)
            return None
        return page[place] if place < len(page) else None

    def put(self, number: int, rows: Sequence[R]) -> None:
        """A page is there."""
        self._requested.discard(number)
        self._pages.put(number, rows)

    def give_up(self, number: int) -> None:
        """Mark a page as unavailable; it is requested again when it is visible."""
        self._requested.discard(number)

    @property
    def loaded(self) -> int:
        """How many pages are in memory."""
        return len(self._pages)
