"""History: the mainline, what each changed, the life of every symbol, and drift."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType

from cm_tui.model import CommitPoint, ResolvedRevision, SymbolKey
from cm_tui.tui.modes.history.commands import HISTORY_COMMANDS
from cm_tui.tui.modes.history.commit_list import CommitList
from cm_tui.tui.modes.history.commit_panel import CommitPanel
from cm_tui.tui.modes.history.episode_replay import EpisodeReplay
from cm_tui.tui.modes.history.loader import TABS, Filled, HistoryLoader
from cm_tui.tui.modes.history.parts import HistoryParts
from cm_tui.tui.modes.history.prune_dialog import PruneDialog
from cm_tui.tui.modes.history.revision_prompt import RevisionPrompt
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow, Spot
from cm_tui.tui.modes.history.tabs_panel import TabsPanel
from cm_tui.tui.screens.commands import bindings
from cm_tui.tui.screens.messages import OpenRevision, OpenSymbol
from cm_tui.tui.widgets.relations import Relation, RelationList

_NEVER = object()
LOOK_AGAIN = 2.0
"""Seconds after which history that is being read is looked at again."""
DRIFT_AGAIN = 5.0
"""Seconds after which drift is looked for again."""
DRIFT_SHARE = 10
"""A look for drift may take this much of the time that passes until the next, at most: one part in so many."""


class HistoryScreen(HistoryParts):
    """The history of every symbol."""

    MODE = "history"
    SHOWS_REVISION = True
    INTRO = (
        "Every commit of HEAD's first-parent line, the newest first; the one under the cursor is the point that all "
        "panels show. Changes are those of that commit, or those between it and the moment you marked with m. Enter "
        "stands there: Symbols shows that moment too, a bar on top says so, and 0 leads back to now. Grey commits are "
        "not known yet: b reads them, and what is known answers meanwhile. An @ marks what an agent saw: e lists what "
        "agents' sessions recorded, and leads to the commit that one saw, with its prompts and its patch."
    )
    ZOOMS = ("history-panel", "commit-panel", "detail-panel")
    COMMANDS_HERE = HISTORY_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(HISTORY_COMMANDS),
        Binding("escape", "escape", show=False),
        Binding("down", "into_commits", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._seen_status: object = _NEVER
        self._seen_history: object = None
        self.loader = HistoryLoader(self.ask, self.drop_question, self._fill)
        self._drift_due = 0.0
        """When to look for drift again, by the clock that only rises."""

    def on_mount(self) -> None:
        """Take up what the last run left."""
        self.revision_prompt = RevisionPrompt(self)
        self.replay = EpisodeReplay(self)
        self.prune_dialog = PruneDialog(self)
        kept = self.cm.state.of(self.MODE)
        tab = kept.get("tab")
        self.panel.tabs.active = tab if tab in TABS else TABS[0]
        self.commits.focus()
        self.set_interval(LOOK_AGAIN, self._look_again)
        super().on_mount()

    def keep(self) -> None:
        """The tab."""
        super().keep()
        self.cm.state.of(self.MODE)["tab"] = self.panel.tabs.active

    # --- news ---

    def project_changed(self) -> None:
        """Read the line again when the index has news; say how far history is known."""
        view = self.cm.project
        if reason := view.why_not_searchable:
            self.commit_panel.say(reason)
        elif view.status is not self._seen_status and view.status is not None:
            self._seen_status = view.status
            if view.status.git:
                self.commit_panel.say("Reading the line…")
                self.commit_panel.refill()
                self.replay.look_for_marks()
            else:
                self.commits.set_rows((), empty="This project has no git repository, so there is no past to show.")
            self.cm.lifecycle.refresh_history()
            self.panel.forget("changes", "symbols", "life")
            self._look_for_drift()
        if view.history != self._seen_history:
            self._seen_history = view.history
            self.panel.forget("changes", "symbols", "life")
        self.commit_panel.show_known(view.history, view.reading, view.reading_error or view.history_error)
        self.refresh_keys()

    @on(events.ScreenResume)
    def _entered(self) -> None:
        """Somebody looks again: files may have changed meanwhile."""
        self._look_for_drift()

    def _look_for_drift(self) -> None:
        if self.is_current and not self.cm.project.why_not_searchable and not self.cm.tasks.indexing:
            self._drift_due = time.monotonic() + max(DRIFT_AGAIN, DRIFT_SHARE * self.loader.drift_seconds)
            self.loader.look_for_drift()

    def _fill(self, tab: str, filled: Filled | None) -> None:
        self.panel.fill(tab, filled)
        if tab == "drift":
            self.refresh_keys()

    def _look_again(self) -> None:
        """While somebody looks, ask for what changes without a word: how far history is read, by whatever process; drift."""
        if time.monotonic() > self._drift_due:
            self._look_for_drift()
        history = self.cm.project.history
        if self.is_current and history is not None and history.head is not None and not history.complete:
            self.cm.lifecycle.refresh_history()

    def revision_changed(self) -> None:
        """Mark where the application stands, and take over what is said of it now."""
        shown = self.cm.revision
        self.commits.shown = shown.moment
        self.commits.redraw()
        if shown.moment is not None and shown.moment == self.point:
            self.head.say(shown.note, shown.moment, shown.asked)
            self.head.show(self.point, self.loader.mark)
        if shown.episode is not None:
            self.loader.episode = shown.episode
            self.panel.forget("episode")

    # --- the point ---

    @on(CommitPanel.Came)
    def _came(self, event: CommitPanel.Came) -> None:
        self.loader.point = event.moment
        self._point_changed()

    def _point_changed(self) -> None:
        self.commits.mark = self.loader.mark
        self.commits.redraw()
        self.head.show(self.point, self.loader.mark)
        self.panel.forget("changes", "symbols")
        self.refresh_keys()

    @on(CommitList.Chosen, "#commits")
    def _chosen(self) -> None:
        self.stand()

    @on(CommitList.Marked)
    def _marked(self) -> None:
        self.flip_mark()

    def stand(self) -> None:
        """Show this moment everywhere."""
        if self.point is not None:
            self.post_message(OpenRevision(self.point, self.head.note, self.head.asked))

    def flip_mark(self) -> None:
        """Mark the point, or take its mark away."""
        mark = self.loader.mark
        same = mark is not None and self.point is not None and mark.sha == self.point.sha
        self.loader.mark = None if same else self.point
        self._point_changed()

    def find(self) -> None:
        """Type to find a commit."""
        self.unzoom()
        self.commit_panel.letters.focus()

    def action_into_commits(self) -> None:
        """Down from the input goes into the list."""
        if self.focused is self.commit_panel.letters:
            self.commits.focus()

    def action_escape(self) -> None:
        """Leave zoom, then the filter, then the mark."""
        if self.has_class("-zoomed"):
            self.unzoom()
        elif self.commit_panel.letters.value or self.focused is self.commit_panel.letters:
            self.commit_panel.clear()
        elif self.loader.mark is not None:
            self.loader.mark = None
            self._point_changed()
        else:
            self.commits.focus()

    # --- going to a name ---

    def go_to(self) -> None:
        """Ask for a moment by name, and go there."""

        def named(place: ResolvedRevision) -> None:
            self.arrive(place.moment, place.note, place.sha)
            self.commits.focus()

        self.revision_prompt.moment(named)

    def arrive(self, moment: CommitPoint, note: str, asked: str = "") -> None:
        """Put the point on a moment, and say what must be said of it."""
        self.head.say(note, moment, asked)
        self.loader.point = moment
        self.commit_panel.go(moment)
        self._point_changed()

    def choose_episode(self) -> None:
        """Choose what an agent saw."""
        self.replay.choose()

    def drop_history(self) -> None:
        """Drop history, from the point backwards unless told otherwise."""
        self.prune_dialog.ask(f"#{self.point.ordinal}" if self.point else "")

    def ask_since(self) -> None:
        """Ask since when, and show what changed from then to HEAD."""
        self.revision_prompt.since(self._since)

    def _since(self, place: ResolvedRevision) -> None:
        history = self.cm.project.history
        if history is None or history.head is None:
            return
        if place.moment.sha == history.head.sha:
            self.cm.tell(f"Nothing new on this line since: #{place.moment.ordinal:,} is HEAD.")
            self.loader.mark = None
            self.arrive(history.head, place.note)
            return
        self.loader.mark = place.moment
        self.arrive(history.head, place.note)
        self.activate("changes")
        self.rows.focus()

    # --- the tabs ---

    def activate(self, tab: str) -> None:
        """Show a tab."""
        self.panel.activate(tab)
        self.remember()

    def next_tab(self) -> None:
        """The tab to the right."""
        self.panel.turn()

    def next_detail(self) -> None:
        """The next view of the symbol."""
        self.detail.turn()

    def request(self, tab: str) -> None:
        """Ask for what a tab shows."""
        if reason := self.cm.project.why_not_searchable:
            self.panel.fill(tab, Filled((), reason))
        else:
            self.loader.fill(tab)

    @on(TabsPanel.Came)
    def _show_row(self, event: TabsPanel.Came) -> None:
        self.detail.show(event.row)
        self.refresh_keys()

    @on(HistoryList.Chosen, "#history-list")
    def _enter_row(self, event: HistoryList.Chosen) -> None:
        row: HistoryRow = event.row
        if row.moment is not None:
            self.commit_panel.go(row.moment)
        elif row.key and row.key.qualname:
            self.open_row()

    # --- symbols ---

    def show_life(self) -> None:
        """The life of the symbol under the cursor, else of a name."""
        row = self.row
        key = row.key if row and row.key and row.key.qualname else None
        if self.panel.tabs.active == "life" or key is None:
            self.revision_prompt.symbol(self.open_life, key.qualname if key else "")
        else:
            self.open_life(key)

    def open_life(self, subject: SymbolKey | str) -> None:
        """Show the life of a symbol; other modes lead here too."""
        self.loader.subject = subject
        self.panel.forget("life")
        self.activate("life")
        self.rows.focus()

    def open_row(self) -> None:
        """Show the row's symbol in Symbols, at its moment."""
        row = self.row
        spot = (row.spot or row.before) if row else None
        if spot is not None:
            self._open(spot)

    def _open(self, spot: Spot) -> None:
        def go(place: ResolvedRevision) -> None:
            self.post_message(OpenRevision(place.moment, place.note, place.sha))
            self.post_message(OpenSymbol(spot.key))

        at = spot.at
        if at is None:
            self.cm.go_to_now()
            self.post_message(OpenSymbol(spot.key))
        else:
            self.ask("open", lambda engine: engine.resolve(at), go)

    @on(RelationList.Chosen, "#history-relations")
    def _open_relation(self, event: RelationList.Chosen) -> None:
        row: Relation = event.row
        spot = self.detail.spot
        if row.path and row.key and spot:
            self._open(Spot(row.key, spot.at))
