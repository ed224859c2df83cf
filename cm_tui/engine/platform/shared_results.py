"""Results that concurrent identical requests share, and later ones for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Literal

from cm_tui.lru import LRU

_MOST_RESULTS = 256
"""Most cached results."""


class SharedResults:
    """Results by request; thread-safe.

    Args:
        seconds: lifetime of a result; 0: only shared by concurrent requests.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: LRU[Hashable, tuple[float, Any]] = LRU(_MOST_RESULTS)
        self._pending: dict[Hashable, Future[Any]] = {}

    def get(self, key: Hashable, make: Callable[[], Any]) -> tuple[Any, Literal["ok", "cached", "shared"]]:
        """Return a result, and whether it is new, cached, or shared with another request.

        Raises:
            BaseException: what `make` raises, to everybody who shares it; it is not cached.
        """
        with self._lock:
            if self._seconds > 0 and (found := self._kept.get(key)) and found[0] > time.monotonic():
                return found[1], "cached"
            pending = self._pending.get(key)
            if pending is None:
                mine = self._pending[key] = Future[Any]()
        if pending is not None:
            return pending.result(), "shared"
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                del self._pending[key]
            mine.set_exception(error)
            raise
        with self._lock:
            del self._pending[key]
            if self._seconds > 0:
                self._kept.put(key, (time.monotonic() + self._seconds, value))
        mine.set_result(value)
        return value, "ok"
