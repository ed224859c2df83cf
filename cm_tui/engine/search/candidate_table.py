"""Candidates: what retrieval found, column by column, with everything that ranking may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """Candidates in order of (path, start_line): a stable order breaks ties the same way everywhere.

    Arrays have one row a candidate; `shares` has one row a candidate and one column a term.
    """

    ids: list[int]
    sources: list[str]
    paths: list[str]
    start_lines: list[int]
    end_lines: list[int]
    symbols: list[str | None]
    kinds: list[str | None]
    languages: list[str]
    texts: list[str]
    times: list[int | None]
    terms: list[str]
    shares: Column
    """BM25 by term; the row's sum is the keyword score."""
    keyword_limit: float
    """What BM25 approaches for these terms however often a passage says them: Σ idf·(k1 + 1)."""
    cosines: Column
    """nan where there is no vector."""
    keyword_ranks: NDArray[np.int64]
    """Rank on the keyword side from 1; 0: not found there."""
    vector_ranks: NDArray[np.int64]
    signals: Mapping[str, Column] = field(default_factory=dict)
    """What adjustments measure, from 0 to 1, by name."""
    query_terms: tuple[str, ...] = ()
    """All terms of the query: what a snippet looks for."""
    is_name: bool = False
    """Whether the query is nothing but a name."""
    now: int = 0
    """When the question was asked, seconds since the epoch."""

    def __len__(self) -> int:
        return len(self.ids)
