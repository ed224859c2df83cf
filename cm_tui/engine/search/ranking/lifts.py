"""What would raise a candidate to the shown hits: a single weight, tested by ranking again, or words; why it is none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking import adjust, fuse
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.engine.search.ranking.rank import Ranking, ranked
from cm_tui.model import Candidates, Mode, Profile

# --- features: what each weight of a profile is multiplied with, a column a weight ---

SIDES = ("keyword_weight", "vector_weight")
"""Weights that are fields of a profile; the others are its adjustments."""


def features(table: CandidateTable) -> dict[str, Column]:
    """Return the factors of each weight; penalties are negative, and what depends on the score itself is 0."""
    words = fuse.keyword_level(table)
    # Where there is no vector, the words have the weight of both sides.
    level = {SIDES[0]: words, SIDES[1]: np.where(np.isnan(table.cosines), words, fuse.vector_level(table))}
    none = np.zeros(len(table))
    signs = {name: -1.0 if name in adjust.PENALTIES else 1.0 for name in adjust.NAMES}
    return {name: sign * table.signals.get(name, none) for name, sign in signs.items()} | level


# --- what would raise a candidate to the shown hits ---

_TRIED = 6
"""Weights that are tried, the smallest changes first: each is one ranking."""
_SAID = 2
_STEP = 0.01
_MOST_BOOST = 2.0
"""A boost of more would drown all other parts."""
_MOST_WORDS = 6


class Move(NamedTuple):
    """Another value of one weight."""

    name: str
    before: float
    after: float


def missing_words(ranking: Ranking, row: int) -> list[str]:
    """Return the query words that a candidate lacks and others have, the rarest first."""
    table = ranking.table
    if not len(table.terms):
        return []
    said = table.bm25_by_term[row] > 0
    worth = table.bm25_by_term.max(axis=0, initial=0.0)
    missing = [column for column in range(len(table.terms)) if not said[column] and worth[column] > 0]
    missing.sort(key=lambda column: -worth[column])
    words = dict.fromkeys(table.written.get(table.terms[column], table.terms[column]) for column in missing)
    return list(words)[:_MOST_WORDS]


def weights_that_lift(ranking: Ranking, row: int, limit: int, candidates: Candidates) -> list[str]:
    """Return sentences on single weights that would raise a candidate to the shown hits.

    Args:
        ranking: of the unchanged profile.
        row: of the candidate, which is ranked below the shown ones.
        limit: number of shown hits.
        candidates: the ranked candidates.
    """
    found = []
    for move in sorted(_moves(ranking, row, limit), key=_size)[:_TRIED]:
        again = ranked(candidates, with_weight(ranking.profile, move))
        if row in again.kept[:limit]:
            found.append(f"With {_words(move)} it would be hit {again.kept.index(row) + 1}.")
        if len(found) == _SAID:
            break
    return found or [f"No single weight brings it among the first {limit}."]


def with_weight(profile: Profile, move: Move) -> Profile:
    """Return a profile with another value of one weight; the sum of both sides remains 1."""
    if move.name == SIDES[0]:
        return replace(profile, keyword_weight=move.after, vector_weight=round(1 - move.after, 2))
    return replace(profile, adjustments={**profile.adjustments, move.name: move.after})


def _size(move: Move) -> float:
    return abs(move.after - move.before) / max(abs(move.before), 0.1)


def _words(move: Move) -> str:
    name = move.name.replace("_", " ")
    return f"{name} {move.after:.2f} instead of {move.before:.2f}"


def _moves(ranking: Ranking, row: int, limit: int) -> Iterator[Move]:
    """Yield each weight with the value at which the candidate would pass the last shown hit, all else being equal."""
    table, profile = ranking.table, ranking.profile
    last = ranking.kept[min(limit, len(ranking.kept)) - 1]
    missing = float(ranking.raw[last] - ranking.raw[row])
    # Evidence for a file counts for its best passage alone, which only a ranking knows.
    columns = features(table) | {one.name: one.values for one in ranking.stages if one.name in adjust.OF_FILES}
    if profile.fusion == "weighted" and 0 < ranking.fused.keyword_weight < 1 and not table.is_name:
        change = columns[SIDES[0]] - columns[SIDES[1]]
        yield from _move(SIDES[0], ranking.fused.keyword_weight, missing, float(change[row] - change[last]), 1.0)
    for name in adjust.NAMES:
        if name == adjust.NAME_VECTOR:
            continue
        now = profile.adjustments.get(name, 0.0)
        most = 1.0 if name in adjust.PENALTIES else max(_MOST_BOOST, now)
        yield from _move(name, now, missing, float(columns[name][row] - columns[name][last]), most)


def _move(name: str, now: float, missing: float, gain: float, most: float) -> Iterator[Move]:
    """The value of a weight that closes the gap, rounded away from the current one, if it is in range."""
    if abs(gain) < 1e-9:
        return
    exact = now + missing / gain
    steps = exact / _STEP
    after = round((math.floor(steps) + 1 if gain > 0 else math.ceil(steps) - 1) * _STEP, 2)
    if 0 <= after <= most:
        yield Move(name, now, after)


def reasons(ranking: Ranking, row: int, mode: Mode) -> list[str]:
    """Return sentences on why neither side selected a passage.

    Args:
        ranking: of the candidates including the passage.
        row: of the passage.
        mode: active sides.
    """
    table, pool = ranking.table, ranking.profile.pool
    found = []
    if mode != "vector":
        own, worst = float(table.bm25_by_term[row].sum()), _worst(table.bm25_by_term.sum(axis=1), table.keyword_ranks)
        if not table.terms:
            found.append("No word of the query is anywhere in the project.")
        elif not own:
            found.append("It contains no word of the query.")
        else:
            found.append(f"Its words are worth {own:.2f} by BM25, the last of the {pool} best {worst:.2f}.")
    if mode != "keyword":
        cosine, worst = float(table.cosines[row]), _worst(table.cosines, table.vector_ranks)
        if np.isnan(cosine):
            found.append("It has no vector yet.")
        else:
            found.append(f"Its cosine is {cosine:.3f}, that of the last of the {pool} nearest {worst:.3f}.")
    else:
        found.append("Keyword mode does not compare meaning.")
    return found


def _worst(values: Column, ranks: NDArray[np.int64]) -> float:
    inside = values[ranks > 0]
    return float(inside.min()) if len(inside) else 0.0
