"""What other clients do: the daemon's events and jobs, as messages to the application.

The functions here run on threads that `EngineTasks` starts; they end with the application.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual.message import Message

from cm_tui.errors import CancelledError, CmError
from cm_tui.model import IndexSummary, Progress
from cm_tui.tui.tasks.ask import Engine, as_cm_error

Post = Callable[[Message], None]


@dataclass
class DaemonEvent(Message):
    """Something happened in the daemon, or to the line to it."""

    record: dict[str, Any]


@dataclass
class JobStep(Message):
    """A job of the daemon got on."""

    job: str
    progress: Progress


@dataclass
class JobEnded(Message):
    """A job of the daemon is over, or is not heard of any more."""

    job: str
    summary: IndexSummary | None
    error: CmError | None

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
