"""Long work that screens start: index runs, the reading of history, imports, passes of the narrator; one of each at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.timer import Timer

from cm_tui import model
from cm_tui.errors import CancelledError, CmError
from cm_tui.tui.tasks.ask import Engine, as_cm_error


class Origin(NamedTuple):
    """Where a request was made."""

    screen: Screen[Any] | None = None
    command: str = ""
    """Label of the command that made it; empty where none did."""
    step: int = 0
    """How often the user had gone on to something else; see `ModeApp.origin`."""


NOWHERE = Origin()


@dataclass
class Answer(Message):
    """The result of a request; `deliver` passes the value to the caller."""

    topic: str
    request: int
    deliver: Callable[[], None]
    origin: Origin = NOWHERE


class WorkerThreads:
    """A few threads for questions, a few for long runs, one for changes; knows what is on its way.

    Args:
        target: the application, which gets every message.
    """

    def __init__(self, target: MessagePump) -> None:
        self._target = target
        self._quick = ThreadPoolExecutor(4, thread_name_prefix="cm-quick")
        self._long = ThreadPoolExecutor(2, thread_name_prefix="cm-long")
        self._in_turn = ThreadPoolExecutor(1, thread_name_prefix="cm-in-turn")
        self._running: set[Future[None]] = set()
        self._lock = threading.Lock()
        self._closing = False
        self.stopped = threading.Event()
        """Set at the end, for work that listens beside everything else."""

    def run_quick(self, work: Callable[[], None]) -> None:
        """Run work that a person waits for."""
        self._submit(self._quick, work)

    def run_long(self, work: Callable[[], None]) -> None:
        """Run work that may take minutes."""
        self._submit(self._long, work)

    def run_in_turn(self, work: Callable[[], None]) -> None:
        """Run work after all that was given here before."""
        self._submit(self._in_turn, work)

    def run_beside(self, work: Callable[[], None]) -> None:
        """Run work that ends with the application, or when it has nothing more to hear."""
        # A daemon thread: exit does not wait for the next event of cm's daemon.
        threading.Thread(target=work, name="cm-beside", daemon=True).start()

    def post(self, message: Message) -> None:
        """Send a message to the application, unless it is about to end."""
        if not self._closing:
            self._target.post_message(message)

    def deliver(self, call: Callable[[], None]) -> None:
        """Have a function called on the application's thread."""
        self.post(Answer("", 0, call))

    def running(self) -> list[Future[None]]:
        """Return what is on its way."""
        with self._lock:
            return list(self._running)

    async def one_done(self) -> bool:
        """Wait for one running task; False if none is running (for tests and pictures)."""
        running = [asyncio.wrap_future(future) for future in self.running()]
        if running:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        return bool(running)

    def stop(self) -> None:
        """Take no more work; returns at once."""
        self._closing = True
        self.stopped.set()

    def close(self) -> None:
        """Stop, and wait for what is being done."""
        self.stop()
        # What a person wanted done is done, also where it still waits.
        self._in_turn.shutdown()
        self._long.shutdown(cancel_futures=True)
        self._quick.shutdown(cancel_futures=True)

    def _submit(self, pool: ThreadPoolExecutor, work: Callable[[], None]) -> None:
        if not self._closing:
            future = pool.submit(work)
            with self._lock:
                self._running.add(future)
            future.add_done_callback(self._finished)

    def _finished(self, future: Future[None]) -> None:
        with self._lock:
            self._running.discard(future)
        if not future.cancelled() and (error := future.exception()) is not None:
            self.deliver(partial(_raise, error))


def _raise(error: BaseException) -> None:
    raise error


@dataclass
class DelayedRequests:
    """At most one request of each topic waits; a newer one takes its place.

    Args:
        target: whose timers are used.
        send: sends a request after its delay.
    """

    _target: MessagePump
    _send: Callable[[Callable[[], None]], None]
    waiting: dict[str, tuple[Timer, Callable[[], None]]] = field(default_factory=dict)
    """By topic: what sends a request, and the request."""

    def hold(self, topic: str, seconds: float, work: Callable[[], None]) -> None:
        """Send work off later, unless a newer request of the topic comes first."""
        self.release(topic)

        def leave() -> None:
            # A timer that fired is heard of later, even if it was stopped meanwhile for a newer request.
            if topic in self.waiting and self.waiting[topic][1] is work:
                self.release(topic)
                self._send(work)

        self.waiting[topic] = (self._target.set_timer(seconds, leave), work)

    def release(self, topic: str) -> None:
        """Forget a request that did not leave yet."""
        if topic in self.waiting:
            self.waiting.pop(topic)[0].stop()

    def send_all(self) -> None:
        """Send off everything that waits."""
        for topic, (_, work) in list(self.waiting.items()):
            self.release(topic)
            self._send(work)

    def release_all(self) -> None:
        """Forget everything that waits."""
        for topic in list(self.waiting):
            self.release(topic)


STEP_SECONDS = 1 / 20
"""Progress reaches the screen at most this often."""

RunKind = Literal["index", "history", "import", "narrate"]
Steps = Callable[["Engine", "model.Cancel"], "Iterator[model.Progress]"]


@dataclass
class RunStep(Message):
    """The progress of a run."""

    kind: RunKind
    progress: model.Progress


@dataclass
class RunEnded(Message):
    """A run has ended: with the result of its steps, or with the error that stopped it."""

    kind: RunKind
    error: CmError | None = None
    summary: model.IndexSummary | None = None
    imported: model.ImportSummary | None = None
    narrated: model.NarratorReport | None = None
    rescued: model.RescueSummary | None = None
    job: str = ""
    """Number of another client's job in the daemon, which ended or can no longer be followed; empty: a run of this engine."""

    def add(self, step: model.Progress) -> None:
        """Take the summaries of a step."""
        self.summary = step.summary or self.summary
        self.imported = step.imported or self.imported
        self.narrated = step.narrated or self.narrated
        self.rescued = step.rescued or self.rescued

    @property
    def cancelled(self) -> bool:
        """True when the user stopped it."""
        return isinstance(self.error, CancelledError)


class LongTasks:
    """Starts long runs on threads of their own; their steps become messages to the application.

    Args:
        target: the application, which gets every message.
    """

    def __init__(self, target: MessagePump) -> None:
        self._workers = WorkerThreads(target)
        self._runs: dict[RunKind, model.Cancel] = {}
        self._opening = threading.Lock()
        self.engine: Engine | None = None

    def reopen_failed_store(self) -> None:
        """For a subclass: open a store again that answers nothing since a write failed."""

    @property
    def indexing(self) -> bool:
        """True while an index run is in progress."""
        return "index" in self._runs

    @property
    def reading_history(self) -> bool:
        """True while history is being read."""
        return "history" in self._runs

    def start_run(self, kind: RunKind, steps: Steps) -> bool:
        """Start a long run; `RunStep` messages follow, then `RunEnded`.

        Returns:
            False when one of this kind is on its way already.
        """
        engine = self.engine
        if kind in self._runs or engine is None:
            return False
        cancel = self._runs[kind] = model.Cancel()

        def work() -> None:
            ended = self._run(kind, lambda: steps(engine, cancel), cancel)
            del self._runs[kind]
            self._workers.post(ended)

        self._workers.run_long(work)
        return True

    def _run(self, kind: RunKind, begin: Callable[[], Iterator[model.Progress]], cancel: model.Cancel) -> RunEnded:
        """Do all steps; those are posted that are a new stage, or the first one for some time."""
        ended, posted, before = RunEnded(kind), 0.0, None
        try:
            for step in begin():
                ended.add(step)
                now, stage = time.monotonic(), (step.stage, step.searchable)
                if stage != before or now - posted >= STEP_SECONDS:
                    posted, before = now, stage
                    self._workers.post(RunStep(kind, step))
                cancel.check()
        except Exception as error:  # noqa: BLE001 - shown on screen
            ended.error = as_cm_error(error)
            self.reopen_failed_store()
        return ended

    def stop_run(self, kind: RunKind) -> None:
        """Ask a run to stop after the step it is at; what it did so far is kept."""
        if kind in self._runs:
            self._runs[kind].set()

    def stop_runs(self) -> None:
        """Ask all of them to stop."""
        for cancel in list(self._runs.values()):
            cancel.set()
