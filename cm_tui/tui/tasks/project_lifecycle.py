"""The life of the project in the application: it is opened, planned, indexed, and its state is kept up to date."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from cm_tui import model
from cm_tui.counts import count
from cm_tui.errors import CmError
from cm_tui.paths import PROJECT_FOLDER
from cm_tui.tui.state.project import Waiting
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.tasks.background_runs import ProjectWork
from cm_tui.tui.tasks.long_tasks import RunEnded, Steps

COUNTING_DELAY = 0.3
"""Seconds in which further changes may come before the project's state is asked for, and what waits is counted."""
EDITS_DELAY = 0.05
"""Seconds after a request before edited files are looked for: the request itself goes first."""
MOST_RULES = 1_000
_LOOKING = frozenset({"scan", "store", "done"})
"""Stages of an index run that take a moment, unless another one came before them."""


@dataclass
class ProjectLifecycle(ProjectWork):
    """Asks the engine, writes the answers into the project's view, and says that it changed.

    Args:
        repair: puts a damaged store out of the way; None: not possible.
    """

    repair: Callable[[], None] | None
    _then: Callable[[model.ProjectStatus], None] | None = None
    _counted: int = -1
    """`index_news` when was last asked how much waits for the person."""
    _may_read_on: bool = True
    """False once the person stopped the reading of history: it does not begin again by itself."""
    _after_history: Callable[[], None] | None = None
    """What waits until nothing reads the past."""
    _edits: tuple[bool, str] | None = None
    """Edited files that were found last: what a run leaves is not indexed by another one."""
    _requested: bool = False
    """Whether the user requested the index run under way."""

    # --- the engine ---

    def reopen(self) -> None:
        """Try the engine again."""
        self._open()

    def repair_and_reopen(self) -> None:
        """Move a damaged store aside and open the engine, which rebuilds the index."""
        assert self.repair is not None
        self._open(first=self.repair)

    def _open(self, first: Callable[[], None] | None = None) -> None:
        self.view.engine, self.view.error = "opening", None
        self.changed()
        self.tasks.open(first=first)

    def opened(self, then: Callable[[model.ProjectStatus], None]) -> None:
        """Request the project's state, then bring the index up to date. `then`: also called with that state."""

        def begin(status: model.ProjectStatus) -> None:
            then(status)
            self._index_at_first(status)

        self.view.engine, self.view.error = "open", None
        self.log.add("The project is open.", "ok")
        self.tasks.start_waiting()
        self.refresh_status(then=begin)
        self.changed()

    def failed(self, error: CmError) -> None:
        """The engine does not open."""
        self.view.engine, self.view.error = "failed", error
        self.log.add(f"The project could not be opened: {error.message}", "error")
        self.changed()

    # --- the state ---

    def refresh_status(self, *, then: Callable[[model.ProjectStatus], None] | None = None, delay: float = 0.0) -> None:
        """Ask for the project's state, after seconds in which it may be asked again, and do something with it afterwards."""
        # Kept apart from the question: a newer one, which news of another client may ask at any time, takes its place.
        self._then = then or self._then

        def got(status: model.ProjectStatus) -> None:
            self.view.status, self.view.status_error = status, None
            waiting, self._then = self._then, None
            if waiting is not None:
                # Before the change is shown: it may begin an index run, which decides what is asked next.
                waiting(status)
            self.changed()

        def failed(error: CmError) -> None:
            self.view.status_error = error
            self.changed()

        self.tasks.ask("app.status", lambda engine: engine.status(), got, failed, delay=delay)

    def count_waiting(self, *, again: bool = False) -> None:
        """Refresh the number of items that await the user, in the background.

        Args:
            again: the person has just changed something.
        """
        view = self.view
        if view.engine != "open" or not (again or (self._counted != view.index_news and not self._news_follow)):
            return
        self._counted = view.index_news

        def got(waiting: Waiting) -> None:
            if waiting != view.waiting:
                view.waiting = waiting
                self.changed()

        self.tasks.ask("app.waiting", _waiting, got, lambda _: None, delay=COUNTING_DELAY)

    @property
    def _news_follow(self) -> bool:
        """True while an index run looks for changes: it ends in a moment, or has found something to work on."""
        view = self.view
        if view.status is None:
            return view.status_error is None
        is_looking = view.progress is None or view.progress.stage in _LOOKING
        return view.status.indexed and self.tasks.indexing and is_looking

    # --- the index ---

    def _index_at_first(self, status: model.ProjectStatus) -> None:
        """An index that is there is brought up to date; before there is one, the plan says what it will take."""
        if status.indexed:
            self.start_index()
            return

        def got(plan: model.IndexPlan) -> None:
            self.view.plan = plan
            self.start_index()

        def failed(error: CmError) -> None:
            self.view.index_error = error
            self.changed()

        self.tasks.ask("app.plan", lambda engine: engine.plan(), got, failed)

    def start_index(self, *, requested: bool = False) -> None:
        """Bring the index up to the working tree. `requested`: the user pressed a key for it; the result is reported."""
        self._start(lambda engine, cancel: engine.index(cancel=cancel), "Index run started.", requested=requested)

    def start_full_index(self) -> None:
        """Read every file again, as the user requested."""
        self._start(lambda engine, cancel: engine.index(full=True, cancel=cancel), "Full index run started.")

    def start_rebuild(self) -> None:
        """Delete and rebuild the index, after stopping a run that reads history."""
        if self.tasks.reading_history:
            self._after_history = self.start_rebuild
            self.tasks.stop_run("history")
            return
        self._start(lambda engine, cancel: engine.rebuild(cancel=cancel), "Rebuilding the index.")

    def _start(self, steps: Steps, words: str, *, requested: bool = True) -> None:
        if self.start_run("index", steps, words):
            self._requested = requested
            self.view.index_error, self.view.cancelled = None, False
        self.changed()

    def stop_index(self) -> None:
        """Stop the index run."""
        self.tasks.stop_run("index")

    def stepped(self, progress: model.Progress) -> None:
        """Show how far the run is; the first searchable step brings new counts, where the end of the run does not."""
        before, self.view.progress = self.view.progress, progress
        if progress.searchable and not (before and before.searchable):
            self.refresh_status(delay=COUNTING_DELAY)
            # The user waits for edited files; their vectors come later.
            self.view.index_news += self._edits is not None
        self.changed()

    def ended(self, message: RunEnded) -> str:
        """Show what came of the run; returns that in words if the user requested it and it succeeded, else nothing."""
        view = self.view
        view.progress, view.cancelled = None, message.cancelled
        view.summary = message.summary or view.summary
        view.index_news += 1
        view.index_error, view.edits = None if message.cancelled else message.error, ""
        if message.summary:
            self.log.add_summary(message.summary)
        self.log_end(message)
        if message.error is None:
            self._read_on()
        if self._edits is not None:
            self.follow_edits()
        self.refresh_status()
        self.changed()
        requested, self._requested = self._requested, False
        if not requested or message.summary is None or message.cancelled:
            return ""
        changes = message.summary.changed
        return f"The index is up to date: {count(changes, 'change') if changes else 'nothing changed'}."

    def follow_edits(self) -> None:
        """Index what was edited since the last run, where that is quick; show what is not indexed."""
        view = self.view
        if self.tasks.indexing or view.is_behind_head or not view.searchable:
            return

        def got(found: tuple[bool, str]) -> None:
            quick, why = found
            is_new = found != self._edits
            self._edits = found if why else None
            if quick and why and is_new:
                self.start_index()
            elif view.edits != why:
                view.edits = why
                self.changed()

        self.tasks.ask("app.edits", lambda engine: engine.edits(), got, lambda _: None, delay=EDITS_DELAY)

    # --- the history ---

    def _read_on(self) -> None:
        """Read the past in the background, as far as the configuration asks for; a daemon does that by itself."""

        def got(required: bool) -> None:
            if required:
                words = "Reading history in the background."
                self.start_run("history", lambda engine, cancel: engine.catch_up(cancel=cancel), words)

        if self.tasks.reading_history:
            # What that run knows of the line may be older than the index.
            self._after_history = self._after_history or self._read_on
        elif self._may_read_on:
            self.tasks.ask("app.wants-history", lambda engine: engine.wants_history(), got, self._history_failed)

    def refresh_history(self) -> None:
        """Ask how much of the past is known."""

        def got(history: model.HistoryStatus) -> None:
            self.view.history, self.view.history_error = history, None
            self.changed()

        self.tasks.ask("app.history", lambda engine: engine.history(), got, self._history_failed)

    def _history_failed(self, error: CmError) -> None:
        self.view.history_error = error
        self.changed()

    def read_history(self) -> None:
        """Read the past, newest first; what is known answers meanwhile."""
        self._may_read_on = True
        if self.start_run("history", lambda engine, cancel: engine.backfill(cancel=cancel), "Reading history."):
            self.view.reading_error = None
        self.changed()

    def stop_history(self) -> None:
        """Stop reading the past, until it is asked for again."""
        self._may_read_on = False
        self.tasks.stop_run("history")

    def history_dropped(self) -> None:
        """Reload the views after history was dropped from the index."""
        self.view.index_news += 1
        self.changed()
        self.refresh_history()

    def history_stepped(self, progress: model.Progress) -> None:
        """Show how far the past is read."""
        self.view.reading = progress
        self.changed()

    def history_ended(self, message: RunEnded) -> None:
        """Show what came of it."""
        self.view.reading = None
        self.view.reading_error = None if message.cancelled else message.error
        self.log_end(message)
        if message.error is None:
            self.log.add("History has been read.", "ok")
        self.changed()
        self.refresh_history()
        waiting, self._after_history = self._after_history, None
        if waiting is not None:
            waiting()


def _waiting(engine: Engine) -> Waiting:
    items = engine.narrated(limit=1).total + engine.proposals().total
    if (engine.root / PROJECT_FOLDER).is_dir():
        from cm_tui.engine.api.entry_trust import undecided

        items += len(undecided(engine.root))
    # Without an index there is nothing to compare names with.
    with suppress(CmError):
        items += engine.stale_items(limit=1).total
    rules = sum(entry.unapproved for entry in engine.entries(category="Rule", limit=MOST_RULES).rows)
    return Waiting(items, rules)
