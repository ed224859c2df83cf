"""The panel on the right: what the cursor is on, laid out for the width that there is."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from cm_tui.tui.modes.review.detail_lines import DetailLine
from cm_tui.tui.widgets.rowlist import RowList

Lay = Callable[[int], list[DetailLine]]
"""Lays something out for a width in cells."""
NOTHING = "Details of the selected row are shown here."


class DetailList(RowList[DetailLine]):
    """Lines with a cursor, as long as the list has the focus."""

    def draw(self, row: DetailLine, width: int) -> Content:  # noqa: ARG002 - lines were laid out for this width
        """One line."""
        return Content.assemble(" ", row.content)

    def style_of(self, index: int) -> str:
        """Show the cursor only with the focus."""
        return super().style_of(index) if self.has_focus else ""

    def to_goal(self, by: int = 0) -> None:
        """Put the cursor on the first line that leads to an episode, or on the next one with another goal."""
        here = self.current.goal if self.current is not None and by else ""
        for place in range(self.cursor + 1 if by else 0, len(self.rows)):
            goal = self.rows[place].goal
            if goal.startswith("episode:") and goal != here:
                self.cursor = place
                return


class DetailPanel(Vertical):
    """Shows lines that are laid out on a worker thread.

    Args:
        work: runs something slow; gets what is to be done and what takes its answer.
    """

    def __init__(
        self,
        work: Callable[[Callable[[], list[DetailLine]], Callable[[list[DetailLine]], None]], None],
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id, classes="panel")
        self._work = work
        self._lay: Lay | None = None
        self._about: Hashable = None
        self._width = 0

    def compose(self) -> ComposeResult:
        """The lines."""
        yield DetailList(id="detail-lines", empty=NOTHING)

    @property
    def lines(self) -> DetailList:
        """The lines."""
        return self.query_one(DetailList)

    def show(self, about: Hashable, lay: Lay) -> None:
        """Show a record; the same record keeps its scroll position.

        Args:
            about: names it.
            lay: lays it out.
        """
        keep, self._about, self._lay = about == self._about, about, lay
        self._draw(keep=keep)

    def clear(self, words: str = NOTHING) -> None:
        """Show nothing."""
        self._about = self._lay = None
        self.border_title, self.border_subtitle = "", Content("")
        self.lines.set_rows((), empty=words)

    def _draw(self, *, keep: bool) -> None:
        lay, about = self._lay, self._about
        self._width = self.lines.scrollable_content_region.width - 1
        if lay is None or self._width <= 0:
            return

        def got(lines: list[DetailLine]) -> None:
            if about != self._about:
                return
            above = self.lines.scroll_offset.y
            self.lines.set_rows(lines, cursor=self.lines.cursor if keep else 0, empty="")
            self.call_after_refresh(
                self.lines.scroll_to, 0, above if keep else 0, animate=False, force=True, immediate=True
            )

        self._work(partial(lay, self._width), got)

    def on_resize(self, event: events.Resize) -> None:
        """The same at the new width."""
        del event
        self.call_after_refresh(self._draw_again)

    def on_show(self) -> None:
        """What came while there was no room."""
        self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        if self._width != self.lines.scrollable_content_region.width - 1:
            self._draw(keep=True)
