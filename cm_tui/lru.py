"""A mapping of bounded size that drops the least recently used entries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LRU(Generic[K, V]):
    """The entries that were used last. Safe to use from several threads.

    `most`: the total weight of its entries; a value that alone weighs more is not stored. `weigh`: weight of a value,
    which must not change while it is in here; default: 1.
    """

    def __init__(self, most: int, weigh: Callable[[V], int] = lambda _: 1) -> None:
        self._most = most
        self._weigh = weigh
        self._total = 0
        self._lock = threading.RLock()
        self._entries: dict[K, V] = {}
        """The least recently used first."""

    @property
    def left(self) -> int:
        """The weight that can be added without dropping an entry."""
        return self._most - self._total

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[K]:
        with self._lock:
            return iter(list(self._entries))

    def get(self, key: K) -> V | None:
        """Return a value, which counts as a use; None: missing."""
        with self._lock:
            if key not in self._entries:
                return None
            value = self._entries[key] = self._entries.pop(key)
            return value

    def put(self, key: K, value: V) -> list[tuple[K, V]]:
        """Set a value; return the entries that were dropped for it."""
        with self._lock:
            self.pop(key)
            dropped: list[tuple[K, V]] = []
            weight = self._weigh(value)
            if weight > self._most:
                return dropped
            while self._total + weight > self._most:
                oldest = next(iter(self._entries))
                dropped.append((oldest, self._entries[oldest]))
                self.pop(oldest)
            self._entries[key] = value
            self._total += weight
            return dropped

    def pop(self, key: K) -> V | None:
        """Remove an entry and return its value; None: missing."""
        with self._lock:
            if key not in self._entries:
                return None
            self._total -= self._weigh(self._entries[key])
            return self._entries.pop(key)

    def values(self) -> list[V]:
        """Return a copy of the values, the least recently used first."""
        with self._lock:
            return list(self._entries.values())

    def items(self) -> list[tuple[K, V]]:
        """Return a copy of the entries, the least recently used first."""
        with self._lock:
            return list(self._entries.items())

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._entries.clear()
            self._total = 0
