"""Polling of what changes outside the application: the checkout and recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from cm_tui import model
from cm_tui.config import Config
from cm_tui.engine.api.projects import checkout_head
from cm_tui.engine.api.recording import recording_state
from cm_tui.errors import CmError, NotFoundError
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.state.revision import ShownRevision, name_of
from cm_tui.tui.tasks.ask import Fail, Then
from cm_tui.tui.tasks.engine_tasks import EngineTasks

T = TypeVar("T")

EVERY = 1.0
"""Seconds between looks."""


@dataclass
class Watch(Generic[T]):
    """Looks on a worker thread, one look at a time.

    Args:
        tasks: does the looking.
        topic: of the looks.
        begin: returns what to call on a worker thread; None where there is nothing to look at.
        got: called with each answer, on the application's thread.
        failed: called with the error of a look.
    """

    tasks: EngineTasks
    topic: str
    begin: Callable[[], Callable[[], T] | None]
    got: Callable[[T], None]
    failed: Callable[[CmError], None] = lambda _: None
    is_busy: bool = False

    def look(self) -> None:
        """Look once."""
        call = None if self.is_busy else self.begin()
        if call is not None:
            self.is_busy = True
            self.tasks.attempt(call, partial(self._end, self.got), partial(self._end, self.failed), topic=self.topic)

    def _end(self, deliver: Then[T] | Fail, answer: T | CmError) -> None:
        self.is_busy = False
        deliver(answer)  # type: ignore[arg-type]


def head_watch(tasks: EngineTasks, view: ProjectView, changed: Callable[[], None]) -> Watch[model.CheckoutHead]:
    """Notice that another branch or commit was checked out, long before an index run ends."""

    def begin() -> Callable[[], model.CheckoutHead] | None:
        engine, status = tasks.engine, view.status
        return None if engine is None or status is None or not status.git else partial(checkout_head, engine.root)

    def got(head: model.CheckoutHead) -> None:
        status, before = view.status, view.head
        if before is None and status is not None:
            before = model.CheckoutHead(status.branch, status.head)
        view.head = head
        if head != before:
            changed()

    return Watch(tasks, "app.head", begin, got)


def recording_watch(
    tasks: EngineTasks, view: ProjectView, config: Callable[[], Config], changed: Callable[[], None]
) -> Watch[model.RecordingState]:
    """Notice pauses of recording by any client, and their end."""

    def begin() -> Callable[[], model.RecordingState] | None:
        engine = tasks.engine
        return None if engine is None else partial(recording_state, engine.root, records=config().agents.record)

    def got(state: model.RecordingState | None, error: CmError | None = None) -> None:
        before = (view.recording, str(view.recording_error))
        view.recording, view.recording_error = state, error
        if before != (state, str(error)):
            changed()

    return Watch(tasks, "app.recording-watch", begin, got, partial(got, None))


class RevisionTracker:
    """Looks for the commit again whenever the index may answer otherwise, or more of the past is known.

    Args:
        tasks: asks.
        revision: what the application shows.
        view: what is known of the project.
        tell: shows words.
    """

    def __init__(
        self, tasks: EngineTasks, revision: ShownRevision, view: ProjectView, tell: Callable[[str], None]
    ) -> None:
        self._tasks = tasks
        self._revision = revision
        self._view = view
        self._tell = tell
        self._seen: tuple[int, int] | None = None

    def check(self) -> None:
        """Ask where the commit is now, if there was news since this was asked last."""
        moment, history = self._revision.moment, self._view.history
        news = self._view.index_news, history.known if history else 0
        if news == self._seen or self._view.engine != "open":
            return
        self._seen = news
        if moment is None:
            return
        requested = self._revision.requested

        def got(place: model.ResolvedRevision) -> None:
            if self._revision.moment != moment:
                return
            if place.moment.sha != moment.sha or (place.moment.ahead and not moment.ahead):
                self._tell(f"History was rewritten: {name_of(moment)} is no longer on the mainline.")
            episode = self._revision.episode
            seen = replace(episode, moment=place.moment, why=place.note) if episode else None
            self._revision.go(place.moment, place.note, seen, requested=requested)

        def failed(error: CmError) -> None:
            if self._revision.moment != moment:
                return
            if isinstance(error, NotFoundError):
                self._revision.go(None)
                self._tell(f"History was rewritten: {name_of(moment)} is gone; showing the current state.")
            else:
                self._tell(error.one_line)

        self._tasks.ask("app.revision", lambda engine: engine.resolve(requested), got, failed)
