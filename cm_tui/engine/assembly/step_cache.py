"""Answers to steps for a short time; who asks the same at the same time waits for the one that is on its way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any

from cm_tui.lru import LRU
from cm_tui.model import StepOutcome

MOST = 256
"""Answers that are kept."""


class StepCache:
    """Answers by what was asked; used from any thread.

    Args:
        seconds: how long one counts; 0: only for those who ask at the same time.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: LRU[Hashable, tuple[float, Any]] = LRU(MOST)
        self._pending: dict[Hashable, Future[Any]] = {}

    def get(self, key: Hashable, make: Callable[[], Any]) -> tuple[Any, StepOutcome]:
        """Return an answer, and whether it was made now, is of a moment ago, or was made for somebody else.

        Raises:
            Exception: what `make` raises; it is kept for nobody.
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
            # Nobody may be waiting, and an exception that nobody looks at is no news.
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
