"""Features: what each weight of a profile is multiplied with, a column a weight."""

from __future__ import annotations

import numpy as np

from cm_tui.engine.search.ranking import adjust, fuse
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column

SIDES = ("keyword_weight", "vector_weight")
"""Weights that are fields of a profile; the others are its adjustments."""


def features(table: CandidateTable, sides: Column | None = None) -> dict[str, Column]:
    """Return the factors of each weight; penalties are negative.

    Args:
        table: the candidates.
        sides: the sum of both sides, for factors that depend on it; default: half of each.
    """
    level = {SIDES[0]: fuse.keyword_level(table), SIDES[1]: fuse.meaning_level(table)}
    none = np.zeros(len(table))
    signs = {name: -1.0 if name in adjust.PENALTIES else 1.0 for name in adjust.NAMES}
    columns = {name: sign * table.signals.get(name, none) for name, sign in signs.items()}
    together = (level[SIDES[0]] + level[SIDES[1]]) / 2 if sides is None else sides
    columns[adjust.COHERENCE] = adjust.coherence(table.paths, together)
    return {**columns, **level}
