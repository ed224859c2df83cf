"""What the time mode is made of."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import Container
from textual.widget import Widget

from cm_tui.model import CommitPoint
from cm_tui.tui.modes.history.commit_list import Ribbon
from cm_tui.tui.modes.history.commit_panel import RibbonPanel
from cm_tui.tui.modes.history.detail_panel import TimeDetail
from cm_tui.tui.modes.history.heading import TimeHead
from cm_tui.tui.modes.history.loader import HistoryLoader
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow
from cm_tui.tui.modes.history.tabs_panel import TimePanel
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.widgets.split import Split


class TimeParts(ModeScreen):
    """The line on the left; on the right the point, the tabs, and what a row stands for."""

    travelling: HistoryLoader

    def compose_body(self) -> Iterable[Widget]:
        """The line on the left; head, tabs and the symbol on the right."""
        with Split(id="time-body"):
            yield RibbonPanel(self.ask, self.drop_question, id="ribbon-panel")
            with Container(id="time-side"):
                yield TimeHead(id="time-top")
                yield TimePanel(self.want, id="time-panel")
                yield TimeDetail(self.ask, self.drop_question, id="detail-panel")

    def want(self, tab: str) -> None:
        """For the mode to override: a tab is looked at that has no rows yet."""

    @property
    def line(self) -> RibbonPanel:
        """The ribbon with its filter."""
        return self.query_one("#ribbon-panel", RibbonPanel)

    @property
    def ribbon(self) -> Ribbon:
        """The commits."""
        return self.line.ribbon

    @property
    def head(self) -> TimeHead:
        """The moment that is shown, in words."""
        return self.query_one("#time-top", TimeHead)

    @property
    def panel(self) -> TimePanel:
        """Changes, symbols, life, drift."""
        return self.query_one("#time-panel", TimePanel)

    @property
    def rows(self) -> HistoryList:
        """The rows of the open tab."""
        return self.panel.rows

    @property
    def detail(self) -> TimeDetail:
        """The symbol of the row under the cursor."""
        return self.query_one("#detail-panel", TimeDetail)

    @property
    def point(self) -> CommitPoint | None:
        """The moment that is shown."""
        return self.travelling.point

    @property
    def row(self) -> HistoryRow | None:
        """The row under the cursor."""
        return self.rows.current

    @property
    def why_no_line(self) -> str | None:
        """Why there is no line to move on."""
        if reason := self.cm.project.why_not_searchable:
            return reason
        status = self.cm.project.status
        if status and not status.git:
            return "this project has no git repository"
        history = self.cm.project.history
        return "there are no commits yet" if history and history.head is None else None
