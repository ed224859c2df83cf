"""Retrieval: the candidates of both sides, with all data for ranking."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking import signals, tokens
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, concatenate
from cm_tui.engine.search.ranking.context import beside
from cm_tui.engine.search.ranking.documents import Documents
from cm_tui.engine.search.ranking.fts_writer import FIELDS
from cm_tui.engine.search.ranking.keyword import KeywordIndex, Term, best_positions
from cm_tui.engine.search.ranking.passage_cache import MOST_DEFINING, PassageCache, PassageRecord
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.traits import TYPES, Definition, Owner
from cm_tui.engine.search.ranking.wording import CODE_WORDING, LENGTH_SHARE, Wording, wording_of
from cm_tui.model import CODE, Profile

if TYPE_CHECKING:
    from cm_tui.engine.search.vectors.index import FrozenVectors

# --- BM25: how well passages and whole files answer, term by term ---

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


# --- retrieval ---

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]

_FILES = 40
"""Files whose best passage is a candidate because the file as a whole answers well."""
_LENDING = 50
"""The best of each side, whose neighbours in their threads are candidates too."""
_TITLE = FIELDS.index("title")
_MOST_MENTIONED = 200
"""The most candidates that a name inside a text adds."""
_TELLING = 8
"""The most telling terms of a report: a passage with all of them is sufficient."""
_AGAIN = 4
"""Factor for requesting more when the nearest passages are from other sources."""


class Nearness(NamedTuple):
    """The vector side of one question."""

    vectors: FrozenVectors
    asked: Scores
    """One unit row per embedded text; a passage is as near as to the nearest of them."""

    def nearest(self, documents: Documents, pool: int) -> Ids:
        """Positions of the passages nearest to the query, best first.

        The vector index does not know sources. With several, more are requested; if that is not enough, each passage of
        the source is compared.
        """
        ids = self.vectors.search(self.asked, pool)[0]
        nearest = _known(documents, ids)
        enough = min(pool, len(documents.ids))
        if documents.positions is None or len(nearest) == enough or not len(ids):
            return nearest
        nearest = _known(documents, self.vectors.search(self.asked, _AGAIN * pool)[0])[:pool]
        if len(nearest) == enough:
            return nearest
        cosines = self.cosines(documents.ids)
        order = np.lexsort((documents.ids, -cosines))
        return order[~np.isnan(cosines[order])][:pool]

    def cosines(self, ids: Ids) -> NDArray[np.float64]:
        """Cosine of each passage with the question; nan where it has no vector."""
        cosines = np.full(len(ids), np.nan)
        if len(ids):
            rows = self.vectors.vectors_for(ids)
            known = rows.any(axis=1)
            cosines[known] = (rows @ self.asked.T).max(axis=1)[known]
        return cosines


class _Chosen(NamedTuple):
    """The candidates of a source, by position, before reading the passages themselves."""

    positions: Ids
    """Ascending."""
    by_words: Ids
    nearest: Ids
    cosines: NDArray[np.float64]


class KeywordScores:
    """The keyword side of one question, for the passages of a source."""

    def __init__(self, documents: Documents, terms: Sequence[Term], wording: Wording = CODE_WORDING) -> None:
        self.documents = documents
        self.terms = terms
        self.wording = wording
        self.bm25_by_term = (
            bm25(documents, terms, b=wording.length_share) if terms else np.zeros((0, len(documents.ids)), np.float32)
        )
        self.scores = self.bm25_by_term.sum(axis=0)
        self.file_scores = bm25_of_files(documents, terms).sum(axis=0) if terms else np.zeros(0, np.float32)

    def top(self, pool: int) -> Ids:
        """Positions of the best passages, best first; equal ones in order of their id."""
        return best_positions(self.scores, pool)

    def named(self, name: str, most: int) -> Ids | None:
        """Positions of passages with a word in their symbols' names, only the best `most`; None: not a term here."""
        asked = next(iter(self.wording.split(name)), "")
        term = next((term for term in self.terms if term.text == asked), None)
        if term is None:
            return None
        hits = term.postings.documents[term.postings.counts[:, _TITLE] > 0].astype(np.int64)
        if len(hits) > most:
            hits = hits[np.argsort(-self.scores[hits], kind="stable")[:most]]
        return hits

    def best_of_files(self) -> Ids:
        """Position of the best passage of each of the files that answer best as a whole."""
        if not len(self.file_scores):
            return np.zeros(0, np.int64)
        wanted = best_positions(self.file_scores, _FILES)
        inside = np.flatnonzero(np.isin(self.documents.files, wanted) & (self.scores > 0))
        ranked = inside[np.lexsort((inside, -self.scores[inside]))]
        _, first = np.unique(self.documents.files[ranked], return_index=True)
        return ranked[first]


def candidates(
    records: PassageCache, index: KeywordIndex, query: Query, profile: Profile,
    nearness: Callable[[str], Nearness | None], *, keyword: bool, only: Ids | None = None, also: Ids | None = None,
) -> CandidateTable:  # fmt: skip
    """Find candidate passages, separately for each source, so that sources do not affect each other's scores.

    Args:
        records: data on passages.
        index: the keyword side.
        query: the query.
        profile: with the sources, and the pool per side and source.
        nearness: the vector side of a source; None: off.
        keyword: whether the keyword side takes part.
        only: ids of passages; all others are ignored.
        also: ids of passages that are always candidates.
    """
    tables = []
    for source in dict.fromkeys(profile.sources) or ("",):
        wording = wording_of(source)
        terms = query.weights_in(wording) if keyword else {}
        keywords = KeywordScores(*index.documents_and_terms(terms, source, only), wording)
        given = _defining(records, query, keywords, source)
        if also is not None:
            given = np.concatenate([given, _known(keywords.documents, also)])
        chosen = _choose(keywords, nearness(source), profile, given)
        tables.append(_describe(records, query, keywords, chosen))
    return concatenate(tables)


def _defining(records: PassageCache, query: Query, keywords: KeywordScores, source: str) -> Ids:
    """Positions of possible definitions of a name in the query, or a similar one."""
    if not query.names or source not in {CODE, ""}:
        return np.zeros(0, np.int64)
    found, unknown = [np.zeros(0, np.int64)], [*query.near]
    for name in query.names:
        named = keywords.named(name.last, MOST_DEFINING if query.is_names else _MOST_MENTIONED)
        if named is None:
            unknown.append(name.last)
        else:
            found.append(named)
    if unknown:
        found.append(_known(keywords.documents, records.defining(unknown)))
    return np.concatenate(found)


def _choose(keywords: KeywordScores, nearness: Nearness | None, profile: Profile, defining: Ids) -> _Chosen:
    by_words = keywords.top(profile.pool)
    nearest = nearness.nearest(keywords.documents, profile.pool) if nearness else np.zeros(0, np.int64)
    found = [by_words, nearest, keywords.best_of_files(), defining]
    if profile.neighbours and keywords.documents.threads is not None:
        best = np.concatenate([by_words[:_LENDING], nearest[:_LENDING]]).astype(np.int64)
        found.append(beside(keywords.documents.threads, best))
    both = np.unique(np.concatenate(found).astype(np.int64))
    cosines = nearness.cosines(keywords.documents.ids[both]) if nearness else np.full(len(both), np.nan)
    return _Chosen(both, by_words, nearest, cosines)


def _known(documents: Documents, ids: Ids) -> Ids:
    """Positions of the ids of existing passages."""
    at = np.searchsorted(documents.ids, ids)
    at = np.minimum(at, max(len(documents.ids) - 1, 0))
    return at[documents.ids[at] == ids] if len(documents.ids) else np.zeros(0, np.int64)


def _ranks(found: Ids, both: Ids) -> NDArray[np.int64]:
    ranks = np.zeros(len(both), np.int64)
    ranks[np.searchsorted(both, found)] = np.arange(1, len(found) + 1)
    return ranks


def _symbol_of(asked: frozenset[str], names: frozenset[str], record: PassageRecord) -> tuple[str | None, str | None]:
    """Qualname and kind for a passage: its own symbol, else the most queried one that it defines.

    `asked`: terms of the query; `names`: the names in it.
    """
    owner = record.owner
    symbols: list[Owner | Definition] = [*record.definitions]
    if owner is not None:
        # A small type is one passage with its methods: the query may name one of them.
        symbols = [owner, *(one for one in symbols if owner.kind in TYPES and one.name in names)]
    if len(symbols) < 2:
        return (symbols[0].qualname, symbols[0].kind) if symbols else (None, None)
    chosen = max(symbols, key=lambda one: (one.name in names, len(asked.intersection(tokens.terms(one.qualname)))))
    return chosen.qualname, chosen.kind


def _limit(query: Query, terms: Sequence[Term]) -> float:
    """Limit of BM25 for a passage with the whole query, or as much of a report as one passage can have."""
    worth = sorted((term.idf for term in terms), reverse=True)
    return sum(worth if query.report is None else worth[:_TELLING]) * (K1 + 1)


def _describe(records: PassageCache, query: Query, keywords: KeywordScores, chosen: _Chosen) -> CandidateTable:
    ids = keywords.documents.ids[chosen.positions]
    known = records.get(ids.tolist())
    order = np.searchsorted(ids, np.array([record.id for record in known], dtype=np.int64))
    idf = {term.text: term.idf for term in keywords.terms}
    worth, rarest = np.array([term.idf for term in keywords.terms]), max(idf.values(), default=1.0)
    positions = chosen.positions[order]
    threads, none = keywords.documents.threads, np.full(len(positions), -1, np.int32)
    by_term = keywords.bm25_by_term[:, positions].T.astype(np.float64)
    measured = signals.measure(query, known, lambda stem: idf.get(stem, rarest))
    asked, names = frozenset(query.terms), frozenset(name.last for name in query.names)
    shown = [_symbol_of(asked, names, record) for record in known]
    file_scores = keywords.file_scores[keywords.documents.files[positions]] if len(keywords.file_scores) else None
    if file_scores is not None and len(file_scores):
        measured["file"] = file_scores.astype(np.float64) / max(float(file_scores.max()), 1e-9)
    return CandidateTable(
        ids=[record.id for record in known],
        sources=[record.source for record in known],
        paths=[record.path for record in known],
        start_lines=[record.start_line for record in known],
        end_lines=[record.end_line for record in known],
        symbols=[symbol for symbol, _ in shown],
        kinds=[kind for _, kind in shown],
        begins=[record.owner.begins if record.owner else None for record in known],
        languages=[record.language for record in known],
        texts=[record.text for record in known],
        times=[record.time for record in known],
        terms=[term.text for term in keywords.terms],
        bm25_by_term=by_term,
        keyword_limit=np.full(len(positions), _limit(query, keywords.terms)),
        # The share of the query's words in each passage, weighted as in BM25.
        coordination=(by_term > 0) @ (worth / max(float(worth.sum()), 1e-9)),
        cosines=chosen.cosines[order],
        keyword_ranks=_ranks(chosen.by_words, chosen.positions)[order],
        vector_ranks=_ranks(chosen.nearest, chosen.positions)[order],
        signals=measured,
        lengths=keywords.documents.lengths[positions].astype(np.float64),
        threads=none if threads is None else threads.thread[positions],
        turns=none if threads is None else threads.turn[positions],
        query_terms=tuple(query.terms_in(keywords.wording)),
        written=query.written_in(keywords.wording, idf.keys()),
        parts=query.parts_in(keywords.wording),
        idf=idf,
        is_name=query.is_name,
        is_report=query.report is not None,
        now=int(time.time()),
    )
