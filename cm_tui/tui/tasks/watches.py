"""What changes outside of the application and is looked at again and again: what is checked out, what is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from cm_tui.config import Config
from cm_tui.errors import CmError
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.tasks.engine_tasks import EngineTasks

if TYPE_CHECKING:
    from cm_tui.model import CheckoutHead, RecordingState

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

    def _end(self, deliver: Callable[[T], None] | Callable[[CmError], None], answer: T | CmError) -> None:
        self.is_busy = False
        deliver(answer)  # type: ignore[arg-type]


def head_watch(tasks: EngineTasks, view: ProjectView, changed: Callable[[], None]) -> Watch[CheckoutHead]:
    """Notice that another branch or commit was checked out, long before an index run is over."""

    def begin() -> Callable[[], CheckoutHead] | None:
        engine, status = tasks.engine, view.status
        return None if engine is None or status is None or not status.git else partial(_checkout_head, engine.root)

    def got(head: CheckoutHead) -> None:
        if head != view.head:
            view.head = head
            changed()

    return Watch(tasks, "app.head", begin, got)


def recording_watch(
    tasks: EngineTasks, view: ProjectView, config: Callable[[], Config], changed: Callable[[], None]
) -> Watch[RecordingState]:
    """Notice pauses of recording by any client, and their end."""

    def begin() -> Callable[[], RecordingState] | None:
        engine = tasks.engine
        return None if engine is None else partial(_recording_state, engine.root, config().agents.record)

    def got(state: RecordingState | None, error: CmError | None = None) -> None:
        before = (view.recording, str(view.recording_error))
        view.recording, view.recording_error = state, error
        if before != (state, str(error)):
            changed()

    return Watch(tasks, "app.recording-watch", begin, got, partial(got, None))


def _checkout_head(root: Path) -> CheckoutHead:
    from cm_tui.engine.api.projects import checkout_head

    return checkout_head(root)


def _recording_state(root: Path, records: bool) -> RecordingState:
    from cm_tui.engine.api import recording

    return recording.recording_state(root, records=records)
