"""Threads that do work, and the way back from them: a message to the application."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.message import Message

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.screen import Screen
    from textual.timer import Timer


class Origin(NamedTuple):
    """Where a request was made."""

    screen: Screen[Any] | None = None
    command: str = ""
    """Label of the command that made it; empty where none did."""


NOWHERE = Origin()


class Answer(Message):
    """The result of a request; `deliver` passes the value to the caller."""

    def __init__(self, topic: str, request: int, deliver: Callable[[], None], origin: Origin = NOWHERE) -> None:
        super().__init__()
        self.topic = topic
        self.request = request
        self.deliver = deliver
        self.origin = origin


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

    def follow(self, future: Future[None]) -> None:
        """Count a future as running until it is done; an uncaught error ends the application."""
        with self._lock:
            self._running.add(future)
        future.add_done_callback(self._finished)

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
            self.follow(pool.submit(work))

    def _finished(self, future: Future[None]) -> None:
        with self._lock:
            self._running.discard(future)
        if not future.cancelled() and (error := future.exception()) is not None:
            self.post(Answer("", 0, partial(_raise, error)))


def _raise(error: BaseException) -> None:
    raise error


class DelayedRequests:
    """At most one request of each topic waits; a newer one takes its place.

    Args:
        target: whose timers are used.
        send: sends a request after its delay.
        follow: called for each waiting request, with a future that is done when the wait ends.
    """

    def __init__(
        self,
        target: MessagePump,
        send: Callable[[Callable[[], None]], None],
        follow: Callable[[Future[None]], None],
    ) -> None:
        self._target = target
        self._send = send
        self._follow = follow
        self._held: dict[str, tuple[Timer, Future[None], Callable[[], None]]] = {}

    def hold(self, topic: str, seconds: float, work: Callable[[], None]) -> None:
        """Send work off later, unless a newer request of the topic comes first."""
        self.release(topic)
        held: Future[None] = Future()
        self._follow(held)

        def leave() -> None:
            # A timer that fired is heard of later, even if it was stopped meanwhile for a newer request.
            if not held.done():
                self._send(work)
                self.release(topic)

        self._held[topic] = (self._target.set_timer(seconds, leave), held, work)

    def release(self, topic: str) -> None:
        """Forget a request that did not leave yet."""
        if topic in self._held:
            timer, held, _ = self._held.pop(topic)
            timer.stop()
            held.set_result(None)

    def send_all(self) -> None:
        """Send off everything that waits."""
        for topic, (_, held, work) in list(self._held.items()):
            if not held.done():
                self._send(work)
            self.release(topic)

    def release_all(self) -> None:
        """Forget everything that waits."""
        for topic in list(self._held):
            self.release(topic)
