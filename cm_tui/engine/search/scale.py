"""Scale: whatever the steps before have added, a score lies between 0 and 1, so that one least score means one thing.

The map `u(s) = s` up to 1/2 and `1 − 1/(4s)` above is continuous with its slope and strictly increasing: it changes no
order, and leaves as they are the scores that fusion alone gives to all but the best.
"""

from __future__ import annotations

import numpy as np

from cm_tui.engine.search.adjust import Stage
from cm_tui.engine.search.candidate_table import Column

_KNEE = 0.5


def unit(scores: Column) -> Column:
    """Return scores on the scale from 0 to below 1; what penalties have brought below 0 is 0."""
    above = 1.0 - 0.25 / np.maximum(scores, _KNEE)
    result: Column = np.where(scores > _KNEE, above, np.maximum(scores, 0.0))
    return result


def unit_of(score: float) -> float:
    """Return one score on that scale."""
    return float(unit(np.array([score]))[0])


def to_unit(scores: Column) -> tuple[Column, list[Stage]]:
    """Bring scores to the scale; what that takes away is a part of its own, so that the parts still add up."""
    result = unit(scores)

    def detail(row: int) -> str:
        score = float(scores[row])
        return f"1 − 1 / (4 × {score:.4f}): scores end below 1" if score > _KNEE else "no score is below 0"

    return result, [Stage("scale", "scale", scores, 1.0, result - scores, detail)]
