"""View of the history mode: the point on the mainline, and its tabs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.model import CommitPoint, ProjectStatus, ResolvedRevision, SymbolKey
from cm_tui.model.dates import minute
from cm_tui.tui.modes.history.commit_panel import CommitList, CommitPanel
from cm_tui.tui.modes.history.detail_panel import DetailPanel
from cm_tui.tui.modes.history.loader import TABS, Filled, HistoryLoader, TabsPanel
from cm_tui.tui.modes.history.rows import HistoryList, HistoryRow
from cm_tui.tui.screens.list_mode import InputMode
from cm_tui.tui.state.revision import SHORT_SHA, name_of
from cm_tui.tui.widgets.split import Split, Words
from cm_tui.tui.widgets.text import count, one_line


class RevisionHeading(Vertical):
    """Two lines, a third while a revision is marked, and a note as long as the cursor is where it belongs."""

    note = ""
    """Why the revision is not exactly what was asked for."""
    requested = ""
    """The commit that was asked for; empty: that of the revision."""
    _noted = ""
    """The commit that the note is about."""

    def compose(self) -> ComposeResult:
        """The revisions, the note."""
        yield Words(id="history-head")
        yield Words(id="history-where")

    def say(self, note: str, about: CommitPoint, requested: str = "") -> None:
        """Note something about a revision, and the commit that it stands for."""
        self.note, self._noted, self.requested = note, about.sha, requested

    def show(self, point: CommitPoint | None, mark: CommitPoint | None) -> None:
        """Show the revision under the cursor and the marked one."""
        if point is not None and point.sha != self._noted:
            self.note = self.requested = ""
        marked = mark is not None
        head = self.query_one("#history-head", Words)
        # A layout of the whole screen with each step along the line would be felt.
        head.update(head_text(point, mark), layout=marked != head.has_class("-marked"))
        head.set_class(marked, "-marked")
        where = self.query_one("#history-where", Words)
        words = "; ".join(filter(None, (point.place if point and point.ahead else "", self.note)))
        if where.display or words:
            where.update(Content(one_line(words)))
            where.display = bool(words)


def head_text(point: CommitPoint | None, mark: CommitPoint | None) -> Content:
    """The revision under the cursor, and the other one that it is compared with."""
    if point is None:
        return Content("")
    rows = [
        Content.assemble(
            *_name(point), (f"  {minute(point.time)}", "$foreground"), (f"  {one_line(point.author)}", "$muted"),
        ),
        Content.styled(one_line(point.subject) or "(no subject)", "bold"),
    ]  # fmt: skip
    if mark is not None:
        rows.append(
            Content.assemble(("◆ compared with ", "$accent"), name_of(mark), (f"  {one_line(mark.subject)}", "$muted"))
        )
    return Content("\n").join(rows)


def _name(point: CommitPoint) -> list[tuple[str, str]]:
    if point.ahead:
        return [(point.sha[:SHORT_SHA], "bold $accent")]
    return [(f"#{point.ordinal:,}", "bold $accent"), (f"  {point.sha[:SHORT_SHA]}", "$secondary")]


_NEVER = object()
OF_THE_PAST = ("changes", "symbols", "life")
"""Tabs whose content depends on what is known of the past."""
LOOK_AGAIN = 2.0
"""Seconds after which history that is being read is looked at again."""
DRIFT_AGAIN = 5.0
"""Seconds after which drift is looked for again."""
DRIFT_SHARE = 10
"""A look for drift may take this much of the time that passes until the next, at most: one part in so many."""


class HistoryView(InputMode):
    """Keeps point, tabs and detail in step with each other and with the index."""

    def __init__(self) -> None:
        super().__init__()
        self._seen_status: object = _NEVER
        self._seen_line: tuple[str | None, str | None] | None = None
        """HEAD, and the commit that the index reflects, of the line that was read last."""
        self._seen_history: object = None
        self._is_read = True
        """No reading of the history is on its way, as far as it was seen last."""
        self.loader = HistoryLoader(self.ask, self.drop_question, self._fill, self._reading)
        self.looked: ResolvedRevision | None = None
        """Since when changes were new in this session."""
        self._side_commit: CommitPoint | None = None
        """The commit off the mainline that is the point while the cursor stays on its nearest ancestor."""
        self._side_reached = False
        self._drift_due = 0.0
        """When to look for drift again, by the clock that only rises."""

    def compose_body(self) -> Iterable[Widget]:
        """The commits on the left; heading, tabs and the symbol on the right."""
        with Split(id="history-body"):
            yield CommitPanel(id="commit-panel", title="Mainline")
            with Container(id="history-side"):
                yield RevisionHeading(id="history-top")
                yield TabsPanel(self.request, id="history-panel")
                yield DetailPanel(id="detail-panel")

    def on_mount(self) -> None:
        """Restore the state of the last run."""
        self.panel.tabs.active = self.kept("tab", TABS[0], TABS)
        self.commits.focus()
        self.set_interval(LOOK_AGAIN, self._poll)

    def keep(self) -> None:
        """The tab."""
        super().keep()
        self.choices["tab"] = self.panel.tabs.active

    # --- parts ---

    commit_panel = getters.query_one("#commit-panel", CommitPanel)

    @property
    def commits(self) -> CommitList:
        """The commits."""
        return self.commit_panel.commits

    list_shown = commits

    @property
    def filter_input(self) -> Input:
        """Where a commit is looked for."""
        return self.commit_panel.filter_input

    head = getters.query_one("#history-top", RevisionHeading)
    panel = getters.query_one("#history-panel", TabsPanel)

    @property
    def rows(self) -> HistoryList:
        """The rows of the open tab."""
        return self.panel.rows

    detail = getters.query_one("#detail-panel", DetailPanel)

    @property
    def point(self) -> CommitPoint | None:
        """The revision that is shown."""
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
        return "no commits yet" if history and history.head is None else None

    # --- news ---

    def project_changed(self) -> None:
        """Read the line again when the index has news; say how far history is known."""
        view = self.cm.project
        if reason := view.why_not_searchable:
            self.commits.say(reason)
        elif view.status is not None and self._is_news(view.status):
            self._seen_status = view.status
            self._read_line(view.status)
            self.cm.lifecycle.refresh_history()
            self._forget(*OF_THE_PAST)
            self._look_for_drift()
        is_read = not self._reading()
        if view.history != self._seen_history or is_read != self._is_read:
            # While it is being read, what is shown stays: it is only asked for again where there was nothing.
            self._forget(*(OF_THE_PAST if is_read else sorted(self.loader.unread)))
        self._seen_history, self._is_read = view.history, is_read
        self.commit_panel.show_known(view.history, view.reading, view.reading_error or view.history_error)
        self.refresh_keys()

    def _is_news(self, status: ProjectStatus) -> bool:
        """Whether the line may be another one, or is asked for again after it could not be read."""
        return status is not self._seen_status and (status != self._seen_status or self.commit_panel.has_failed)

    def _reading(self) -> str:
        """Return the progress of reading the history, in this process or another; empty while it is not being read."""
        history, step = self.cm.project.history, self.cm.project.reading
        known, total = (step.done, step.total) if step else (history.known, history.wanted) if history else (0, 0)
        return f"History is being read: {known:,} of {count(total, 'commit')}" if step or total else ""

    def _read_line(self, status: ProjectStatus) -> None:
        """Read the commits when they may be others than those that are here, or could not be read."""
        line = (status.head, status.indexed_head)
        if not status.git:
            self.commits.set_rows((), empty="This project has no git repository, so there is no history to show.")
        elif line != self._seen_line or self.commit_panel.has_failed:
            self._seen_line = line
            self.commits.say("Reading commits…")
            self.commit_panel.refill()
        if status.git:
            self.commit_panel.look_for_episodes()

    @on(events.ScreenResume)
    def _entered(self) -> None:
        """Check for drift when the mode is shown again."""
        self._look_for_drift()

    def _look_for_drift(self) -> None:
        if self.is_current and not self.cm.project.why_not_searchable and not self.cm.tasks.indexing:
            self._drift_due = time.monotonic() + max(DRIFT_AGAIN, DRIFT_SHARE * self.loader.drift_seconds)
            self.loader.look_for_drift()

    def _fill(self, tab: str, filled: Filled | str) -> None:
        self.panel.fill(tab, filled)
        if tab == self.panel.tabs.active:
            if isinstance(filled, str):
                self.detail.wait(filled)
            else:
                # Before the message about the new row: the difference of the old one never looks current.
                self.detail.show(self.row)
                self.detail.end_wait()
        if tab == "drift":
            self.refresh_keys()

    def _poll(self) -> None:
        """While visible, poll what changes without an event: progress of reading history, and drift."""
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
            self.head.say(shown.note, shown.moment, shown.requested)
            self.head.show(self.point, self.loader.mark)
        if shown.episode is not None:
            self.loader.episode = shown.episode
            self.panel.forget("episode")

    # --- the point ---

    @on(CommitPanel.PointChanged)
    def _loaded(self, event: CommitPanel.PointChanged) -> None:
        self.loader.point = self._point_at(event.moment)
        self.point_changed()

    def _point_at(self, row: CommitPoint | None) -> CommitPoint | None:
        """Return the point while the cursor is on a row of the list."""
        side = self._side_commit
        if side is None or row is None:
            return row
        if row.ordinal == max(1, side.ordinal):
            self._side_reached = True
            return side
        if self._side_reached:
            self._side_commit = None
        return row

    def point_changed(self) -> None:
        """Show what belongs to the point, or to the mark beside it."""
        self.commits.mark = self.loader.mark
        self.commits.redraw()
        self.head.show(self.point, self.loader.mark)
        self._forget("changes", "symbols")
        self.refresh_keys()

    def _forget(self, *tabs: str) -> None:
        """What these tabs show is not right any more, nor what was asked for them."""
        for tab in tabs:
            self.loader.drop(tab)
        self.panel.forget(*tabs)

    # --- going to a name ---

    def arrive(self, moment: CommitPoint, note: str, requested: str = "") -> None:
        """Move the point to a revision, and show its note."""
        self.head.say(note, moment, requested)
        self.loader.point = moment
        self._side_commit, self._side_reached = (moment if moment.ahead else None), False
        self.commit_panel.go(replace(moment, ordinal=max(1, moment.ordinal)))
        self.point_changed()

    # --- the tabs ---

    def activate(self, tab: str) -> None:
        """Show a tab."""
        self.panel.activate(tab)
        self.remember()

    def open_life(self, subject: SymbolKey | str) -> None:
        """Show the life of a symbol; other modes lead here too."""
        self.loader.subject = subject
        self._forget("life")
        self.activate("life")
        self.rows.focus()

    def request(self, tab: str) -> None:
        """Ask for what a tab shows."""
        if reason := self.cm.project.why_not_searchable:
            self.panel.fill(tab, Filled((), reason))
        else:
            self.loader.fill(tab)

    @on(TabsPanel.RowChanged)
    def _show_row(self, event: TabsPanel.RowChanged) -> None:
        self.detail.show(event.row)
        self.refresh_keys()
