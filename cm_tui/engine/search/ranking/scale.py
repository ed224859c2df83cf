"""Scale: maps scores to 0–1, so that a least score always means the same.

The map `u(s) = s` up to 1/2 and `1 − 1/(4s)` above is strictly increasing with a continuous slope: it keeps the order,
and nearly all scores of fusion alone.
"""

from __future__ import annotations

import numpy as np

from cm_tui.engine.search.ranking.adjust import Stage
from cm_tui.engine.search.ranking.candidate_table import Column

_KNEE = 0.5


def unit(scores: Column) -> Column:
    """Return scores on the scale from 0 to below 1; negative ones become 0."""
    above = 1.0 - 0.25 / np.maximum(scores, _KNEE)
    result: Column = np.where(scores > _KNEE, above, np.maximum(scores, 0.0))
    return result


def unit_of(score: float) -> float:
    """Return one score on that scale."""
    return float(unit(np.array([score]))[0])


def to_unit(scores: Column) -> tuple[Column, list[Stage]]:
    """Scale scores; the difference is a separate part, so that the parts still add up."""
    result = unit(scores)

    def detail(row: int) -> str:
        score = float(scores[row])
        return f"1 − 1 / (4 × {score:.4f}): scores end below 1" if score > _KNEE else "no score is below 0"

    return result, [Stage("scale", "scale", scores, 1.0, result - scores, detail)]
