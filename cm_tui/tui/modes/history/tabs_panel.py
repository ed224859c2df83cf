"""The upper panel of the history mode: tabs, their rows, and a line about the row under the cursor."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from cm_tui.tui.modes.history.loader import TABS, Filled, Reading
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow
from cm_tui.tui.widgets.relations import TabLine
from cm_tui.tui.widgets.text import one_line
from cm_tui.tui.widgets.waiting import end_waiting, show_waiting

_FLEETING = frozenset({"drift"})
"""Tabs that reload whenever they are shown, because files change without an event."""


class TabsPanel(Vertical):
    """Keeps what was filled in by tab, and wants a tab filled when it is looked at.

    Args:
        request: asks for what a tab shows; `fill` takes it.
    """

    class RowChanged(Message):
        """The cursor stands on another row, or on none."""

        def __init__(self, row: HistoryRow | None) -> None:
            super().__init__()
            self.row = row

    def __init__(self, request: Callable[[str], None], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, classes="panel")
        self._request = request
        self._pages: dict[str, Filled] = {}

    def compose(self) -> ComposeResult:
        """Tabs, rows, a line."""
        yield TabLine(TABS, id="history-tabs")
        yield HistoryList(id="history-list")
        yield Static(id="history-note", markup=False)

    @property
    def tabs(self) -> TabLine:
        """The tabs."""
        return self.query_one("#history-tabs", TabLine)

    @property
    def rows(self) -> HistoryList:
        """The rows of the open tab."""
        return self.query_one("#history-list", HistoryList)

    # --- filling ---

    def forget(self, *tabs: str) -> None:
        """What these tabs show is not right any more."""
        for tab in tabs:
            self._pages.pop(tab, None)
            self.tabs.counts.pop(tab, None)
        if self.tabs.active in tabs:
            self._show()
        self.tabs.refresh()

    def fill(self, tab: str, filled: Filled | Reading) -> None:
        """Give a tab its rows; while they are being read, what is on screen stays, dimmed, and the border says so."""
        active = tab == self.tabs.active
        if isinstance(filled, Filled):
            self._pages[tab] = filled
            self.tabs.counts[tab] = filled.total
            if active:
                self._draw()
            else:
                self.tabs.refresh()
            return
        self.tabs.counts.pop(tab, None)
        if active and self.rows.rows:
            show_waiting(self, filled.words)
        elif active:
            self.border_subtitle = Content("")
            self.rows.set_rows((), empty=filled.words)

    def _show(self) -> None:
        shown = self.tabs.active in self._pages
        if shown:
            self._draw()
        if not shown or self.tabs.active in _FLEETING:
            self._request(self.tabs.active)

    def _draw(self) -> None:
        end_waiting(self)
        filled = self._pages[self.tabs.active]
        first = next((index for index, row in enumerate(filled.rows) if row.mark), 0)
        same = [row.name for row in filled.rows] == [row.name for row in self.rows.rows]
        self.rows.set_rows(filled.rows, cursor=self.rows.cursor if same else first, empty=filled.note)
        self.border_subtitle = Content(filled.note if filled.rows else "")
        if not filled.rows:
            self._describe(None)
        self.tabs.refresh()

    # --- tabs and rows ---

    def activate(self, tab: str) -> None:
        """Show a tab."""
        self.tabs.active = tab
        self._show()

    def turn(self) -> None:
        """The tab to the right."""
        self.activate(TABS[(TABS.index(self.tabs.active) + 1) % len(TABS)])

    @on(TabLine.Chosen)
    def _clicked(self, event: TabLine.Chosen) -> None:
        event.stop()
        self.rows.focus()
        self.activate(event.tab)

    @on(HistoryList.Highlighted, "#history-list")
    def _came(self, event: HistoryList.Highlighted) -> None:
        event.stop()
        self._describe(event.row)

    def _describe(self, row: HistoryRow | None) -> None:
        # Its height never changes: a layout of the whole screen with each row would be felt.
        self.query_one("#history-note", Static).update(Content(one_line(row.note) if row else ""), layout=False)
        self.post_message(self.RowChanged(row))
