"""Decay: older passages count less, if the profile has a half-life."""

from __future__ import annotations

import math

import numpy as np

from cm_tui.engine.search.ranking.adjust import Stage
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.model import Profile

_DAY = 86_400


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
