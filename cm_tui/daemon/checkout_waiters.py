"""Questions that wait until a store reflects their checkout again: the index run that brings it there waits for them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LINGER_S = 5.0
"""How long a run that is done keeps the store for those who waited for it."""


class CheckoutWaiters:
    """Who waits for which checkout.

    Without it, another checkout that waits for the same store could take it between the end of a run and the question that
    the run was for, and two that ask in turn could do that for ever.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: Counter[Path] = Counter()

    @contextmanager
    def waiting(self, root: Path) -> Iterator[None]:
        """Wait for a run of a checkout, and acquire its store, in this block."""
        with self._changed:
            self._waiting[root] += 1
        try:
            yield
        finally:
            with self._changed:
                self._waiting[root] -= 1
                if not self._waiting[root]:
                    del self._waiting[root]
                self._changed.notify_all()

    def await_waiters(self, root: Path) -> None:
        """Wait, but not long, until those who waited for a run have the store; called by the run, which has it still."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting[root], LINGER_S)
