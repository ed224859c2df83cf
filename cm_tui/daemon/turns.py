"""Fair turns between clients: a limited number at once, and the client with the fewest goes next."""

from __future__ import annotations

import os
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AT_ONCE = max(2, min(8, (os.cpu_count() or 1) + 1))
"""Questions that are worked on at once; more would only take each other's processor."""


class Turns:
    """Turns of clients that ask at the same time.

    Each client has a queue of its own, and the queues are served in turn: a loop of one client, or fifty questions at
    once, cost another client one turn and no more. `at_once`: questions that are worked on at once.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = self._free = at_once
        self._lock = threading.Lock()
        self._rested = threading.Condition(self._lock)
        self._queues: OrderedDict[str, deque[threading.Event]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """Return how many questions wait."""
        with self._lock:
            return sum(map(len, self._queues.values()))

    def give_way(self, seconds: float) -> None:
        """Wait until no question is worked on, but no longer than so many seconds: for work that has time."""
        with self._rested:
            self._rested.wait_for(lambda: self._free == self._at_once, seconds)

    @contextmanager
    def take(self, client: str) -> Iterator[None]:
        """Hold a turn of a client; waits for it. `client`: its requests share one queue."""
        self._wait(client)
        try:
            yield
        finally:
            self._next()

    def _wait(self, client: str) -> None:
        turn = threading.Event()
        with self._lock:
            if self._free and not self._queues:
                self._free -= 1
                return
            self._queues.setdefault(client, deque()).append(turn)
        turn.wait()

    def _next(self) -> None:
        """Hand a turn on to the queue that has waited longest since it was served last."""
        with self._lock:
            if not self._queues:
                self._free += 1
                if self._free == self._at_once:
                    self._rested.notify_all()
                return
            client, queue = next(iter(self._queues.items()))
            turn = queue.popleft()
            if queue:
                self._queues.move_to_end(client)
            else:
                del self._queues[client]
        turn.set()


# --- questions that wait until a store reflects their checkout again: the index run waits for them ---

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
