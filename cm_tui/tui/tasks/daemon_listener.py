"""What other clients do: the daemon's events and jobs, as messages to the application.

The functions here run on threads that `EngineTasks` starts; they end with the application.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.message import Message

from cm_tui.errors import CancelledError, CmError
from cm_tui.model import IndexSummary, Progress
from cm_tui.tui.tasks.ask import as_cm_error

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

Post = Callable[[Message], None]


class DaemonEvent(Message):
    """Something happened in the daemon, or to the line to it."""

    def __init__(self, record: dict[str, Any]) -> None:
        super().__init__()
        self.record = record


class JobStep(Message):
    """A job of the daemon got on."""

    def __init__(self, job: str, progress: Progress) -> None:
        super().__init__()
        self.job = job
        self.progress = progress


class JobEnded(Message):
    """A job of the daemon is over, or is not heard of any more."""

    def __init__(self, job: str, summary: IndexSummary | None, error: CmError | None) -> None:
        super().__init__()
        self.job = job
        self.summary = summary
        self.error = error

    @property
    def cancelled(self) -> bool:
        """True when it was stopped."""
        return isinstance(self.error, CancelledError)


def listen(engine: Engine, post: Post, stop: threading.Event) -> None:
    """Tell of the daemon's events until the end; returns at once for an engine that goes straight to the store."""
    from cm_tui.daemon import subscribe

    if not engine.uses_daemon:
        return
    for record in subscribe.events(stop):
        if record["event"] == "disconnected":
            # The next daemon counts its jobs from one again.
            engine.own_jobs.clear()
        if stop.is_set():
            return
        post(DaemonEvent(record))


def follow(job: str, post: Post, stop: threading.Event) -> None:
    """Tell of a job's steps and its end."""
    from cm_tui.daemon import subscribe

    summary: IndexSummary | None = None
    try:
        for progress in subscribe.watch(job):
            if stop.is_set():
                return
            summary = progress.summary or summary
            post(JobStep(job, progress))
    except Exception as error:  # noqa: BLE001 - shown on screen
        post(JobEnded(job, summary, as_cm_error(error)))
    else:
        post(JobEnded(job, summary, None))
