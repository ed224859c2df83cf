"""The way from screens to the engine, and back.

Work leaves as a request with an id and comes back as a message to the application. A screen never waits, never opens
a thread, and never sees the answer to a question that it has replaced by a newer one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump

from cm_tui import model
from cm_tui.errors import CmError
from cm_tui.tui.tasks.ask import Call, Engine, Fail, Then, as_cm_error
from cm_tui.tui.tasks.long_tasks import NOWHERE, Answer, DelayedRequests, LongTasks, Origin, RunEnded

# --- what other clients do: the daemon's events and jobs ---

Deliver = Callable[[Callable[[], None]], None]
"""Has a function called on the application's thread."""


def listen(engine: Engine, event: Callable[[dict[str, Any]], None], deliver: Deliver, stop: threading.Event) -> None:
    """Deliver the daemon's events until the end; returns at once for an engine that uses the store directly."""
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
    job: str, step: Callable[[str, model.Progress], None], end: Callable[[RunEnded], None], deliver: Deliver, stop: threading.Event
) -> None:  # fmt: skip
    """Deliver a job's steps and its end."""
    from cm_tui.daemon import subscribe

    ended = RunEnded("index", job=job)
    try:
        for progress in subscribe.watch(job):
            if stop.is_set():
                return
            ended.add(progress)
            deliver(partial(step, job, progress))
    except Exception as error:  # noqa: BLE001 - shown on screen
        ended.error = as_cm_error(error)
    deliver(partial(end, ended))


# --- the way from screens to the engine, and back ---

T = TypeVar("T")


@dataclass
class EngineOpened(Message):
    """The engine is ready."""

    again: bool
    """Its store was given up after a failed write, and opened once more."""


@dataclass
class EngineFailed(Message):
    """The engine could not be opened."""

    error: CmError


class Change(NamedTuple):
    """Something that a command asked for and that is not done yet: a change, or a question."""

    command: str
    once: str
    since: float
    """By the monotonic clock."""


class EngineTasks(LongTasks):
    """Runs what screens ask for on threads of its own, over an engine that is opened in the background.

    Args:
        target: the application, which gets every message.
        open_engine: opens the engine; called on a worker thread, as importing it takes longer than a frame.
        origin: gives where a request is made.
        changes_moved: called when a change begins or ends.
        commands_moved: called when anything that a command asked for begins or ends.
    """

    def __init__(
        self,
        target: MessagePump,
        open_engine: Callable[[], Engine],
        origin: Callable[[], Origin] = Origin,
        changes_moved: Callable[[], None] = lambda: None,
        commands_moved: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(target)
        self._origin = origin
        self._changes_moved = changes_moved
        self._commands_moved = commands_moved
        self._changes: dict[str, Change] = {}
        self._questions: dict[str, Change] = {}
        """Those that a command asked, by topic."""
        self._open_engine = open_engine
        self._ids = count(1)
        self._latest: dict[str, int] = {}
        self._waiting: list[Callable[[], None]] = []
        self._delays = DelayedRequests(target, self._send)

    # --- the engine ---

    def open(self, *, first: Callable[[], None] | None = None) -> None:
        """Open the engine, after something else where given; `EngineOpened` or `EngineFailed` follows."""
        self._workers.run_quick(partial(self._open, first))

    def _open(self, first: Callable[[], None] | None, *, again: bool = False) -> None:
        try:
            if first is not None:
                first()
            self.engine = self._open_engine()
        except Exception as error:  # noqa: BLE001 - whatever went wrong is shown, with its message
            self._workers.post(EngineFailed(as_cm_error(error)))
            return
        self._workers.post(EngineOpened(again))

    def reopen_failed_store(self) -> None:
        """Open a store again that answers nothing since a write failed; a daemon does that by itself."""
        with self._opening:
            engine = self.engine
            if engine is None or engine.uses_daemon or not engine.must_reopen:
                return
            self.engine = None
            engine.close()
            self._open(None, again=True)

    def _usable_engine(self) -> Engine | None:
        """Return the engine, once it is not being opened again."""
        with self._opening:
            return self.engine

    def start_waiting(self) -> None:
        """Send off what was asked before the engine was open."""
        waiting, self._waiting = self._waiting, []
        for submit in waiting:
            submit()

    # --- questions ---

    def ask(self, topic: str, call: Call[T], then: Then[T], fail: Fail, *, delay: float = 0.0) -> int:
        """Ask the engine something.

        A newer request of the same topic makes this one outdated: it is not started if it still waits, and its
        answer is dropped if it comes.

        Args:
            topic: what is asked, such as `search.preview`; unique to the asker.
            call: asks the engine; runs on a worker thread.
            then: gets the answer, on the thread of the application.
            fail: gets what went wrong, on the thread of the application.
            delay: seconds to wait for a newer request before this one leaves.

        Returns:
            The id of the request.
        """
        request, origin = self._newest(topic), self._origin()
        then, fail = self._reported(topic, then), self._reported(topic, fail)
        work = partial(self._answer, topic, request, call, then, fail, origin)
        self._note_question(topic, origin)
        if delay:
            self._delays.hold(topic, delay, work)
        else:
            self._delays.release(topic)
            self._send(work)
        return request

    def do(self, call: Call[T], then: Then[T], fail: Fail, *, once: str = "") -> None:
        """Have the engine make a change, after earlier ones: no later request replaces it.

        Args:
            call: has the engine do it; runs on a worker thread.
            then: gets the answer, on the thread of the application.
            fail: gets what went wrong, on the thread of the application.
            once: name of what must not be asked for again meanwhile; see `is_doing`.
        """
        topic = f"do {next(self._ids)}"
        request, origin = self._newest(topic), self._origin()
        self._changes[topic] = Change(origin.command, once, time.monotonic())

        def work() -> None:
            if (engine := self._usable_engine()) is not None:
                deliver = self._outcome(engine, call, then, fail)
                self._workers.post(Answer(topic, request, partial(self._delivered, topic, deliver), origin))

        self._send(work, self._workers.run_in_turn)
        self._changes_moved()

    def is_doing(self, once: str) -> bool:
        """Return whether a change of this name is asked for and not made yet."""
        return any(change.once == once for change in self._changes.values())

    @property
    def change_in_progress(self) -> Change | None:
        """Return the oldest change that is not made yet."""
        return next(iter(self._changes.values()), None)

    @property
    def command_in_progress(self) -> Change | None:
        """Return the oldest change that is not made yet, else the oldest question of a command without an answer."""
        return self.change_in_progress or next(iter(self._questions.values()), None)

    def _note_question(self, topic: str, origin: Origin) -> None:
        if origin.command:
            self._questions[topic] = Change(origin.command, "", time.monotonic())
            self._commands_moved()

    def _reported(self, topic: str, deliver: Callable[[T], None]) -> Callable[[T], None]:
        """Return a function that takes the latest answer, and ends its question first."""

        def taken(answer: T) -> None:
            if self._questions.pop(topic, None) is not None:
                self._commands_moved()
            deliver(answer)

        return taken

    def _delivered(self, topic: str, deliver: Callable[[], None]) -> None:
        self.drop(topic)
        self._changes.pop(topic, None)
        self._changes_moved()
        deliver()

    def work(self, call: Callable[[], T], then: Then[T], *, topic: str) -> None:
        """Run something slow that does not need the engine, such as highlighting.

        Nothing is expected to fail here: what does ends the application with a traceback in its log.
        """
        request, origin = self._newest(topic), self._origin()
        then = self._reported(topic, then)
        self._note_question(topic, origin)

        def run() -> None:
            if self.is_latest(topic, request):
                # What the application asks of itself, such as about a repository's settings, shows up anywhere.
                asked = origin if origin.command else NOWHERE
                self._workers.post(Answer(topic, request, partial(then, call()), asked))

        self._workers.run_quick(run)

    def attempt(self, call: Callable[[], T], then: Then[T], fail: Fail, *, topic: str) -> None:
        """Run something slow that does not need the engine; `fail` gets a `CmError` that it raises."""

        def run() -> Callable[[], None]:
            try:
                return partial(then, call())
            except CmError as error:
                return partial(fail, error)

        self.work(run, lambda deliver: deliver(), topic=topic)

    def drop(self, topic: str) -> None:
        """Drop a request: its answer is outdated."""
        self._delays.release(topic)
        self._latest.pop(topic, None)
        self._questions.pop(topic, None)

    def is_latest(self, topic: str, request: int) -> bool:
        """True while no newer request of the topic was made."""
        return self._latest.get(topic) == request

    def _newest(self, topic: str) -> int:
        # A command's question stays until the newest answer: what the application asks by itself answers it, too.
        request = self._latest[topic] = next(self._ids)
        return request

    def _send(self, work: Callable[[], None], run: Callable[[Callable[[], None]], None] | None = None) -> None:
        run = run or self._workers.run_quick
        if self.engine is None:
            self._waiting.append(partial(run, work))
        else:
            run(work)

    def _answer(self, topic: str, request: int, call: Call[T], then: Then[T], fail: Fail, origin: Origin) -> None:
        if not self.is_latest(topic, request) or (engine := self._usable_engine()) is None:
            return
        deliver = self._outcome(engine, call, then, fail)
        if self.is_latest(topic, request):
            self._workers.post(Answer(topic, request, deliver, origin))

    def _outcome(self, engine: Engine, call: Call[T], then: Then[T], fail: Fail) -> Callable[[], None]:
        """Ask, and return what hands over the answer, or what went wrong."""
        try:
            return partial(then, call(engine))
        except Exception as error:  # noqa: BLE001 - shown where the user looks
            self.reopen_failed_store()
            return partial(fail, as_cm_error(error))

    # --- other clients ---

    def listen(self, event: Callable[[dict[str, Any]], None]) -> None:
        """Hear of what happens in the daemon, where the engine goes through one."""
        if self.engine is not None:
            self._workers.run_beside(partial(listen, self.engine, event, self._workers.deliver, self._workers.stopped))

    def follow(self, job: str, step: Callable[[str, model.Progress], None], end: Callable[[RunEnded], None]) -> None:
        """Follow another client's job."""
        self._workers.run_beside(partial(follow, job, step, end, self._workers.deliver, self._workers.stopped))

    # --- the end ---

    async def settled(self) -> None:
        """Wait until nothing is running; what is delayed leaves as soon as nothing is (for tests and pictures)."""
        # Several finished tasks may delay the same request, which is then made once, as with its delay.
        while await self._workers.one_done() or self._delays.waiting:
            if not self._workers.running():
                self.hurry()

    def hurry(self) -> None:
        """Have everything that is delayed leave at once (for tests and pictures)."""
        self._delays.send_all()

    @property
    def busy(self) -> bool:
        """True while anything is running, or is delayed."""
        return bool(self._workers.running() or self._delays.waiting)

    def stop(self) -> None:
        """Take no more work, forget what waits, and ask what runs to stop; returns at once."""
        self._workers.stop()
        self._latest.clear()
        self._changes.clear()
        self._questions.clear()
        self._waiting.clear()
        self._delays.release_all()
        self.stop_runs()

    def close(self) -> None:
        """Stop, wait for the current step, and close the store."""
        self.stop()
        self._workers.close()
        if self.engine is not None:
            self.engine.close()
