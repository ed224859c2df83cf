"""The graph of a large index: loaded when it pays off, built in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from cm_tui.engine.search.vectors.array_file import UnusableFileError, attempt_to_save
from cm_tui.engine.search.vectors.hnsw import HnswIndex
from cm_tui.engine.search.vectors.live import Rows
from cm_tui.model import Cancel

_WORTH_LOADING = 2
"""Number of searches; a process with a single search is faster without the graph."""


class LazyGraph:
    """At most one graph, over the searched rows.

    `mark`: identifies the model; `min_rows`: number of rows from which a graph is used; `note`: called with messages on
    damaged or unsaved data.
    """

    def __init__(self, folder: Path, mark: str, min_rows: int, note: Callable[[str], None]) -> None:
        self._folder = folder
        self._mark = mark
        self._min_rows = min_rows
        self._note = note
        self._lock = threading.RLock()
        self._graph: HnswIndex | None = None
        self._searches = 0

    @property
    def is_loaded(self) -> bool:
        """True when searches use it."""
        return self._graph is not None

    def for_search(self, rows: Rows) -> HnswIndex | None:
        """Return the graph for one more search; None: compare the rows themselves."""
        self._searches += 1
        if self._graph is None and len(rows) >= self._min_rows and self._searches == _WORTH_LOADING:
            self._load(rows)
        return self._graph

    def keep_for(self, rows: Rows) -> None:
        """Drop the graph unless it covers these rows, which are searched from now on."""
        with self._lock:
            if self._graph is not None and not self._graph.covers(rows):
                self._graph = None

    def drop(self) -> None:
        """Drop the graph."""
        with self._lock:
            self._graph = None

    def build(self, rows: Rows, cancel: Cancel) -> Iterator[tuple[int, int]]:
        """Build and save the graph where there are rows enough and none that fits.

        Yields (done, total) rows. Raises CancelledError if `cancel` was set.
        """
        if len(rows) < self._min_rows:
            return
        self._load(rows)
        if self._graph is not None:
            return
        for done, total, graph in HnswIndex.build(rows, cancel):
            if graph is not None:
                self._graph = graph
                attempt_to_save("graph", partial(graph.save, self._folder, self._mark), self._note)
            yield done, total

    def _load(self, rows: Rows) -> None:
        with self._lock:
            if self._graph is not None:
                return
            try:
                graph = HnswIndex.load(self._folder, self._mark, rows.dimensions)
            except FileNotFoundError:
                return
            except UnusableFileError as error:
                self._note(f"The vector graph could not be used ({error}); it is built again in the background.")
                return
            self._graph = graph if graph.covers(rows) else None
