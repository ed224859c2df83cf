"""Marks: when a query is repeated, results marked right come first, and those marked wrong last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking.adjust import Stage
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.engine.search.ranking.passage_cache import PassageCache
from cm_tui.model.tuning import Mark, places_of

SIGNAL = "mark"
_APART = 0.05
"""Distance of marked results from the others, in scores before scaling to 0–1."""
_SPREAD = 0.1
"""Share of the distances among them that remains."""

MarksOf = Callable[[str], tuple[Sequence[Mark], str]]
"""Returns the marks of a query, and a message where they cannot be read."""


def passages_of(records: PassageCache, marks: Sequence[Mark]) -> NDArray[np.int64]:
    """Return the ids of passages marked right, which are always candidates."""
    rights = [mark for mark in marks if mark.right]
    found = records.get(records.at([mark.path for mark in rights]).tolist()) if rights else []
    places = [(one.path, one.owner.qualname if one.owner else None, one.start_line, one.end_line) for one in found]
    return np.array(sorted({found[row].id for mark in rights for row in places_of(mark, places)}), dtype=np.int64)


def marked(table: CandidateTable, marks: Sequence[Mark]) -> CandidateTable:
    """Return candidates with 1 for those marked right, −1 for those marked wrong."""
    places = list(zip(table.paths, table.symbols, table.start_lines, table.end_lines, strict=True))
    values = np.zeros(len(table))
    for mark in marks:
        values[places_of(mark, places)] = 1.0 if mark.right else -1.0
    return replace(table, signals={**table.signals, SIGNAL: values}) if values.any() else table


def moved(table: CandidateTable, scores: Column) -> tuple[Column, list[Stage]]:
    """Move candidates marked right above all others and those marked wrong below, each group in its order.

    Args:
        table: the candidates.
        scores: their scores so far.
    """
    values = table.signals.get(SIGNAL)
    if values is None:
        return scores, []
    right, wrong = values > 0, values < 0
    result = scores.copy()
    if right.any():
        result[right] = scores.max() + _APART + _SPREAD * (scores[right] - scores[right].min())
    if wrong.any():
        result[wrong] = scores.min() - _APART - _SPREAD * (scores[wrong].max() - scores[wrong])

    def detail(row: int) -> str:
        return f"marked {'right' if values[row] > 0 else 'wrong'} for this question"

    return result, [Stage(SIGNAL, "adjust", values, 1.0, result - scores, detail)]
