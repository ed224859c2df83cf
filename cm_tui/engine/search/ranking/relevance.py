"""Relevance: how often a hit with a given score and cosine was correct.

A score orders the hits of one query. Its value was counted on queries with known answers, half of them put to a
project that cannot answer them; `just bench relevance` repeats the count.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.engine.search.ranking.fuse import vector_level
from cm_tui.model import CODE, Mode, Profile

LIKENESS: Final = 8.01
"""Weight of the cosine relative to the score, by logistic regression."""
KNOTS: Final = (
    (0.24, 0.0),
    (1.94, 0.03),
    (2.85, 0.099),
    (3.7, 0.267),
    (4.48, 0.4),
    (5.38, 0.579),
    (6.51, 0.641),
    (7.38, 0.706),
    (8.91, 0.727),
    (13.19, 0.956),
    (15.39, 1.0),
    (17.68, 1.0),
)  # fmt: skip
"""Score + `LIKENESS` · cosine, and the share of such hits that were in a file of the answer: never falling, read in between."""


def is_calibrated(table: CandidateTable, profile: Profile, mode: Mode) -> bool:
    """Return whether relevance is known: for code on both sides, by a profile that has it."""
    return profile.calibrated and profile.fusion == "weighted" and mode == "hybrid" and set(table.sources) <= {CODE}


def relevance(table: CandidateTable, scores: Column) -> Column:
    """Return the relevance of each candidate, from 0 to 1.

    Args:
        table: the candidates.
        scores: before scaling.
    """
    evidence, share = zip(*KNOTS, strict=True)
    found: Column = np.interp(scores + LIKENESS * vector_level(table), evidence, share)
    return found
