"""Vectors of a project's passages: compute, sync with the store, save and search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from cm_tui.engine.platform.store import memory
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.bundled import BundledProvider
from cm_tui.engine.search.embed.prose_process import ProseProcesses
from cm_tui.engine.search.embed.provider import Matrix, NoProvider, Provider
from cm_tui.engine.search.vectors import cache
from cm_tui.engine.search.vectors.array_file import attempt_to_save
from cm_tui.engine.search.vectors.cache import Scope
from cm_tui.engine.search.vectors.codec import PATH_WEIGHT, unpack
from cm_tui.engine.search.vectors.embedder import Embedder
from cm_tui.engine.search.vectors.lazy_graph import LazyGraph
from cm_tui.engine.search.vectors.live import Ids, Rows
from cm_tui.engine.search.vectors.snapshot import FILE, differences, read_rows, write_rows
from cm_tui.files import stamp_of
from cm_tui.model import Cancel


@dataclass(frozen=True, slots=True)
class FrozenVectors:
    """Rows that stay unchanged while others are embedded."""

    rows: Rows
    graph: LazyGraph
    """Used where it covers the rows."""
    provider: Provider
    """The model that made them."""
    note: Callable[[str], None]
    """Called with messages for the user."""

    def search(self, vectors: Matrix, k: int) -> tuple[Ids, Matrix]:
        """As `VectorIndex.search`."""
        rows, dimensions = self.rows, vectors.shape[-1]
        if len(rows) and dimensions != rows.dimensions:
            self.note(
                f"The model now gives {dimensions} dimensions, the stored vectors have {rows.dimensions}: "
                "they cannot be compared. Set embedding.dimensions, or run `cm rebuild`."
            )
        elif len(rows) and k > 0 and vectors.any():
            return self._nearest(vectors, k)
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)

    def vectors_for(self, ids: Ids | Sequence[int]) -> Matrix:
        """As `VectorIndex.vectors_for`."""
        rows = self.rows
        at = rows.positions(np.asarray(ids, dtype=np.int64))
        if not len(rows.ids):
            return np.zeros((len(at), self.provider.dimensions), dtype=np.float32)
        return np.where((at >= 0)[:, None], unpack(rows.codes[at]), np.float32(0))

    def _nearest(self, vectors: Matrix, k: int) -> tuple[Ids, Matrix]:
        graph = self.graph.for_search(self.rows)
        found = graph.nearest(self.rows, vectors, k) if graph else None
        return found or self.rows.nearest(vectors, k)


_MANY = 1_000
_AT_ONCE = 2_000
"""Passages of prose that are looked up at once: half a minute's work."""
_ROWS_AT_ONCE = 20_000
"""Rows that are read from the store at once: some 0.5 kB each as objects."""
GRAPH_ROWS = 200_000
"""From here on a graph is used. Comparing all of 100,000 × 256 takes 4 ms, the graph's answer 0.6 ms."""

SAVE_SHARE = 0.02
"""The file is written again once this share of the rows is not in it; the rest is caught up from the store."""

State = Literal["graph", "exact", "none"]


class VectorIndex:
    """Vectors of one project's passages.

    The store's table `embedding` is permanent; the matrix in memory, its file and the graph are derived from it and
    repaired from it if they do not match. Searches run in any thread, also while `fill` runs in another. `provider`:
    the model; its fingerprint selects the stored vectors. `entries`: number of cached vectors without a passage.
    `path_weight`: share of the path's words. `graph_rows`: number of rows from which a graph is used. `scope`: whose
    passages get vectors. `beside`: fingerprints of other models, for other passages of the store.
    """

    def __init__(
        self,
        db: Database,
        folder: Path,
        provider: Provider,
        *,
        entries: int = 50_000,
        path_weight: float = PATH_WEIGHT,
        graph_rows: int = GRAPH_ROWS,
        scope: Scope = "all",
        beside: Sequence[str] = (),
    ) -> None:
        self._db = db
        self._folder = folder
        self._provider = provider
        self._entries = entries
        self._scope: Scope = scope
        self._models = (provider.fingerprint, *beside)
        self._embedder = Embedder(db, provider, path_weight)
        self._mark = f"{provider.fingerprint}|path {path_weight}"
        self._lock = threading.RLock()
        self._rows = Rows.empty()
        self._unsaved = 0
        self._counted = (-1, 0)
        """A generation, and how many passages it has: every query asks."""
        self._stamp: object = None
        self._stale = ""
        self.notes: list[str] = []
        """Messages on damaged or stale data and repairs."""
        self._graph = LazyGraph(folder, self._mark, graph_rows, self._note)
        if not isinstance(provider, NoProvider):
            self._open()

    # --- state ---

    @property
    def state(self) -> State:
        """How vectors are searched now."""
        if not len(self._rows):
            return "none"
        return "graph" if self._graph.is_loaded else "exact"

    @property
    def has_model(self) -> bool:
        """Return whether there is a model; without one no passage gets a vector."""
        return not isinstance(self._provider, NoProvider)

    def coverage(self) -> tuple[int, int]:
        """Return how many passages have a vector of the current model, of how many."""
        with self._db.reading() as number:
            counted = self._counted
            if counted[0] != number or self._db.is_writing:
                counted = number, cache.total(self._db, self._scope)
                if not self._db.is_writing:
                    # What a transaction has written may never be committed.
                    self._counted = counted
        total = counted[1]
        # Until the next refresh there may be rows of just removed passages.
        return min(len(self._rows), total), total

    # --- search ---

    def search(self, vectors: Matrix, k: int) -> tuple[Ids, Matrix]:
        """Return the k passages nearest to a unit vector, or to any of several, best first, equal ones by id.

        `vectors`: (dimensions,) or (n, dimensions), such as from the provider's `embed_query`; `k`: the most to return.
        Returns ids (m,) and cosines (m,), m ≤ k; empty for zero vectors.
        """
        return self.frozen().search(vectors, k)

    def frozen(self) -> FrozenVectors:
        """Return the current vectors, for a query that reads them more than once."""
        return FrozenVectors(self._rows, self._graph, self._provider, self._note)

    def vectors_for(self, ids: Ids | Sequence[int]) -> Matrix:
        """Return unit rows of passages (n, dimensions); zeros for those without a vector."""
        return self.frozen().vectors_for(ids)

    # --- keeping in step ---

    def refresh(self) -> int:
        """Update the rows from the store: drop removed passages, add those whose vector is stored.

        Returns how many passages still have to be embedded.
        """
        return self._refresh(0)[2]

    def prepare(self, texts: Sequence[str]) -> None:
        """Begin to embed the texts of the next `fill`, if that is most of a project's first index."""
        if isinstance(self._provider, BundledProvider) and not len(self._rows):
            self._provider.prepare(texts)

    def unstored(self, waiting: frozenset[str], most: int) -> dict[str, str]:
        """Return texts whose vectors are not stored, by name.

        `waiting`: names of texts that are being embedded already; `most`: at most so many.
        """
        missing = cache.needed(self._db, self._refresh()[1]).outside(waiting)[:most]
        return dict(islice(self._embedder.unstored(missing).items(), most))

    def fill(self, cancel: Cancel | None = None, waiting: frozenset[str] = frozenset()) -> Iterator[tuple[int, int]]:
        """Embed the passages without a vector in committed batches; stored ones are never lost.

        Args:
            cancel: ends it after a batch.
            waiting: names of texts that are being embedded already; their passages are skipped.

        Yields:
            (done, total) passages with a vector; first the initial state.

        Raises:
            ModelError: the model cannot be used; keyword search does not need it.
            CancelledError: `cancel` was set; the batches so far are kept and searchable.
        """
        if isinstance(self._provider, NoProvider):
            return
        self._mend_file()
        self._provider.check()
        before = left = -1
        while left:
            left = yield from self._fill_some(cancel or Cancel(), waiting)
            if left == before:
                # If it is missing after embedding, it will be missing the next time, too.
                break
            before = left
        if self._stale in self.notes:
            self.notes.remove(self._stale)

    def _fill_some(self, cancel: Cancel, waiting: frozenset[str]) -> Generator[tuple[int, int], None, int]:
        """Embed all passages of code, or some of prose; returns how many are left."""
        # A long import has a hundred thousand: their data at once takes more memory than their vectors.
        changed, missing, left = self._refresh(_AT_ONCE if self._scope == "prose" else None)
        if waiting:
            missing = cache.needed(self._db, missing).outside(waiting).ids
            left = len(missing)
        if self._scope == "prose":
            # It takes a while: the latest passages are needed first.
            missing = missing[::-1]
            memory.release_memory()
        done = len(self._rows)
        total = done + left
        yield done, total
        first = 0  # of the embedded passages that are not searchable yet
        last = 0
        try:
            for batch, texts in self._texts_of(missing):
                cancel.check()
                if isinstance(self._provider, ProseProcesses):
                    self._provider.left = left - last
                self._embedder.embed(texts)
                last += batch
                # Rows are copied as they grow: in steps of a quarter, that adds up to little.
                if last - first >= 0.25 * len(self._rows):
                    self._publish(missing[first:last])
                    first = last
                yield done + last, total
        finally:
            if isinstance(self._provider, BundledProvider):
                self._provider.forget_prepared()
            self._publish(missing[first:last])
            if (changed or last) and last == left:
                cache.expire(self._db, self._models, self._entries)
            self._save_if_due()
            if last > _MANY or (last and self._scope == "prose"):
                # All these texts were read once.
                self._db.release_blocks()
        return left - last

    def _texts_of(self, ids: Ids) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the missing texts of some passages at a time, with the number of passages; the next are read ahead."""
        ahead: tuple[int, dict[str, str]] | None = None
        first = 0
        while first < len(ids):
            batch = ids[first : first + self._provider.batch]
            first += len(batch)
            texts = self._embedder.unstored(cache.needed(self._db, batch))
            if ahead is not None:
                texts = {name: text for name, text in texts.items() if name not in ahead[1]}
            if isinstance(self._provider, BundledProvider):
                self._provider.prepare_more(list(texts.values()))
            if ahead is not None:
                yield ahead
            ahead = len(batch), texts
        if ahead is not None:
            yield ahead

    def build_graph(self, cancel: Cancel | None = None) -> Iterator[tuple[int, int]]:
        """Build and save the graph if the index is large enough and has no valid one; 7 s for 100,000 rows.

        For background use: searches are exact meanwhile. Raises CancelledError if `cancel` was set.
        """
        yield from self._graph.build(self._rows, cancel or Cancel())

    def verify(self) -> tuple[str, ...]:
        """Compare every row completely with the store, and repair differences.

        Returns a description of the problems; empty: none.
        """
        with self._lock:
            problems = differences(self._db, self._embedder, self._rows.compact())
            if problems:
                self._rows = Rows.empty()
                self._graph.drop()
                self._refresh(0)
                self.save()
            return tuple(problems)

    def _refresh(self, most: int | None = None) -> tuple[bool, Ids, int]:
        """Return whether anything changed, passages to embed, and the total number of those.

        `most`: the most passages to return, the newest first.
        """
        with self._lock:
            ids, keys = cache.live_keys(self._db, self._scope)
            rows = self._rows
            at = rows.positions(ids)
            here = at >= 0
            here[here] = rows.keys[at[here]] == keys[here]
            dead = np.ones(len(rows.ids), dtype=bool) if rows.alive is None else rows.alive.copy()
            dead[at[here]] = False
            absent = np.sort(ids[~here])
            known = absent[np.isin(absent, cache.with_vector(self._db, self._scope, self._provider.fingerprint))]
            if dead.any():
                rows = rows.without(dead)
            changes = int(np.count_nonzero(dead))
            rows, found = self._extended(rows, known)
            self._use(rows, changes + len(found))
            left = absent[~np.isin(absent, found)]
            chosen = left if most is None else left[len(left) - min(most, len(left)) :]
            return changes + len(found) > 0, chosen, len(left)

    def _extended(self, rows: Rows, ids: Ids) -> tuple[Rows, Ids]:
        """Add the passages whose parts have been stored; return their ids, too."""
        found = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(ids), _ROWS_AT_ONCE):
            new = cache.needed(self._db, ids[start : start + _ROWS_AT_ONCE])
            codes, have = self._embedder.stored(new)
            if have.any():
                rows = rows.extended(new.ids[have], new.keys[have], codes)
                found.append(new.ids[have])
        return rows, np.concatenate(found)

    def _publish(self, embedded: Ids) -> None:
        """Make passages searchable whose parts have been stored."""
        with self._lock:
            # A refresh in another thread may have added some of them already.
            rows, found = self._extended(self._rows, embedded[self._rows.positions(embedded) < 0])
            self._use(rows, len(found))
        if len(found) > _ROWS_AT_ONCE:
            self._db.release_blocks()

    def _use(self, rows: Rows, changes: int) -> None:
        if changes:
            self._rows = rows
            self._unsaved += changes
            self._graph.keep_for(rows)

    # --- files ---

    def _open(self) -> None:
        generation = self._db.get_meta("passage_generation")
        total = cache.total(self._db, self._scope)
        saved = read_rows(self._folder, self._mark)
        self._rows = saved.rows
        self._stamp = stamp_of(self._folder / FILE)
        if saved.damage:
            self._note(f"{saved.damage}; the vectors were taken from the store instead.")
        if generation is None or saved.generation != generation or len(self._rows) != total:
            self._refresh(0)
        if saved.other and len(self._rows) < total:
            self._stale = (
                f"The vectors are of {saved.other}, the configuration asks for {self._mark}: "
                "the next index run recreates them; until then search is by keyword."
            )
            self._note(self._stale)
        self._save_if_due()

    def _mend_file(self) -> None:
        """Write the file again if another process changed it since and it is incomplete."""
        with self._lock:
            if (
                len(self._rows)
                and self._stamp != stamp_of(self._folder / FILE)
                and read_rows(self._folder, self._mark).damage
            ):
                self.save()
            self._stamp = stamp_of(self._folder / FILE)

    def _save_if_due(self) -> None:
        with self._lock:
            fresh = bool(len(self._rows)) and not (self._folder / FILE).exists()
            if fresh or self._unsaved > SAVE_SHARE * len(self._rows):
                self.save()

    def save(self) -> None:
        """Write the rows to their file; a failure is noted, as the file can be rebuilt from the store."""
        with self._lock:
            rows = self._rows = self._rows.compact()
            generation = self._db.get_meta("passage_generation")
            save = partial(write_rows, self._folder, self._mark, generation, rows)
            if attempt_to_save("vectors", save, self._note):
                self._unsaved = 0
            self._stamp = stamp_of(self._folder / FILE)

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
