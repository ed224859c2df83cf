"""Writes down what the application remembers a moment after it changed, so that a killed one loses next to nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from cm_tui.tui.state.remembered import AppState, save_state

DELAY = 0.3
"""Seconds from a change until it is written; what changes meanwhile is written with it."""


class StateWriter:
    """Takes word of changes, and writes the state when it differs from what was written last.

    Args:
        root: the project's root folder.
        gather: brings the state up to date; called on the application's thread.
        set_timer: calls a function after some seconds, on the application's thread.
        off_thread: runs a function on a worker thread.
        failed: called with the error when a state could not be written, on the writing thread.
    """

    def __init__(
        self,
        root: Path,
        gather: Callable[[], AppState],
        set_timer: Callable[[float, Callable[[], None]], object],
        off_thread: Callable[[Callable[[], None]], None],
        failed: Callable[[OSError], None],
    ) -> None:
        self._root = root
        self._gather = gather
        self._set_timer = set_timer
        self._off_thread = off_thread
        self._failed = failed
        self._due = False
        self._next: AppState | None = None
        self._written: AppState | None = None
        self._lock = threading.Lock()

    def changed(self) -> None:
        """Something may have changed: write it soon."""
        if not self._due:
            self._due = True
            self._set_timer(DELAY, self._time_has_come)

    def _time_has_come(self) -> None:
        self._due = False
        self._take()
        self._off_thread(self._write)

    def flush(self) -> None:
        """Write at once, on this thread: the last chance before the end."""
        self._take()
        self._write()

    def _take(self) -> None:
        # A copy: the worker must not read what the application goes on to change.
        self._next = AppState(**asdict(self._gather()))

    def _write(self) -> None:
        """Write the newest state; of two workers the later one finds nothing left to do."""
        with self._lock:
            state, self._next = self._next, None
            if state is None or state == self._written:
                return
            try:
                save_state(self._root, state)
            except OSError as error:
                self._failed(error)
            else:
                self._written = state
