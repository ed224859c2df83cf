"""Time, as components that wait or measure it see it: the system's, unless a test passes another one."""

from __future__ import annotations

import threading
import time


class Clock:
    """The system's time."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that only grow, from no particular beginning."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Do nothing for so many seconds."""
        time.sleep(seconds)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for an event, but no longer than so many seconds; returns whether it is set."""
        return event.wait(seconds)


SYSTEM = Clock()
"""The clock of everything that is given no other."""
