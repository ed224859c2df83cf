"""Retrieval: the candidates of both sides, with everything that ranking may ask for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search import signals, tokens
from cm_tui.engine.search.candidate_table import CandidateTable
from cm_tui.engine.search.keyword import K1, Documents, KeywordIndex, Term, bm25, bm25_of_files
from cm_tui.engine.search.passage_cache import PassageCache, PassageRecord
from cm_tui.engine.search.query import Query

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]

_FILES = 40
"""Files whose best passage is a candidate because the file as a whole answers well."""


class Vectors(Protocol):
    """What retrieval asks of the vector index."""

    def search(self, vector: Scores, k: int) -> tuple[Ids, Scores]:
        """Nearest passages, best first, with their cosines."""

    def vectors_for(self, ids: Ids) -> Scores:
        """Unit rows; zeros where a passage has none."""


class Found:
    """Both sides' answers before anything is read of the passages themselves."""

    def __init__(self, documents: Documents, terms: Sequence[Term], wanted: NDArray[np.bool_]) -> None:
        self.documents = documents
        self.terms = terms
        self.shares = bm25(documents, terms) if terms else np.zeros((0, len(documents.ids)), np.float32)
        self.scores = np.where(wanted, self.shares.sum(axis=0), 0)
        self.file_scores = bm25_of_files(documents, terms).sum(axis=0) if terms else np.zeros(0, np.float32)

    def top(self, pool: int) -> Ids:
        """Positions of the best passages, best first; equal ones in order of their id."""
        hits = np.flatnonzero(self.scores > 0)
        if len(hits) > pool:
            # All that tie with the last one stay until the sort below decides by position.
            limit = -np.partition(-self.scores[hits], pool - 1)[pool - 1]
            hits = hits[self.scores[hits] >= limit]
        return hits[np.lexsort((hits, -self.scores[hits]))][:pool]

    def best_of_files(self) -> Ids:
        """Position of the best passage of each of the files that answer best as a whole."""
        if not len(self.file_scores):
            return np.zeros(0, np.int64)
        order = np.lexsort((np.arange(len(self.file_scores)), -self.file_scores))[:_FILES]
        wanted = order[self.file_scores[order] > 0]
        inside = np.flatnonzero(np.isin(self.documents.files, wanted) & (self.scores > 0))
        ranked = inside[np.lexsort((inside, -self.scores[inside]))]
        _, first = np.unique(self.documents.files[ranked], return_index=True)
        return ranked[first]


def candidates(
    cards: PassageCache, index: KeywordIndex, query: Query, pool: int, vectors: Vectors | None, vector: Scores | None,
    *, keyword: bool, sources: Sequence[str],
) -> CandidateTable:  # fmt: skip
    """Find the passages that may answer.

    Args:
        cards: what is known about passages.
        index: the keyword side.
        query: the question.
        pool: how many each side gives.
        vectors: the vector side; None when it is off.
        vector: the question's vector.
        keyword: whether the keyword side takes part.
        sources: which kinds of passages are wanted.
    """
    documents = index.documents()
    wanted = documents.of(sources)
    found = Found(documents, index.terms(query.terms, documents) if keyword else [], wanted)
    by_words = found.top(pool)
    nearest = np.zeros(0, np.int64)
    if vectors is not None and vector is not None:
        # The index knows no sources: where they are mixed, more are asked for and the others dropped.
        ids, _ = vectors.search(vector, pool if wanted.all() else 4 * pool)
        nearest = _known(documents, ids)
        nearest = nearest[wanted[nearest]][:pool]
    both = np.unique(np.concatenate([by_words, nearest, found.best_of_files()]).astype(np.int64))
    cosines = np.full(len(both), np.nan)
    if vectors is not None and vector is not None and len(both):
        rows = vectors.vectors_for(documents.ids[both])
        known = rows.any(axis=1)
        cosines[known] = (rows @ vector)[known]
    return _describe(cards, query, found, both, by_words, nearest, cosines)


def _known(documents: Documents, ids: Ids) -> Ids:
    """Positions of those ids that are passages now."""
    at = np.searchsorted(documents.ids, ids)
    at = np.minimum(at, max(len(documents.ids) - 1, 0))
    return at[documents.ids[at] == ids] if len(documents.ids) else np.zeros(0, np.int64)


def _ranks(found: Ids, both: Ids) -> NDArray[np.int64]:
    ranks = np.zeros(len(both), np.int64)
    ranks[np.searchsorted(both, found)] = np.arange(1, len(found) + 1)
    return ranks


def _symbol_of(query: Query, card: PassageRecord) -> tuple[str | None, str | None]:
    """Qualname and kind that stand for a passage: its own symbol, else of those it defines what is asked for most."""
    if card.symbol is not None or not card.definitions:
        return card.symbol, card.kind
    asked, names = frozenset(query.terms), {name.last for name in query.names}
    chosen = max(card.definitions, key=lambda one: (one.name in names, len(asked.intersection(tokens.terms(one.name)))))
    return chosen.qualname, chosen.kind


def _describe(
    cards: PassageCache, query: Query, found: Found, both: Ids, by_words: Ids, nearest: Ids, cosines: NDArray[np.float64]
) -> CandidateTable:  # fmt: skip
    documents = found.documents
    found_cards = cards.get(documents.ids[both].tolist())
    order = np.searchsorted(documents.ids[both], np.array([card.id for card in found_cards], dtype=np.int64))
    idf = {term.text: term.idf for term in found.terms}
    rarest = max(idf.values(), default=1.0)
    positions = both[order]
    measured = signals.measure(query, found_cards, lambda stem: idf.get(stem, rarest))
    shown = [_symbol_of(query, card) for card in found_cards]
    file_scores = found.file_scores[found.documents.files[positions]] if len(found.file_scores) else None
    if file_scores is not None and len(file_scores):
        measured["file"] = file_scores.astype(np.float64) / max(float(file_scores.max()), 1e-9)
    return CandidateTable(
        ids=[card.id for card in found_cards],
        sources=[card.source for card in found_cards],
        paths=[card.path for card in found_cards],
        start_lines=[card.start_line for card in found_cards],
        end_lines=[card.end_line for card in found_cards],
        symbols=[symbol for symbol, _ in shown],
        kinds=[kind for _, kind in shown],
        languages=[card.language for card in found_cards],
        texts=[card.text for card in found_cards],
        times=[card.time for card in found_cards],
        terms=[term.text for term in found.terms],
        shares=found.shares[:, positions].T.astype(np.float64),
        keyword_limit=sum(term.idf for term in found.terms) * (K1 + 1),
        cosines=cosines[order],
        keyword_ranks=_ranks(by_words, both)[order],
        vector_ranks=_ranks(nearest, both)[order],
        signals=measured,
        query_terms=tuple(query.terms),
        is_name=query.is_name,
        now=int(time.time()),
    )  # fmt: skip
