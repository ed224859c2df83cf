"""Ranking: from candidates to explained hits, without store or model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking.adjust import Stage, adjust
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.engine.search.ranking.context import lend
from cm_tui.engine.search.ranking.diversify import best_pieces, diversify, order
from cm_tui.engine.search.ranking.fuse import Fused, fuse, vector_level
from cm_tui.engine.search.ranking.passage_cache import PassageCache
from cm_tui.engine.search.ranking.profiles import to_unit, unit
from cm_tui.engine.search.ranking.rerank import Reranker, rerank
from cm_tui.engine.search.ranking.snippet import snippet
from cm_tui.engine.search.ranking.stale import decay, penalise
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.model import CODE, Candidates, Hit, Profile, ScorePart, SearchResult
from cm_tui.model.profile import Mark, places_of

# --- relevance: how often a hit with a given score and cosine was correct ---

LIKENESS: Final = 8.01
"""Weight of the cosine relative to the score, by logistic regression."""
KNOTS: Final = (
    (0.24, 0.0),
    (1.94, 0.03),
    (2.85, 0.099),
    (3.7, 0.267),
    (4.48, 0.4),
    (5.38, 0.548),
    (6.51, 0.633),
    (7.38, 0.688),
    (8.91, 0.699),
    (13.19, 0.939),
    (15.39, 1.0),
    (17.68, 1.0),
)  # fmt: skip
"""Score + `LIKENESS` · cosine, and the share of such hits that were in a file of the answer: never falling, read in between."""


def relevance(table: CandidateTable, scores: Column) -> Column:
    """Return the relevance of each candidate, from 0 to 1.

    Args:
        table: the candidates.
        scores: before scaling.
    """
    evidence, share = zip(*KNOTS, strict=True)
    found: Column = np.interp(scores + LIKENESS * vector_level(table), evidence, share)
    return found


# --- marks: when a query is repeated, results marked right come first, and those marked wrong last ---

SIGNAL = "mark"
_APART = 0.05
"""Distance of marked results from the others, in scores before scaling to 0–1."""
_SPREAD = 0.1
"""Share of the distances among them that remains."""

MarksOf = Callable[[str], tuple[Sequence[Mark], str]]
"""Returns the marks of a query, and a message where they cannot be read."""


def passages_of(records: PassageCache, marks: Sequence[Mark]) -> NDArray[np.int64]:
    """Return the ids of passages marked right, which are always candidates."""
    rights = [mark for mark in marks if mark.right]
    found = records.get(records.at([mark.path for mark in rights]).tolist()) if rights else []
    places = [(one.path, one.owner.qualname if one.owner else None, one.start_line, one.end_line) for one in found]
    return np.array(sorted({found[row].id for mark in rights for row in places_of(mark, places)}), dtype=np.int64)


def marked(table: CandidateTable, marks: Sequence[Mark]) -> CandidateTable:
    """Return candidates with 1 for those marked right, −1 for those marked wrong."""
    places = list(zip(table.paths, table.symbols, table.start_lines, table.end_lines, strict=True))
    values = np.zeros(len(table))
    for mark in marks:
        values[places_of(mark, places)] = 1.0 if mark.right else -1.0
    return replace(table, signals={**table.signals, SIGNAL: values}) if values.any() else table


def moved(table: CandidateTable, scores: Column) -> tuple[Column, list[Stage]]:
    """Move candidates marked right above all others and those marked wrong below, each group in its order.

    Args:
        table: the candidates.
        scores: their scores so far.
    """
    values = table.signals.get(SIGNAL)
    if values is None:
        return scores, []
    right, wrong = values > 0, values < 0
    result = scores.copy()
    if right.any():
        result[right] = scores.max() + _APART + _SPREAD * (scores[right] - scores[right].min())
    if wrong.any():
        result[wrong] = scores.min() - _APART - _SPREAD * (scores[wrong].max() - scores[wrong])

    def detail(row: int) -> str:
        return f"marked {'right' if values[row] > 0 else 'wrong'} for this question"

    return result, [Stage(SIGNAL, "adjust", values, 1.0, result - scores, detail)]


# --- ranking ---


def rank(
    candidates: Candidates, profile: Profile, *, limit: int | None = None, reranker: Reranker | None = None
) -> SearchResult:
    """Fuse, add context, adjust, decay, lower stale hits, diversify, rerank, apply marks, scale to 0–1, and cut.

    The contributions of a hit's parts add up to its score. All steps look at the whole pool, so a larger limit never
    changes the first hits; ties go by path and line.

    Args:
        candidates: from retrieval.
        profile: the weights.
        limit: number of hits; default: the profile's own.
        reranker: used if the profile allows it.

    Raises:
        ModelError: the reranker cannot be loaded.
    """
    started = time.perf_counter()
    ranking = ranked(candidates, profile, reranker=reranker)
    kept = ranking.kept
    wanted = max(profile.limit, sum(profile.quotas.values())) if limit is None else limit
    hits = ranking.hits(enumerate(kept[: max(wanted, 0)], start=1))
    return SearchResult(
        query=candidates.query,
        mode=candidates.mode,
        profile=profile.name,
        took_ms=candidates.took_ms + (time.perf_counter() - started) * 1000,
        hits=hits,
        total=len(kept),
        notes=(*candidates.notes, *_weak(hits, profile)),
        generation=candidates.generation,
    )


class Ranking(NamedTuple):
    """Every candidate with its score, before any of them is shown."""

    table: CandidateTable
    fused: Fused
    stages: list[Stage]
    profile: Profile
    raw: Column
    """Scores before scaling to 0–1."""
    score: Column
    likely: Column | None
    """Relevance, where it is calibrated."""
    order: list[int]
    """All rows, best first."""
    enough: NDArray[np.bool_]
    """Which reach the least score."""
    kept: list[int]
    """The ranked rows, best first: those with the least score, one piece per unit, within quotas."""

    def hits(self, places: Iterable[tuple[int, int]]) -> tuple[Hit, ...]:
        """Return rows as hits with all parts of their scores.

        Args:
            places: the rank that each has, and its row.
        """
        parts = _Explainer(self.table, self.fused, self.stages)
        return tuple(
            replace(
                _hit(self.table, row, place, float(self.score[row]), parts.of(row), self.profile),
                relevance=None if self.likely is None else float(self.likely[row]),
            )
            for place, row in places
        )


def ranked(candidates: Candidates, profile: Profile, *, reranker: Reranker | None = None) -> Ranking:
    """Return the ranking of all candidates; arguments and errors as for `rank`."""
    table: CandidateTable = candidates.table
    fused = fuse(table, profile, candidates.mode)
    score, stages = fused.keyword + fused.vector, list[Stage]()
    for step in (lend, adjust, decay, penalise):
        score, more = step(table, score, profile)
        stages += more
    # Relevance is known for code on both sides, by a profile that has it.
    known = profile.calibrated and profile.fusion == "weighted" and candidates.mode == "hybrid"
    likely = relevance(table, score) if known and set(table.sources) <= {CODE} else None
    enough = (unit(score) if likely is None else likely) >= profile.min_score
    score, more = diversify(table, score, profile)
    stages += more
    if reranker is not None and profile.rerank != "off":
        score, more = rerank(table, score, profile, candidates.query, reranker)
        stages += more
    score, more = moved(table, score)
    stages += more
    if more:
        enough |= table.signals[SIGNAL] > 0
    rows = order(score).tolist()
    kept = _within_quotas(table, best_pieces(table, [row for row in rows if enough[row]]), profile)
    scaled, more = to_unit(score)
    return Ranking(table, fused, [*stages, *more], profile, score, scaled, likely, rows, enough, kept)


def _weak(hits: Sequence[Hit], profile: Profile) -> tuple[str, ...]:
    """Return a note if even the best hit looks like those of unrelated queries."""
    best = hits[0].relevance if hits else None
    if best is None or best >= profile.weak_relevance:
        return ()
    return (f"The best hit is weak ({best:.0%} of such hits are right): this may not be here.",)


def _within_quotas(table: CandidateTable, rows: list[int], profile: Profile) -> list[int]:
    """The rows, best first, within the quotas of their sources."""
    if not profile.quotas:
        return rows
    left = dict(profile.quotas)
    kept = []
    for row in rows:
        source = table.sources[row]
        if source in left:
            left[source] -= 1
        if left.get(source, 0) >= 0:
            kept.append(row)
    return kept


def _hit(
    table: CandidateTable, row: int, place: int, score: float, parts: tuple[ScorePart, ...], profile: Profile
) -> Hit:
    name = (table.symbols[row] or "").rpartition(".")[2]
    text, line = snippet(
        table.texts[row], table.start_lines[row], table.query_terms, profile.snippet_chars, name,
        wording=wording_of(table.sources[row]),
    )  # fmt: skip
    return Hit(
        rank=place,
        source=table.sources[row],
        path=table.paths[row],
        start_line=table.start_lines[row],
        end_line=table.end_lines[row],
        symbol=table.symbols[row],
        kind=table.kinds[row],
        language=table.languages[row],
        score=score,
        snippet=text,
        snippet_line=line,
        parts=parts,
        passage=table.ids[row],
        time=table.times[row],
        stale=table.stale.get(table.paths[row], ""),
    )


class _Explainer:
    """Explains the scores of the shown hits."""

    def __init__(self, table: CandidateTable, fused: Fused, stages: list[Stage]) -> None:
        self._table = table
        self._fused = fused
        self._stages = stages
        self._totals: Column = table.bm25_by_term.sum(axis=1)

    def of(self, row: int) -> tuple[ScorePart, ...]:
        """Return all parts of one candidate's score, the largest terms first within the keyword side."""
        parts = [*self._keyword(row), *self._vector(row)]
        for stage in self._stages:
            contribution = float(stage.contributions[row])
            if contribution:
                value = float(stage.values[row])
                parts.append(
                    ScorePart(stage.name, value, float(stage.weight), contribution, stage.detail(row), stage.group)
                )
        return tuple(parts)

    def _keyword(self, row: int) -> list[ScorePart]:
        whole, total = float(self._fused.keyword[row]), float(self._totals[row])
        if not whole or not total:
            return []
        place = int(self._table.keyword_ranks[row])
        where = f"rank {place} of the keyword side" if place else "beyond the keyword side's pool"
        by_term = self._table.bm25_by_term[row]
        return [
            ScorePart(
                name=f"keyword: {self._table.written.get(self._table.terms[column], self._table.terms[column])}",
                value=float(by_term[column]),
                weight=whole / total,
                contribution=whole * float(by_term[column]) / total,
                detail=f"BM25 {by_term[column]:.2f} of {total:.2f}; {where}{self._formula(place)}; "
                f"{self._coverage_text(row)}{self._weight(row)}{self._from(self._table.terms[column])}",
                group="keyword",
                term=self._table.terms[column],
            )
            for column in np.argsort(-by_term, kind="stable").tolist()
            if by_term[column] > 0
        ]

    def _from(self, term: str) -> str:
        """Words for the part of a report that a term is from."""
        part = self._table.parts.get(term)
        return f"; from its {part}" if part else ""

    def _formula(self, place: int) -> str:
        """How a rank became the side's value, where ranks count instead of levels."""
        k = self._fused.rrf_k
        return f": {k + 1} / ({k} + {place})" if k is not None else ""

    def _weight(self, row: int) -> str:
        """Words for the weight of the keyword side."""
        if self._fused.keyword_only[row]:
            return "weight 1.00, as it has no vector yet"
        return f"weight {self._fused.keyword_weight:.2f}"

    def _coverage_text(self, row: int) -> str:
        """Share of the query in the passage, if that counts."""
        share = float(self._table.coordination[row])
        return f"contains {share:.0%} of the query's words by weight; " if self._fused.coordination else ""

    def _vector(self, row: int) -> list[ScorePart]:
        contribution = float(self._fused.vector[row])
        if not contribution:
            return []
        cosine = float(self._table.cosines[row])
        place = int(self._table.vector_ranks[row])
        where = f"rank {place} of the vector side" if place else "beyond the vector side's pool"
        return [
            ScorePart(
                name="vector",
                value=contribution / self._fused.vector_weight,
                weight=self._fused.vector_weight,
                contribution=contribution,
                detail=f"cosine {cosine:.3f}; {where}{self._formula(place)}",
                group="vector",
            )
        ]
