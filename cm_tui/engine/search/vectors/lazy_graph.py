"""The graph of a large index: loaded when it pays off, built in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.embed.provider import Matrix
from cm_tui.engine.search.vectors.array_file import (
    UnusableFileError,
    attempt_to_save,
    checksum_of,
    load_arrays,
    save_arrays,
)
from cm_tui.engine.search.vectors.codec import unpack
from cm_tui.engine.search.vectors.live import Ids, Keys, Rows
from cm_tui.files import remove_left_overs, replacing
from cm_tui.model import Cancel

# --- a navigable small-world graph (hnswlib) over the vectors of a large index ---

# Measured on 100,000 vectors of code: 0.996 of the true first 50 and 0.98 of the first 200 at 0.5 ms a query.
LINKS = 16  # M
BUILD_WIDTH = 100  # ef_construction; 200 takes twice as long for +0.002
SEARCH_WIDTH = 400  # ef, or twice the number of results if that is more
BATCH = 5_000

GRAPH = "vectors.hnsw"
ROWS = "vectors.hnsw.rows"


class HnswIndex:
    """A graph over the rows that existed when it was built.

    Rows removed since are marked deleted in it; later rows are compared one by one.
    """

    def __init__(self, index: Any, ids: Ids, keys: Keys) -> None:
        self._index = index
        self._order = np.argsort(ids)
        self.ids = ids[self._order]
        self.keys = keys[self._order]
        self._dead = np.zeros(len(ids), dtype=bool)
        self._known: tuple[Rows, NDArray[np.int64]] | None = None
        self._lock = threading.Lock()

    @classmethod
    def build(cls, rows: Rows, cancel: Cancel) -> Iterator[tuple[int, int, HnswIndex | None]]:
        """Insert every row, a batch at a time; the last step carries the graph."""
        import hnswlib

        rows = rows.compact()
        total = len(rows)
        index = hnswlib.Index("ip", rows.dimensions)
        index.init_index(total, M=LINKS, ef_construction=BUILD_WIDTH)
        for start in range(0, total, BATCH):
            cancel.check()
            index.add_items(unpack(rows.codes[start : start + BATCH]), rows.ids[start : start + BATCH])
            yield min(start + BATCH, total), total, None
        yield total, total, cls(index, rows.ids, rows.keys)

    @classmethod
    def load(cls, folder: Path, mark: str, dimensions: int) -> HnswIndex:
        """Read a graph.

        Raises FileNotFoundError: no file; UnusableFileError if it is damaged, or of other vectors.
        """
        import hnswlib

        header, arrays = load_arrays(folder / ROWS)
        checksum = checksum_of(folder / GRAPH)
        if header.get("mark") != mark:
            raise UnusableFileError("it belongs to another model")
        # hnswlib does not validate its input, so the bytes are checked first.
        if checksum != header.get("graph"):
            raise UnusableFileError("its checksum is wrong")
        index = hnswlib.Index("ip", dimensions)
        try:
            index.load_index(str(folder / GRAPH))
        except RuntimeError as error:
            raise UnusableFileError(str(error)) from error
        return cls(index, arrays["ids"], arrays["keys"])

    def save(self, folder: Path, mark: str) -> None:
        """Write the graph and, last, the rows that it covers.

        Raises OSError if the disk is full or the folder cannot be written.
        """
        remove_left_overs(folder / GRAPH)
        with replacing(folder / GRAPH, durable=True) as temporary:
            self._index.save_index(str(temporary))
        header = {"mark": mark, "graph": checksum_of(folder / GRAPH)}
        save_arrays(folder / ROWS, header, {"ids": self.ids, "keys": self.keys})

    def covers(self, rows: Rows) -> bool:
        """Return whether it is still useful: at most a tenth of the rows changed since it was built."""
        beside = self._ungraphed(rows)
        return len(beside) + int(np.count_nonzero(self._dead)) <= 0.1 * max(len(rows), 1)

    def nearest(self, rows: Rows, vectors: Matrix, k: int) -> tuple[Ids, Matrix] | None:
        """The k nearest rows by the graph, and by comparison of later ones; None: it finds too few."""
        beside = self._ungraphed(rows)
        wanted = min(k, len(self.ids) - int(np.count_nonzero(self._dead)))
        with self._lock:
            self._index.set_ef(max(SEARCH_WIDTH, 2 * k))
        try:
            labels, _ = self._index.knn_query(np.atleast_2d(vectors), k=wanted, num_threads=1)
        except RuntimeError:
            # Deleted rows can leave it short of answers; comparing every row always finds them.
            return None
        found = rows.positions(np.unique(labels).astype(np.int64))
        return rows.nearest(vectors, k, np.concatenate([found[found >= 0], beside]))

    def _ungraphed(self, rows: Rows) -> NDArray[np.int64]:
        """Positions of live rows missing in the graph; also marks removed rows in it."""
        known = self._known
        if known is not None and known[0] is rows:
            return known[1]
        with self._lock:
            at = np.minimum(np.searchsorted(self.ids, rows.ids), len(self.ids) - 1)
            inside = (self.ids[at] == rows.ids) & (self.keys[at] == rows.keys)
            alive = np.ones(len(rows.ids), dtype=bool) if rows.alive is None else rows.alive
            gone = np.ones(len(self.ids), dtype=bool)
            gone[at[inside & alive]] = False
            for label in self.ids[gone & ~self._dead]:
                self._index.mark_deleted(int(label))
            for label in self.ids[self._dead & ~gone]:
                self._index.unmark_deleted(int(label))
            self._dead = gone
            beside = np.flatnonzero(alive & ~inside)
            self._known = (rows, beside)
            return beside


# --- the graph of a large index ---

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
                self._note(f"The vector graph could not be used ({error}); it is being rebuilt in the background.")
                return
            self._graph = graph if graph.covers(rows) else None
