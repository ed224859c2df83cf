"""History: the mainline, what each commit changed, the life of every symbol, and drift."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from cm_tui.tui.modes.history.commands import HISTORY_COMMANDS, flip_mark, open_row, open_spot, show_everywhere
from cm_tui.tui.modes.history.commit_list import CommitList
from cm_tui.tui.modes.history.episode_list import open_episode
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow, Spot
from cm_tui.tui.modes.history.view import HistoryView
from cm_tui.tui.screens.commands import Command, bindings
from cm_tui.tui.widgets.relations import Relation, RelationList


class HistoryScreen(HistoryView):
    """The history of every symbol."""

    MODE = "history"
    SHOWS_REVISION = True
    INTRO = (
        "Every commit of HEAD's first-parent line, the newest first; all panels show the one under the cursor. Changes "
        "are those of that commit, or those since the revision marked with m. Enter views the project at that commit, "
        "in Symbols too; 0 returns to now. Grey commits have not been read yet: b reads them. An @ marks a commit that "
        "an agent worked on: e lists the episodes with their prompts and patches."
    )
    ZOOMS = ("history-panel", "commit-panel", "detail-panel")
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(HISTORY_COMMANDS),
        Binding("escape", "escape", show=False),
        Binding("down", "into_commits", show=False),
    ]

    def mode_commands(self) -> tuple[Command[HistoryView], ...]:
        """Everything that the history mode can do."""
        return HISTORY_COMMANDS

    def open_episode(self, name: str) -> None:
        """Show an episode by its name; another mode leads here."""
        open_episode(self, name)

    # --- the commits ---

    @on(CommitList.Chosen, "#commits")
    def _chosen(self) -> None:
        show_everywhere(self)

    @on(CommitList.Marked)
    def _marked(self) -> None:
        flip_mark(self)

    def action_into_commits(self) -> None:
        """Down from the input goes into the list."""
        if self.focused is self.commit_panel.filter_input:
            self.commits.focus()

    def action_escape(self) -> None:
        """Leave zoom, then the filter, then the mark."""
        if self.has_class("-zoomed"):
            self.unzoom()
        elif self.commit_panel.filter_input.value or self.focused is self.commit_panel.filter_input:
            self.commit_panel.clear()
        elif self.loader.mark is not None:
            self.loader.mark = None
            self.point_changed()
        else:
            self.commits.focus()

    # --- the rows ---

    @on(HistoryList.Chosen, "#history-list")
    def _enter_row(self, event: HistoryList.Chosen) -> None:
        row: HistoryRow = event.row
        if row.moment is not None:
            self.commit_panel.go(row.moment)
        elif row.key and row.key.qualname:
            open_row(self)

    @on(RelationList.Chosen, "#history-relations")
    def _open_relation(self, event: RelationList.Chosen) -> None:
        row: Relation = event.row
        spot = self.detail.spot
        if row.path and row.key and spot:
            open_spot(self, Spot(row.key, spot.at))
