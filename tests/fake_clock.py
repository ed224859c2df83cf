"""A clock that a test moves: whoever sleeps or waits has slept at once, and no time passes otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable

from cm_tui.clock import Clock


class FakeClock(Clock):
    """Time that passes when somebody sleeps, or when the test says so.

    Args:
        at: seconds since the epoch at which it begins.
        on_sleep: called with the seconds of each sleep, once they are over.
    """

    def __init__(self, at: float = 1_700_000_000.0, on_sleep: Callable[[float], object] = lambda _: None) -> None:
        self._at = at
        self._passed = 0.0
        self._lock = threading.Lock()
        self.on_sleep = on_sleep

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._at + self._passed

    def monotonic(self) -> float:
        """Return seconds that only grow."""
        return self._passed

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._passed += seconds

    def sleep(self, seconds: float) -> None:
        """Let so much time pass, at once."""
        self.advance(seconds)
        self.on_sleep(seconds)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Return whether the event is set, and let so much time pass when it is not."""
        if not event.is_set():
            self.sleep(seconds)
        return event.is_set()
