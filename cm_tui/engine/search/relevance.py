"""Relevance: how often a hit with such a score and such a cosine was in the right place.

A score orders the hits of one question. What it is worth was counted on questions whose answer is known, half of them
put to a project that cannot know it; `just bench relevance` counts anew.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from cm_tui.engine.search.candidate_table import CandidateTable, Column
from cm_tui.engine.search.fuse import vector_level
from cm_tui.model import CODE, Mode, Profile

LIKENESS: Final = 8.01
"""How much a cosine of 1 says beside a score of 1, by logistic regression."""
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
    """Return whether the numbers hold: for hits of code on both sides, by a profile that says so."""
    return profile.calibrated and profile.fusion == "weighted" and mode == "hybrid" and set(table.sources) <= {CODE}


def relevance(table: CandidateTable, scores: Column) -> Column:
    """Return the relevance of each candidate, from 0 to 1.

    Args:
        table: the candidates.
        scores: what the steps before the scale have added up to.
    """
    evidence, share = zip(*KNOTS, strict=True)
    found: Column = np.interp(scores + LIKENESS * vector_level(table), evidence, share)
    return found
