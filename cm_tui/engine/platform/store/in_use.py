"""Calls into a database in progress: it is closed between calls, never during one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cm_tui.errors import StoreError

_LONGEST_S = 60.0


class InUse:
    """Counts calls. Closing a connection in use by another thread crashes the process."""

    def __init__(self) -> None:
        self._left = threading.Condition()
        self._inside = 0
        self._closed = False
        self._own = threading.local()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Hold it open for a block; nested ones join the outer one. Raises StoreError if it was closed."""
        depth = getattr(self._own, "depth", 0)
        counted = False
        try:
            if not depth:
                with self._left:
                    if self._closed:
                        raise StoreError("The index was closed during the request.", hint="Repeat it.")
                    self._inside += 1
                    counted = True
            self._own.depth = depth + 1
            yield
        finally:
            self._own.depth = depth
            if counted:
                with self._left:
                    self._inside -= 1
                    if self._closed:
                        self._left.notify_all()

    def close(self) -> None:
        """Reject new users, and wait until all others are done, within a time limit."""
        with self._left:
            self._closed = True
            own = 1 if getattr(self._own, "depth", 0) else 0
            self._left.wait_for(lambda: self._inside <= own, _LONGEST_S)
