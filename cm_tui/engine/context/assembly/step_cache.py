"""Short-lived cache of results of steps; concurrent requests for the same result wait for the first one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any

from cm_tui.lru import LRU
from cm_tui.model import StepOutcome

MOST = 256
"""Most cached results."""


class StepCache:
    """Results by request; thread-safe.

    Args:
        seconds: lifetime of a result; 0: only shared by concurrent requests.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: LRU[Hashable, tuple[float, Any]] = LRU(MOST)
        self._pending: dict[Hashable, Future[Any]] = {}

    def get(self, key: Hashable, make: Callable[[], Any]) -> tuple[Any, StepOutcome]:
        """Return a result, and whether it is new, cached, or shared with another request.

        Raises:
            Exception: what `make` raises; it is not cached.
        """
        now = time.monotonic()
        with self._lock:
            found = self._kept.get(key)
            if found is not None and found[0] > now:
                return found[1], "cached"
            pending = self._pending.get(key)
            if pending is None:
                mine: Future[Any] = Future()
                self._pending[key] = mine
        if pending is not None:
            return pending.result(), "shared"
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                del self._pending[key]
            mine.set_exception(error)
            # There may be no waiter, and an unread exception must not be logged.
            mine.exception()
            raise
        with self._lock:
            del self._pending[key]
            if self._seconds > 0:
                self._kept.put(key, (time.monotonic() + self._seconds, value))
        mine.set_result(value)
        return value, "ok"

    def clear(self) -> None:
        """Forget every answer."""
        self._kept.clear()
