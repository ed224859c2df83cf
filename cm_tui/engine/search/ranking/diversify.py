"""Diversity: hits that repeat better ones are lowered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.adjust import Stage
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.model import Profile

_CUT = tokens.word_set("function method constructor section class struct interface trait enum union protocol")
"""Kinds whose pieces are one unit: parts of a long function, and the code between the methods of a class."""
_MMR_DEPTH = 100
"""How many of the best are compared with each other; fixed, so that a larger limit never changes the first ones."""


def diversify(table: CandidateTable, scores: Column, profile: Profile) -> tuple[Column, list[Stage]]:
    """Lower the scores of hits that repeat better ones, by the profile."""
    if profile.diversity == "file":
        return _by_file(table, scores, profile.diversity_lambda)
    if profile.diversity == "mmr":
        return _by_likeness(table, scores, profile.diversity_lambda)
    return scores, []


def best_pieces(table: CandidateTable, rows: Sequence[int]) -> list[int]:
    """Return rows, best first, with only the best piece of each function, type and section, and one copy of a section."""
    seen: set[tuple[str, int | str]] = set()
    kept = []
    for row in rows:
        units = units_of(table, row)
        if seen.isdisjoint(units):
            kept.append(row)
        seen |= units
    return kept


def units_of(table: CandidateTable, row: int) -> set[tuple[str, int | str]]:
    """Return the symbol that a row is a piece of; of a section also its text, which versions of documents share."""
    begins, kind = table.begins[row], table.kinds[row]
    if begins is None or kind not in _CUT:
        return set()
    copied = {(table.symbols[row] or "", table.texts[row])} if kind == "section" else set()
    return {(table.paths[row], begins), *copied}


def order(scores: Column) -> NDArray[np.int64]:
    """Rows best first; equal scores stay in the table's order of path and line."""
    return np.argsort(-scores, kind="stable")


def _by_file(table: CandidateTable, scores: Column, factor: float) -> tuple[Column, list[Stage]]:
    """The n-th further hit of a file keeps `factor^n` of its score."""
    factors = np.ones(len(scores))
    against = np.full(len(scores), -1)
    counts: dict[str, int] = {}
    best: dict[str, int] = {}
    for row in order(scores).tolist():
        path = table.paths[row]
        count = counts.get(path, 0)
        counts[path] = count + 1
        if count:
            factors[row] = factor**count
            against[row] = best[path]
        else:
            best[path] = row
    return _stage(table, scores, factors, factor, scores * (factors - 1), against)


def _by_likeness(table: CandidateTable, scores: Column, share: float) -> tuple[Column, list[Stage]]:
    """Maximal marginal relevance with Jaccard similarity on terms.

    The usual `λ·relevance − (1−λ)·similarity` is divided by λ: the order is the same, and a hit without similar ones
    keeps its score.
    """
    share = max(share, 1e-3)
    price = (1 - share) / share
    waiting = order(scores)[:_MMR_DEPTH].tolist()
    bags = {row: frozenset(wording_of(table.sources[row]).terms(table.texts[row])) for row in waiting}
    likeness = np.zeros(len(scores))
    against = np.full(len(scores), -1)
    final = scores.copy()
    worst = np.inf
    while waiting:
        chosen = max(waiting, key=lambda row: (scores[row] - price * likeness[row], -row))
        waiting.remove(chosen)
        final[chosen] = worst = min(worst, scores[chosen] - price * likeness[chosen])
        for row in waiting:
            alike = jaccard(bags[chosen], bags[row])
            if alike > likeness[row]:
                likeness[row] = alike
                against[row] = chosen
    # Rows that were not compared stay below the others.
    rest = np.setdiff1d(np.arange(len(scores)), np.fromiter(bags, dtype=np.int64, count=len(bags)))
    final[rest] = np.minimum(scores[rest], worst)
    return _stage(table, scores, likeness, -price, final - scores, against)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the terms of two texts that both have."""
    if not one or not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def _stage(
    table: CandidateTable,
    scores: Column,
    values: Column,
    weight: float,
    contributions: Column,
    against: NDArray[np.int64],
) -> tuple[Column, list[Stage]]:
    def detail(row: int) -> str:
        other = int(against[row])
        if other < 0:
            return "nothing like it above"
        return f"against {table.paths[other]}:{table.start_lines[other]}-{table.end_lines[other]}"

    return scores + contributions, [Stage("diversity", "diversity", values, weight, contributions, detail)]
