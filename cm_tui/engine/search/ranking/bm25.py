"""BM25: how well passages and whole files answer, term by term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking.documents import Documents
from cm_tui.engine.search.ranking.fts_writer import FIELDS
from cm_tui.engine.search.ranking.keyword import Term
from cm_tui.engine.search.ranking.wording import LENGTH_SHARE

K1 = 1.2
B = LENGTH_SHARE
FIELD_WEIGHTS: Mapping[str, float] = {"path": 1.0, "title": 2.0, "body": 1.0}
"""Weight of an occurrence by field: a word in a name is more telling than in a body."""


def weights_vector(weights: Mapping[str, float]) -> NDArray[np.float32]:
    """Weights in the order of the fields."""
    return np.array([weights.get(field, 1.0) for field in FIELDS], dtype=np.float32)


def bm25(
    documents: Documents, terms: Sequence[Term], weights: Mapping[str, float] = FIELD_WEIGHTS, *, b: float = B
) -> NDArray[np.float32]:
    """BM25 of every document, one row per term: the sum over rows is the score.

    The formula is that of DuckDB's `match_bm25` (k1 1.2, b 0.75, idf with log10); with all weights 1 the sum is equal
    to it. An occurrence in a field counts by the field's weight.
    """
    scores = np.zeros((len(terms), len(documents.ids)), dtype=np.float32)
    field = weights_vector(weights)
    for row, term in enumerate(terms):
        at = term.postings.documents
        frequency = term.postings.counts @ field
        norm = K1 * (1 - b + b * documents.lengths[at] / documents.average)
        scores[row, at] = term.idf * frequency * (K1 + 1) / (frequency + norm)
    return scores


def bm25_of_files(
    documents: Documents, terms: Sequence[Term], weights: Mapping[str, float] = FIELD_WEIGHTS
) -> NDArray[np.float32]:
    """BM25 of every file taken as one document, one row a term."""
    count = int(documents.files.max()) + 1 if len(documents.files) else 0
    lengths = np.bincount(documents.files, weights=documents.lengths, minlength=count)
    average = lengths.mean() if count else 0.0
    norm = K1 * (1 - B + B * lengths / average) if count else lengths
    field = weights_vector(weights)
    scores = np.zeros((len(terms), count), dtype=np.float32)
    for row, term in enumerate(terms):
        files = documents.files[term.postings.documents]
        frequency = np.bincount(files, weights=term.postings.counts @ field, minlength=count)
        known = int((frequency > 0).sum())
        idf = np.log10((count - known + 0.5) / (known + 0.5) + 1)
        scores[row] = idf * frequency * (K1 + 1) / (frequency + norm)
    return scores
