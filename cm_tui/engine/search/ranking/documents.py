"""Passages in columns for BM25, of a whole generation or one source."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Threads:
    """Consecutive turns, such as those of a session; one row per passage, -1: no turn."""

    thread: NDArray[np.int32]
    turn: NDArray[np.int32]
    """Number of its turn; turns next to each other in a thread have numbers next to each other."""


@dataclass(frozen=True, slots=True)
class Documents:
    """Passages that are counted together, in columns; a document's position is its row here."""

    generation: int
    ids: NDArray[np.int64]
    """Ascending."""
    lengths: NDArray[np.float32]
    files: NDArray[np.int32]
    """Number of the file, in order of the path."""
    average: float
    positions: NDArray[np.int32] | None = None
    """Row here, or -1, of every passage there is; None: these are all."""
    threads: Threads | None = None
    """Neighbourhood of the passages; None: none."""

    def position(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of passages by id; every id must be there."""
        return np.searchsorted(self.ids, ids)


@dataclass(frozen=True, slots=True)
class Collection:
    """All passages of one generation, and those of each requested source."""

    documents: Documents
    sources: NDArray[np.int64]
    """Number of each passage's source in `names`."""
    names: tuple[str, ...]
    parts: dict[str, Documents]

    def of_generation(self, number: int) -> Collection:
        """Return the same passages for another generation that has no others."""
        parts = {name: replace(part, generation=number) for name, part in self.parts.items()}
        return replace(self, documents=replace(self.documents, generation=number), parts=parts)

    def part(self, source: str) -> Documents:
        """The passages of one source: BM25 counts no others, so that other sources do not affect scores."""
        if source not in self.parts:
            number = self.names.index(source) if source in self.names else -1
            self.parts[source] = part_of(self.documents, np.flatnonzero(self.sources == number))
        return self.parts[source]

    def some(self, source: str | None, ids: NDArray[np.int64]) -> Documents:
        """Return some of the passages of a source (None: of all), counted by themselves."""
        chosen = np.isin(self.documents.ids, ids)
        if source is not None:
            chosen &= self.sources == (self.names.index(source) if source in self.names else -1)
        return part_of(self.documents, np.flatnonzero(chosen))


def part_of(every: Documents, rows: NDArray[np.int64]) -> Documents:
    """Return some of the passages, counted by themselves."""
    if len(rows) == len(every.ids):
        return every
    lengths = every.lengths[rows]
    positions = np.full(len(every.ids), -1, dtype=np.int32)
    positions[rows] = np.arange(len(rows), dtype=np.int32)
    _, files = np.unique(every.files[rows], return_inverse=True)
    return Documents(
        generation=every.generation,
        ids=every.ids[rows],
        lengths=lengths,
        files=files.astype(np.int32),
        average=average_of(lengths),
        positions=positions,
        threads=_threads_of(every.threads, rows),
    )


def _threads_of(threads: Threads | None, rows: NDArray[np.int64]) -> Threads | None:
    if threads is None or not (threads.thread[rows] >= 0).any():
        return None
    return Threads(threads.thread[rows], threads.turn[rows])


def average_of(lengths: NDArray[np.float32]) -> float:
    """Return the mean length of some passages; 0 of none."""
    return float(lengths.mean()) if len(lengths) else 0.0
