"""Many calls in a short time, one run after the last of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Debounce:
    """Runs work on a thread of its own once nobody has called for a while.

    Args:
        work: what is run; never by two threads at once.
        seconds: how long it must have been quiet.
        patience: the work is run at latest this long after the first call, however busy it is.
    """

    def __init__(self, work: Callable[[], None], seconds: float = 1.5, patience: float = 15.0) -> None:
        self._work = work
        self._seconds = seconds
        self._patience = patience
        self._changed = threading.Condition()
        self._first: float | None = None
        self._last = 0.0
        self._closed = False
        self._thread: threading.Thread | None = None

    def call(self) -> None:
        """Ask for a run."""
        with self._changed:
            if self._closed:
                return
            self._last = time.monotonic()
            self._first = self._first or self._last
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="cm-debounce", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self, patience: float = 5.0) -> None:
        """No more runs; one that is under way is waited for so many seconds."""
        with self._changed:
            self._closed = True
            thread = self._thread
            self._changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(patience)

    def _run(self) -> None:
        while self._wait():
            self._work()

    def _wait(self) -> bool:
        """Until a run is due; False when there will be none."""
        with self._changed:
            while not self._closed:
                if self._first is None:
                    self._thread = None
                    return False
                due = min(self._last + self._seconds, self._first + self._patience)
                left = due - time.monotonic()
                if left <= 0:
                    self._first = None
                    return True
                self._changed.wait(left)
            return False
