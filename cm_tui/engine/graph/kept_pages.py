"""Cached pages of edges of one state of the code."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

from cm_tui.model import Edge, Page, SymbolKey

MOST_EDGES = 20_000
"""Most cached pages: some 500 bytes each."""


class PageKey(NamedTuple):
    """A question about a symbol's edges, without the lines of their sites."""

    symbol: SymbolKey
    direction: str
    depth: int
    kinds: tuple[str, ...]


class KeptPages:
    """The last used pages. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pages: OrderedDict[PageKey, Page[Edge]] = OrderedDict()
        self._edges = 0

    def get(self, key: PageKey) -> Page[Edge] | None:
        """Return a cached page."""
        with self._lock:
            if key in self._pages:
                self._pages.move_to_end(key)
            return self._pages.get(key)

    def put(self, key: PageKey, page: Page[Edge]) -> None:
        """Cache a page, and drop those unused for the longest time."""
        with self._lock:
            if key in self._pages or len(page.rows) > MOST_EDGES:
                return
            self._pages[key] = page
            self._edges += _weight(page)
            while self._edges > MOST_EDGES:
                _, gone = self._pages.popitem(last=False)
                self._edges -= _weight(gone)


def _weight(page: Page[Edge]) -> int:
    # A page without edges takes room as well.
    return len(page.rows) + 1
