"""The widgets that the history mode is made of."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import Container
from textual.widget import Widget

from cm_tui.model import CommitPoint
from cm_tui.tui.modes.history.commit_list import CommitList
from cm_tui.tui.modes.history.commit_panel import CommitPanel
from cm_tui.tui.modes.history.detail_panel import DetailPanel
from cm_tui.tui.modes.history.heading import RevisionHeading
from cm_tui.tui.modes.history.loader import HistoryLoader
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow
from cm_tui.tui.modes.history.tabs_panel import TabsPanel
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.widgets.split import Split


class HistoryParts(ModeScreen):
    """The commits on the left; on the right the point, the tabs, and what a row stands for."""

    loader: HistoryLoader

    def compose_body(self) -> Iterable[Widget]:
        """The commits on the left; heading, tabs and the symbol on the right."""
        with Split(id="history-body"):
            yield CommitPanel(self.ask, self.drop_question, id="commit-panel")
            with Container(id="history-side"):
                yield RevisionHeading(id="history-top")
                yield TabsPanel(self.request, id="history-panel")
                yield DetailPanel(self.ask, self.drop_question, id="detail-panel")

    def request(self, tab: str) -> None:
        """For the mode to override: a tab is looked at that has no rows yet."""

    @property
    def commit_panel(self) -> CommitPanel:
        """The list of commits with its filter."""
        return self.query_one("#commit-panel", CommitPanel)

    @property
    def commits(self) -> CommitList:
        """The commits."""
        return self.commit_panel.commits

    @property
    def head(self) -> RevisionHeading:
        """The moment that is shown, in words."""
        return self.query_one("#history-top", RevisionHeading)

    @property
    def panel(self) -> TabsPanel:
        """Changes, symbols, life, drift."""
        return self.query_one("#history-panel", TabsPanel)

    @property
    def rows(self) -> HistoryList:
        """The rows of the open tab."""
        return self.panel.rows

    @property
    def detail(self) -> DetailPanel:
        """The symbol of the row under the cursor."""
        return self.query_one("#detail-panel", DetailPanel)

    @property
    def point(self) -> CommitPoint | None:
        """The moment that is shown."""
        return self.loader.point

    @property
    def row(self) -> HistoryRow | None:
        """The row under the cursor."""
        return self.rows.current

    @property
    def why_no_mainline(self) -> str | None:
        """Why there are no commits to move on."""
        if reason := self.cm.project.why_not_searchable:
            return reason
        status = self.cm.project.status
        if status and not status.git:
            return "this project has no git repository"
        history = self.cm.project.history
        return "there are no commits yet" if history and history.head is None else None
