"""Stale: what names something of the code that is gone counts less, where a profile says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cm_tui.engine.search.adjust import Stage
from cm_tui.engine.search.candidate_table import CandidateTable, Column
from cm_tui.model import CODE, Profile

SIGNAL = "stale"


class Flag(NamedTuple):
    """What is to be said of something remembered that names what is not as it was."""

    severity: float
    """From 0 to 1: how much of the profile's weight counts."""
    words: str
    """Which name, and what became of it."""


FlagsOf = Callable[[Sequence[str]], Mapping[str, Flag]]
"""Gives the flags of passages by their paths; what is as it was has none."""


def flagged(table: CandidateTable, flags_of: FlagsOf) -> CandidateTable:
    """Return candidates with what is stale of them; code is what it is.

    Args:
        table: the candidates.
        flags_of: gives the flags of what is remembered.
    """
    paths = {path for path, source in zip(table.paths, table.sources, strict=True) if source != CODE}
    flags = flags_of(sorted(paths)) if paths else {}
    if not flags:
        return table
    severity = np.array([flags[path].severity if path in flags else 0.0 for path in table.paths])
    words = {path: flag.words for path, flag in flags.items()}
    return replace(table, signals={**table.signals, SIGNAL: severity}, stale=words)


def penalise(table: CandidateTable, scores: Column, profile: Profile) -> tuple[Column, list[Stage]]:
    """Multiply the score of what is stale by `1 − weight · severity`.

    Args:
        table: the candidates.
        scores: their scores so far.
        profile: `stale` is the weight; 0: nothing is taken away.
    """
    severity = table.signals.get(SIGNAL)
    if not profile.stale or severity is None:
        return scores, []
    contributions = -profile.stale * severity * scores
    return scores + contributions, [
        Stage(SIGNAL, "adjust", severity, profile.stale, contributions, lambda row: table.stale[table.paths[row]])
    ]
