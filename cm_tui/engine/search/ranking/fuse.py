"""Fusion: the keyword side and the vector side become one score between 0 and 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.model import Mode, Profile


class Fused(NamedTuple):
    """Each side's contribution to the score of every candidate."""

    keyword: Column
    vector: Column
    keyword_weight: float
    vector_weight: float
    keyword_only: NDArray[np.bool_]
    """Candidates of a hybrid search without a vector: the keyword side has the full weight."""
    rrf_k: int | None = None
    """The constant of reciprocal rank fusion; None: levels were added."""
    coordination: float = 0.0
    """Share of the keyword side that depends on the query words in the passage."""


def fuse(table: CandidateTable, profile: Profile, mode: Mode) -> Fused:
    """Combine both sides by the profile.

    `weighted`: the weighted sum of both sides' levels, which do not depend on the pool. `rrf`: `Σ weight / (k + rank)`,
    scaled so that the first of both sides has 1. Weights are normalised to a sum of 1, and a missing side leaves all
    of it to the other one: for the whole query, or for a candidate without a vector.
    """
    keyword, vector = _weights(table, profile, mode)
    keyword_only = np.isnan(table.cosines) if mode == "hybrid" else np.zeros(len(table), np.bool_)
    keyword_weights = np.where(keyword_only, 1.0, keyword)
    if profile.fusion == "rrf":
        scale = profile.rrf_k + 1
        return Fused(
            keyword_weights * scale * _reciprocal(table.keyword_ranks, profile.rrf_k),
            vector * scale * _reciprocal(table.vector_ranks, profile.rrf_k),
            keyword, vector, keyword_only, profile.rrf_k,
        )  # fmt: skip
    level = keyword_level(table, profile.coordination)
    return Fused(
        keyword_weights * level,
        vector * vector_level(table),
        keyword,
        vector,
        keyword_only,
        coordination=profile.coordination,
    )


def _weights(table: CandidateTable, profile: Profile, mode: Mode) -> tuple[float, float]:
    keyword = profile.keyword_weight if mode != "vector" else 0.0
    vector = profile.vector_weight if mode != "keyword" else 0.0
    if table.is_name and mode == "hybrid":
        # A name is literal: words decide, vectors only order the rest.
        vector *= profile.adjustments.get("name-vector", 1.0)
    total = keyword + vector
    if total <= 0:
        return (1.0, 0.0) if mode != "vector" else (0.0, 1.0)
    return keyword / total, vector / total


def keyword_level(table: CandidateTable, coordination: float = 0.0) -> Column:
    """BM25 as a share of the score of a passage with nothing but the query's words; always below 1.

    Args:
        table: the candidates.
        coordination: the part that depends on the share of query words in the passage.
    """
    total, limit = table.bm25_by_term.sum(axis=1), table.keyword_limit
    level: Column = np.divide(total, limit, out=np.zeros(len(table)), where=limit > 0)
    level = np.where(level > 0.5, 1.0 - 0.25 / np.maximum(level, 0.5), level) if table.is_report else level
    return level * (1 - coordination + coordination * table.coordination)


def vector_level(table: CandidateTable) -> Column:
    """The cosine; 0: negative, or no vector."""
    return np.maximum(np.nan_to_num(table.cosines), 0.0)


def _reciprocal(ranks: NDArray[np.int64], k: int) -> Column:
    return np.where(ranks > 0, 1.0 / (k + np.maximum(ranks, 1)), 0.0)
