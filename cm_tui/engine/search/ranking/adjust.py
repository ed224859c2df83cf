"""Adjustments: named boosts and penalties on the fused score. `docs/search.md` gives the reason for each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.model import Profile

PENALTIES = (
    "tests", "examples", "docs", "legacy", "news", "translated", "vendored", "settings", "declarations", "generated", "nameless", "values", "types",
)  # fmt: skip
"""Take away `weight × signal`; all others add it."""

COHERENCE = "coherence"
NAME_VECTOR = "name-vector"
DETAILS = {
    "exact-name": "defines exactly the name in the query",
    "definition": "defines a name in the query",
    "near-name": "defines a name similar to an unknown one in the query",
    "symbol-name": "words of the query in names defined here",
    "name-share": "share of its name that is in the query",
    "container": "words of the query in the names of the enclosing symbols",
    "head": "words of the query in its first lines of code",
    "length": "long enough for code that does work",
    "usage": "a document: up for a question about use, down for one about code",
    "file": "the file as a whole answers the query",
    "frame": "a place in the trace",
    "message": "has words of the error message in a row",
    "date": "from a date in the query, or mentions one",
    "speaker": "by the person named in the query",
    "tests": "a test",
    "examples": "an example or a benchmark",
    "docs": "documentation",
    "legacy": "kept for compatibility",
    "news": "a changelog or an announcement",
    "translated": "a translated document",
    "vendored": "a copy of foreign code",
    "settings": "settings or build instructions",
    "declarations": "declarations without code",
    "generated": "written by a program",
    "nameless": "imports and other lines outside of any symbol",
    "values": "constants, fields and other values",
    "types": "the head of a type, without its methods",
    "file-name": "words of the query in the file's name",
    "path": "words of the query in folders and file name",
    "coherence": "other passages of the file match too",
}
"""What each says of a hit, in the order in which they are applied."""
OF_FILES = ("file-name", "path", COHERENCE)
"""Evidence for a file: only its best passage has it, so it finds the file without lifting all of its lines."""
NAMES = (*DETAILS, NAME_VECTOR)
"""Every name that a profile's adjustments may use."""


class Stage(NamedTuple):
    """The share of one step in every candidate's score, for explaining shown hits."""

    name: str
    group: str
    values: Column
    weight: float
    contributions: Column
    detail: Callable[[int], str]


def adjust(table: CandidateTable, fused: Column, profile: Profile) -> tuple[Column, list[Stage]]:
    """Apply a profile's adjustments.

    Args:
        table: the candidates.
        fused: their score so far.
        profile: its `adjustments` are the weights; a name that is missing or 0 does nothing.

    Returns:
        The new scores, and what each adjustment added.
    """
    stages: list[Stage] = []
    score = fused
    best: Column | None = None
    for name, text in DETAILS.items():
        if not (weight := profile.adjustments.get(name, 0.0)):
            continue
        values = coherence(table.paths, fused) if name == COHERENCE else table.signals.get(name)
        if values is None:
            continue
        if name in OF_FILES:
            best = best_of_file(table.paths, score) if best is None else best
            values = values * best
        contributions = (-weight if name in PENALTIES else weight) * values
        stages.append(Stage(name, "adjust", values, weight, contributions, partial(_explanation, text)))
        score = score + contributions
    return score, stages


def _explanation(text: str, _row: int) -> str:
    return text


def best_of_file(paths: list[str], scores: Column) -> Column:
    """Return 1 for the best-scoring passage of each file (the first of equal ones), and 0 for the others."""
    best: dict[str, int] = {}
    for row in np.argsort(-scores, kind="stable").tolist():
        best.setdefault(paths[row], row)
    values = np.zeros(len(paths))
    values[list(best.values())] = 1.0
    return values


def coherence(paths: list[str], scores: Column) -> Column:
    """Return the summed score of each file's passages, as a share of the best file's sum."""
    numbers: dict[str, int] = {}
    files = np.array([numbers.setdefault(path, len(numbers)) for path in paths], dtype=np.int64)
    if not len(files):
        return np.zeros(0)
    sums = np.bincount(files, weights=scores)
    best = float(sums.max())
    share: Column = (sums / best)[files] if best > 0 else np.zeros(len(files))
    return share
