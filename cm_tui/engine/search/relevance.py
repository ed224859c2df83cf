"""Relevance: how often a hit with such a score and such a cosine was in the right place.

A score orders the hits of one question. What it is worth was counted on questions whose answer is known, half of them
put to a project that cannot know it; `cm bench relevance` counts anew.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from cm_tui.engine.search.candidate_table import CandidateTable, Column
from cm_tui.engine.search.fuse import vector_level
from cm_tui.model import CODE, Mode, Profile

LIKENESS: Final = 9.19
"""How much a cosine of 1 says beside a score of 1, by logistic regression."""
KNOTS: Final = (
    (0.36, 0.0),
    (1.61, 0.044),
    (2.22, 0.057),
    (2.78, 0.059),
    (3.37, 0.16),
    (4.04, 0.192),
    (4.95, 0.409),
    (6.13, 0.528),
    (7.9, 0.673),
    (18.81, 1.0),
)
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
