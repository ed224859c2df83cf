"""Requests that wait a moment for a newer one before they leave."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.timer import Timer


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
