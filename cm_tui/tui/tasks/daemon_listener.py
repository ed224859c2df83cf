"""What other clients do: the daemon's events and jobs.

The functions here run on threads that `EngineTasks` starts; they end with the application.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from cm_tui.errors import CancelledError, CmError
from cm_tui.model import IndexSummary, Progress
from cm_tui.tui.tasks.ask import Engine, as_cm_error

Deliver = Callable[[Callable[[], None]], None]
"""Has a function called on the application's thread."""


@dataclass
class JobEnded:
    """A job of the daemon is over, or is not heard of any more."""

    job: str
    summary: IndexSummary | None
    error: CmError | None

    @property
    def cancelled(self) -> bool:
        """True when it was stopped."""
        return isinstance(self.error, CancelledError)


def listen(engine: Engine, event: Callable[[dict[str, Any]], None], deliver: Deliver, stop: threading.Event) -> None:
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
        deliver(partial(event, record))


def follow(
    job: str, step: Callable[[str, Progress], None], end: Callable[[JobEnded], None], deliver: Deliver, stop: threading.Event
) -> None:  # fmt: skip
    """Tell of a job's steps and its end."""
    from cm_tui.daemon import subscribe

    summary: IndexSummary | None = None
    try:
        for progress in subscribe.watch(job):
            if stop.is_set():
                return
            summary = progress.summary or summary
            deliver(partial(step, job, progress))
    except Exception as error:  # noqa: BLE001 - shown on screen
        deliver(partial(end, JobEnded(job, summary, as_cm_error(error))))
    else:
        deliver(partial(end, JobEnded(job, summary, None)))
