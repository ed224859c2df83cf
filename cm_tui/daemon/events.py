"""Events of the daemon for its listeners; a slow listener loses the oldest."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

HEARTBEAT_S = 0.25
"""Longest pause between two events for a listener, so that each side notices when the other is lost."""

_KEPT = 512


class Notifier:
    """Wakes tasks of an event loop from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def notify(self) -> None:
        """Wake the waiting task."""
        try:
            self._loop.call_soon_threadsafe(self._event.set)
        except RuntimeError:
            # The loop has ended, and the task with it.
            return

    async def wait(self, seconds: float) -> None:
        """Wait for a notification, at most this long."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return
        self._event.clear()


class _Listener:
    def __init__(self) -> None:
        self.notifier = Notifier()
        self.waiting: deque[dict[str, Any]] = deque(maxlen=_KEPT)
        self.lost = 0


class Events:
    """Publishes events to any number of listeners; a slow one loses the oldest, and is notified."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: set[_Listener] = set()
        self._closed = False

    def publish(self, event: str, **facts: Any) -> None:
        """Tell everybody; from any thread."""
        record = {"event": event, "at": time.time(), **facts}
        with self._lock:
            for listener in self._listeners:
                listener.lost += len(listener.waiting) == _KEPT
                listener.waiting.append(record)
                listener.notifier.notify()

    def close(self) -> None:
        """No more will come: every listener ends."""
        with self._lock:
            self._closed = True
            for listener in self._listeners:
                listener.notifier.notify()

    @property
    def listeners(self) -> int:
        """Return how many listen."""
        return len(self._listeners)

    async def listen(self) -> AsyncIterator[dict[str, Any] | None]:
        """Events as they come; None when there was none for a while."""
        with self._listening() as listener:
            while not self._closed:
                await listener.notifier.wait(HEARTBEAT_S)
                for record in self._drain(listener):
                    yield record
                yield None

    def _drain(self, listener: _Listener) -> list[dict[str, Any]]:
        with self._lock:
            records: list[dict[str, Any]] = list(listener.waiting)
            if listener.lost:
                records.insert(0, {"event": "lost", "at": time.time(), "count": listener.lost})
            listener.waiting.clear()
            listener.lost = 0
        return records

    @contextmanager
    def _listening(self) -> Iterator[_Listener]:
        listener = _Listener()
        with self._lock:
            self._listeners.add(listener)
        try:
            yield listener
        finally:
            with self._lock:
                self._listeners.discard(listener)
