"""Live vectors in memory: appended by one writer, searched by any thread without a lock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.embed.provider import Matrix
from cm_tui.engine.search.vectors.codec import Codes, lengths

Ids = NDArray[np.int64]
Keys = NDArray[np.uint64]

_DIGITS = 6
"""Significant decimals of a cosine; further ones depend on the row's position in the matrix."""

_STEP = 10.0**-_DIGITS


_BLOCK = 256
"""Rows that are compared at once: their floats stay in the processor's cache, and the product takes no second thread."""


class _Buffer:
    """Arrays with spare room at the end, so that adding a few rows does not copy all of them."""

    def __init__(self, room: int, dimensions: int) -> None:
        self.ids = np.empty(room, dtype=np.int64)
        self.keys = np.empty(room, dtype=np.uint64)
        self.codes = np.empty((room, dimensions), dtype=np.int8)
        self.lengths = np.empty(room, dtype=np.float32)
        self.used = 0

    def put(self, ids: Ids, keys: Keys, codes: Codes) -> None:
        """Add rows."""
        new = slice(self.used, self.used + len(ids))
        self.ids[new], self.keys[new], self.codes[new] = ids, keys, codes
        for at in range(0, len(ids), _BLOCK):
            self.lengths[new][at : at + _BLOCK] = lengths(codes[at : at + _BLOCK].astype(np.float32))
        self.used = new.stop


@dataclass(frozen=True)
class Rows:
    """One state of the live vectors; a change gives a new state, and a search keeps its own.

    `key` identifies the input of a passage's vector (its path and its text's hash), so that a row can be matched
    with the store even if an id should be reused.
    """

    ids: Ids
    keys: Keys
    codes: Codes
    buffer: _Buffer
    """The arrays behind the views."""
    alive: NDArray[np.bool_] | None = None
    """None: all of them. Dead rows are skipped by searches and dropped now and then."""

    @classmethod
    def empty(cls, dimensions: int = 0) -> Self:
        """No rows."""
        codes = np.empty((0, dimensions), dtype=np.int8)
        return cls.of(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64), codes)

    @classmethod
    def of(cls, ids: Ids, keys: Keys, codes: Codes) -> Self:
        """Rows of these passages."""
        buffer = _Buffer(_capacity(len(ids)), codes.shape[1])
        buffer.put(ids, keys, codes)
        return cls._of(buffer, None)

    @classmethod
    def _of(cls, buffer: _Buffer, alive: NDArray[np.bool_] | None) -> Self:
        used = slice(buffer.used)
        return cls(buffer.ids[used], buffer.keys[used], buffer.codes[used], buffer, alive)

    def __len__(self) -> int:
        return len(self.ids) if self.alive is None else int(np.count_nonzero(self.alive))

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 when there has never been one."""
        return int(self.codes.shape[1])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self.ids, kind="stable")

    def positions(self, ids: Ids) -> NDArray[np.int64]:
        """Return the positions of the live rows of these passages; -1: no live row."""
        if not len(self.ids):
            return np.full(len(ids), -1, dtype=np.int64)
        # An id may have a dead row and a live one behind it: the newest is the last of equals.
        at = np.searchsorted(self.ids, ids, side="right", sorter=self._order) - 1
        found = self._order[np.maximum(at, 0)]
        good = (at >= 0) & (self.ids[found] == ids)
        if self.alive is not None:
            good &= self.alive[found]
        return np.where(good, found, -1)

    def extended(self, ids: Ids, keys: Keys, codes: Codes) -> Self:
        """Return these rows and some more; for one writer at a time."""
        if not len(self.ids):
            return type(self).of(ids, keys, codes)
        total = len(self.ids) + len(ids)
        buffer = self.buffer
        # Rows after those of this state may already belong to a later state.
        if buffer.used != len(self.ids) or len(buffer.ids) < total:
            buffer = _Buffer(_capacity(total), self.dimensions)
            buffer.put(self.ids, self.keys, self.codes)
        buffer.put(ids, keys, codes)
        alive = self.alive if self.alive is None else np.concatenate([self.alive, np.ones(len(ids), dtype=bool)])
        return self._of(buffer, alive)

    def without(self, dead: NDArray[np.bool_]) -> Self:
        """Return these rows without the dead ones; compacted when a fifth of them are dead."""
        alive = ~dead if self.alive is None else self.alive & ~dead
        rows = replace(self, alive=alive)
        return rows if np.count_nonzero(alive) >= 0.8 * len(alive) else rows.compact()

    def compact(self) -> Self:
        """Return these rows with the dead ones removed permanently."""
        if self.alive is None:
            return self
        return self.of(self.ids[self.alive], self.keys[self.alive], self.codes[self.alive])

    def nearest(self, vectors: Matrix, k: int, only: NDArray[np.int64] | None = None) -> tuple[Ids, Matrix]:
        """The k live rows with the largest cosine, best first, by exact comparison with every row.

        `vectors`: a unit vector, or several as rows, of which the nearest counts; `k`: the most to return; `only`:
        positions to compare, instead of all. Returns ids (m,) and cosines (m,), m ≤ k; equal cosines in order of id.
        """
        ids = self.ids if only is None else self.ids[only]
        cosines = self._cosines(np.atleast_2d(vectors), only)
        if self.alive is not None:
            cosines[~(self.alive if only is None else self.alive[only])] = -2
        if k < len(cosines):
            least = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
            # Equal vectors differ in the last bits by position: `best` orders them by id.
            chosen = np.flatnonzero(cosines >= least - _STEP)
        else:
            chosen = np.arange(len(cosines))
        chosen = chosen[cosines[chosen] > -1.5]
        return best(ids[chosen], cosines[chosen], k)

    def _cosines(self, vectors: Matrix, only: NDArray[np.int64] | None) -> Matrix:
        """Cosine of each row with the nearest of some vectors."""
        found = np.empty(len(self.ids) if only is None else len(only), dtype=np.float32)
        columns = np.ascontiguousarray(vectors.T)
        for start in range(0, len(found), _BLOCK):
            block = slice(start, start + _BLOCK) if only is None else only[start : start + _BLOCK]
            products = (self.codes[block].astype(np.float32) @ columns).max(axis=1)
            found[start : start + _BLOCK] = products / self.buffer.lengths[: len(self.ids)][block]
        return found


def _capacity(rows: int) -> int:
    return rows + rows // 8 + 256


def best(ids: Ids, cosines: Matrix, k: int) -> tuple[Ids, Matrix]:
    """The k best, largest cosine first and equal ones by id."""
    rounded = np.round(cosines, _DIGITS)
    order = np.lexsort((ids, -rounded))[:k]
    return ids[order], rounded[order]
