"""Long work of the daemon: one after another for a project, watched and cancelled from any client."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from cm_tui.daemon.events import HEARTBEAT_S, Events, Notifier
from cm_tui.errors import CancelledError, CmError, NotFoundError
from cm_tui.model import Cancel, Progress
from cm_tui.model.progress import WAIT

State = Literal["queued", "running", "done", "failed", "cancelled"]
Steps = Callable[[Cancel], Iterator[Progress]]
Waits = Callable[["Job"], str]

_log = logging.getLogger(__name__)

STEP_S = 0.05
"""Of the steps between a stage's first and last, one is kept in this time."""
_REMEMBERED = 100
ALL_STORES = "*"
"""First character of a lane in which one job runs at a time, whatever its store."""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as clients see it."""

    id: str
    project: str
    name: str
    state: State
    started: float
    ended: float | None
    step: Progress | None
    error: str = ""


@dataclass(eq=False)
class Job:
    """One piece of long work, and every step of it so far."""

    id: str
    store: Path
    queue: str
    project: str
    name: str
    work: Steps
    state: State = "queued"
    steps: list[Progress] = field(default_factory=list)
    error: Exception | None = None
    cancel: Cancel = field(default_factory=Cancel)
    started: float = field(default_factory=time.time)
    ended: float | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)
    _notifiers: set[Notifier] = field(default_factory=set)
    _kept_at: float = 0.0

    @property
    def is_over(self) -> bool:
        """Return whether nothing more will come."""
        return self.ended is not None

    @property
    def searchable(self) -> bool:
        """Return whether keyword and symbol queries answer."""
        return bool(self.steps) and self.steps[-1].searchable

    @property
    def record(self) -> JobRecord:
        """Return how far it is."""
        message = self.error.message if isinstance(self.error, CmError) else str(self.error or "")
        step = self.steps[-1] if self.steps else None
        return JobRecord(self.id, self.project, self.name, self.state, self.started, self.ended, step, message)

    def wait(self, enough: Callable[[Job], bool] = lambda job: job.is_over, seconds: float | None = None) -> None:
        """Wait until it is over, or far enough; no longer than so many seconds.

        Raises Exception: what made it fail.
        """
        self.join(enough, seconds)
        if self.error is not None:
            raise self.error

    def join(self, enough: Callable[[Job], bool] = lambda job: job.is_over, seconds: float | None = None) -> None:
        """Wait in the same way, however it ends."""
        with self.changed:
            self.changed.wait_for(lambda: self.is_over or enough(self), seconds)

    async def watch(self) -> AsyncIterator[Progress | None]:
        """Give its steps, those that were and those to come; None when there was none for a while."""
        notifier = Notifier()
        with self.changed:
            self._notifiers.add(notifier)
        seen = 0
        try:
            while True:
                over = self.is_over
                for step in self.steps[seen:]:
                    seen += 1
                    yield step
                if over:
                    return
                await notifier.wait(HEARTBEAT_S)
                yield None
        finally:
            with self.changed:
                self._notifiers.discard(notifier)

    def add(self, step: Progress) -> None:
        """Keep a step, unless there were just as many of its kind."""
        now = time.monotonic()
        last = self.steps[-1] if self.steps else None
        between = last is not None and last.stage == step.stage and 0 < step.done < step.total and not step.summary
        if between and now - self._kept_at < STEP_S:
            return
        self._kept_at = now
        self.steps.append(step)
        self.notify()

    def notify(self) -> None:
        """Wake the watchers."""
        with self.changed:
            self.changed.notify_all()
            for notifier in self._notifiers:
                notifier.notify()


class Jobs:
    """Runs long work, one job at a time for a store, stores beside each other.

    `events`: told when a job starts and ends.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self._lock = threading.Lock()
        self._queues: dict[str, deque[Job]] = {}
        self._threads: list[threading.Thread] = []
        self._known: dict[str, Job] = {}
        self._ids = count(1)
        self._closing = False

    def submit(
        self, store: Path, project: Path, name: str, work: Steps, *, lane: str = "", waits: Waits | None = None
    ) -> Job:
        """Put work at the end of a store's queue.

        `project`: the project's root. `name`: what it is called. `work`: gives its steps. `lane`: another queue of that
        store, whose jobs run beside those of the first, or the one queue of all stores (`ALL_STORES`). `waits`: says what
        it waits for, given the job that runs; None: nothing is said. Raises CmError if the daemon is ending.
        """
        with self._lock:
            if self._closing:
                raise CmError("The daemon is stopping.", hint="Run the command again.")
            key = _queue_of(store, lane)
            job = Job(str(next(self._ids)), store, key, str(project), name, work)
            self._known[job.id] = job
            self._forget()
            queue = self._queues.get(key)
            if queue is not None:
                if waits is not None:
                    job.add(Progress(WAIT, 0, 0, waits(queue[0])))
                queue.append(job)
                return job
            self._queues[key] = deque([job])
            # Not a pool: a run lasts long, and its project's others wait for it anyway.
            thread = threading.Thread(target=self._drain, args=(key,), name=f"cm-job-{job.id}", daemon=True)
            self._threads = [*(one for one in self._threads if one.is_alive()), thread]
            thread.start()
        return job

    def get(self, number: str) -> Job:
        """Return a job by its number. Raises NotFoundError: unknown, or it ended long ago."""
        job = self._known.get(number)
        if job is None:
            raise NotFoundError(f"Job not found: {number}.", hint="`cm serve --status` lists them.")
        return job

    def records(self) -> list[JobRecord]:
        """Return all jobs that are remembered, oldest first."""
        with self._lock:
            return [job.record for job in self._known.values()]

    def of(self, store: Path, *, lane: str = "") -> list[Job]:
        """Return a store's jobs that are not over, in their order."""
        with self._lock:
            return [job for job in self._queues.get(_queue_of(store, lane), ()) if job.store == store]

    def unfinished(self) -> list[Job]:
        """Return all jobs that are not over; those of a queue in their order."""
        with self._lock:
            return [job for queue in self._queues.values() for job in queue]

    def cancel(self, job: Job) -> None:
        """Ask a job to stop; one that waits behind others ends at once."""
        job.cancel.set()
        with self._lock:
            queue = self._queues.get(job.queue, deque())
            waits = job in queue and job is not queue[0]
            if waits:
                queue.remove(job)
        if waits:
            self._run(job)

    @property
    def busy(self) -> bool:
        """Return whether any job is not over."""
        return bool(self._queues)

    def close(self, seconds: float = 30.0) -> None:
        """Cancel everything and wait until each has ended its current step, and its thread with it.

        A thread drops its cursors as it ends: if the process ends meanwhile, DuckDB aborts it.
        """
        with self._lock:
            self._closing = True
            for job in self._known.values():
                job.cancel.set()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _drain(self, store: str) -> None:
        while True:
            with self._lock:
                job = self._queues[store][0]
            self._run(job)
            with self._lock:
                queue = self._queues[store]
                queue.popleft()
                if not queue:
                    del self._queues[store]
                    return

    def _run(self, job: Job) -> None:
        facts: dict[str, Any] = {"job": job.id, "project": job.project, "name": job.name}
        state: State = "done"
        try:
            job.cancel.check()
            job.state = "running"
            self._events.publish("job-started", **facts)
            for step in job.work(job.cancel):
                job.add(step)
        except CancelledError as error:
            job.error, state = error, "cancelled"
        except CmError as error:
            _log.warning("%s of %s: %s", job.name, job.project, error.message)
            job.error, state = error, "failed"
        except Exception as error:  # noqa: BLE001 - re-raised for the waiting client, if there is one
            _log.exception("%s of %s", job.name, job.project)
            job.error, state = error, "failed"
        job.state = state
        job.ended = time.time()
        job.notify()
        self._events.publish("job-ended", **facts, state=state)

    def _forget(self) -> None:
        over = [number for number, job in self._known.items() if job.is_over]
        for number in over[: max(0, len(self._known) - _REMEMBERED)]:
            del self._known[number]


def _queue_of(store: Path, lane: str) -> str:
    return lane if lane.startswith(ALL_STORES) else f"{store}{lane}"
