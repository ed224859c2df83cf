"""Old and stale memories: lower scores for old ones and for those that name missing code, as the profile sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cm_tui.engine.search.ranking.adjust import Stage
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.model import CODE, Profile

SIGNAL = "stale"
_DAY = 86_400


class Flag(NamedTuple):
    """A note on a memory that names something changed."""

    severity: float
    """From 0 to 1: how much of the profile's weight counts."""
    words: str
    """The name, and what became of it."""


FlagsOf = Callable[[Sequence[str]], Mapping[str, Flag]]
"""Returns the flags of passages by path; unchanged ones have none."""


def flagged(table: CandidateTable, flags_of: FlagsOf) -> CandidateTable:
    """Return candidates with flags of stale memories; code has none.

    Args:
        table: the candidates.
        flags_of: returns the flags of memories.
    """
    paths = {path for path, source in zip(table.paths, table.sources, strict=True) if source != CODE}
    flags = flags_of(sorted(paths)) if paths else {}
    if not flags:
        return table
    severity = np.array([flags[path].severity if path in flags else 0.0 for path in table.paths])
    words = {path: flag.words for path, flag in flags.items()}
    return replace(table, signals={**table.signals, SIGNAL: severity}, stale=words)


def penalise(table: CandidateTable, scores: Column, profile: Profile) -> tuple[Column, list[Stage]]:
    """Multiply the score of stale memories by `1 − weight · severity`.

    Args:
        table: the candidates.
        scores: their scores so far.
        profile: `stale` is the weight; 0: no effect.
    """
    severity = table.signals.get(SIGNAL)
    if not profile.stale or severity is None:
        return scores, []
    contributions = -profile.stale * severity * scores
    return scores + contributions, [
        Stage(SIGNAL, "adjust", severity, profile.stale, contributions, lambda row: table.stale[table.paths[row]])
    ]


def decay(table: CandidateTable, scores: Column, profile: Profile) -> tuple[Column, list[Stage]]:
    """Multiply by `e^(-λ·age)`, λ = ln 2 / half-life; undated passages keep their score.

    Args:
        table: the candidates; ages are measured at the time of the query.
        scores: their scores so far.
        profile: with the half-life in days; None: no decay.
    """
    if not profile.half_life_days:
        return scores, []
    rate = math.log(2) / profile.half_life_days
    ages = np.array([max(0, table.now - time) / _DAY if time is not None else 0.0 for time in table.times])
    factors = np.exp(-rate * ages)
    contributions = scores * (factors - 1)

    def detail(row: int) -> str:
        if table.times[row] is None:
            return "undated: no decay"
        return f"{ages[row]:.1f} days old, half-life {profile.half_life_days:g}"

    return scores + contributions, [Stage("decay", "decay", factors, 1.0, contributions, detail)]
