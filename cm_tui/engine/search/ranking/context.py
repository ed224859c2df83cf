"""Context: neighbours of a passage in its thread indicate its subject, and add to its score.

A reply may share no word with the question that it answers: it receives a share of the question's score.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking.adjust import Stage
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.engine.search.ranking.documents import Threads
from cm_tui.model import Profile

_BEST = 3
"""Best turns of a thread that make its score; missing ones count as 0."""

_ALONE = 60.0
"""Number of words at which context counts half: a line of talk needs it, a report does not."""
_SHORT = 5.0
"""Number of words at which a turn counts half: "Yes, do that" answers no question, whatever its context."""
_QUESTION_MARKS = "?？؟"
_REPLY = "the turn before it ends in a question"
_ENDS = 160
"""Last characters of a turn that may contain the question: a greeting or a picture may follow it."""


def beside(threads: Threads, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the turns directly before and after those of some rows, in the same thread.

    Args:
        threads: one row per passage.
        rows: passages.
    """
    rows = rows[threads.thread[rows] >= 0]
    turns = np.unique(threads.turn[rows])
    around = np.setdiff1d(np.concatenate([turns - 1, turns + 1]), turns)
    near = np.flatnonzero(np.isin(threads.turn, around))
    return near[np.isin(threads.thread[near], np.unique(threads.thread[rows]))]


def lend(table: CandidateTable, scores: Column, profile: Profile) -> tuple[Column, list[Stage]]:
    """Add a passage's thread, and the turns directly before and after it, to its score.

    `s·(own + a·(t·thread + n·(before + after))) / (1 + a·(t + 2n))`, where a turn is as good as its best passage and a
    thread as its three best turns together, by three; of a turn of w words, `a = 60 / (60 + w)` and `s = w / (w + 5)`.
    A turn after one that ends in a question gets `s·a·r·before` in addition. A passage without a thread keeps its score.

    Args:
        table: the candidates.
        scores: their scores so far.
        profile: `thread`, `neighbours` and `reply` are t, n and r; t = n = 0: no effect.
    """
    share, near = profile.thread, profile.neighbours
    inside = table.threads >= 0
    if not (share or near) or not inside.any():
        return scores, []
    turns, first, row = np.unique(table.turns[inside], return_index=True, return_inverse=True)
    best = np.zeros(len(turns))
    np.maximum.at(best, row, scores[inside])
    thread = table.threads[inside][first]
    words = np.bincount(row, weights=table.lengths[inside])
    alone, said = _ALONE / (_ALONE + words), words / (words + _SHORT)
    context = share * _of_threads(best, thread) + near * _of_neighbours(best, turns, thread)
    lent, asked = np.zeros(len(scores)), np.zeros(len(scores))
    with_context = (scores[inside] + (alone * context)[row]) / (1 + alone * (share + 2 * near))[row]
    lent[inside] = said[row] * with_context - scores[inside]
    if profile.reply:
        asked[inside] = (said * alone * _of_question(table, best, turns, thread, row))[row]
    lengths = dict(zip(np.flatnonzero(inside).tolist(), words[row].tolist(), strict=True))

    def detail(at: int) -> str:
        return f"its session by {share:g}, the turns around it by {near:g} each, as a turn of {lengths[at]:.0f} words needs it"

    around = np.zeros(len(scores))
    around[inside] = context[row] / (share + 2 * near)
    stages = [Stage("context", "adjust", around, share + 2 * near, lent, detail)]
    replied = profile.reply * asked
    if replied.any():
        stages.append(Stage("reply", "adjust", asked, profile.reply, replied, lambda _row: _REPLY))
    return scores + lent + replied, stages


def _of_question(
    table: CandidateTable, best: Column, turns: NDArray[np.int32], thread: NDArray[np.int32], row: NDArray[np.int64]
) -> Column:
    """What the turn before each scores where it ends in a question, else 0; turns are ascending."""
    at = np.flatnonzero(table.threads >= 0)
    order = np.argsort(np.array(table.end_lines)[at], kind="stable")
    # Of a turn in several pieces, the last one says how it ends.
    last = dict(zip(row[order].tolist(), at[order].tolist(), strict=True))
    asks = np.array([_asks(table.texts[last[turn]]) for turn in range(len(turns))])
    found = np.zeros(len(best))
    found[1:] = np.where(_follows(turns, thread) & asks[:-1], best[:-1], 0.0)
    return found


@lru_cache(maxsize=1 << 14)
def _asks(text: str) -> bool:
    end = text.rstrip()[-_ENDS:]
    return any(mark in end for mark in _QUESTION_MARKS)


def _follows(turns: NDArray[np.int32], thread: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each turn but the first comes just after the one before it, in the same thread."""
    found: NDArray[np.bool_] = (np.diff(turns) == 1) & (np.diff(thread) == 0)
    return found


def _of_threads(best: Column, thread: NDArray[np.int32]) -> Column:
    """How well each turn's thread answers."""
    order = np.lexsort((-best, thread))
    starts = np.searchsorted(thread[order], thread[order], side="left")
    sums = np.zeros(int(thread.max()) + 1)
    top = order[np.arange(len(order)) - starts < _BEST]
    np.add.at(sums, thread[top], best[top])
    found: Column = sums[thread] / _BEST
    return found


def _of_neighbours(best: Column, turns: NDArray[np.int32], thread: NDArray[np.int32]) -> Column:
    """Scores of the turns directly before and after each; turns are ascending."""
    found = np.zeros(len(best))
    follows = _follows(turns, thread)
    found[1:] += np.where(follows, best[:-1], 0.0)
    found[:-1] += np.where(follows, best[1:], 0.0)
    return found
