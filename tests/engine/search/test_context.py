"""Turns of a session lend each other some of their score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.search.ranking import profiles
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, concatenate
from cm_tui.engine.search.ranking.context import beside, lend
from cm_tui.engine.search.ranking.documents import Threads

PROFILE = profiles.make("recall", {})


def table(threads: list[int], turns: list[int], words: float = 60.0) -> CandidateTable:
    size = len(threads)
    empty: list[str] = [""] * size
    return CandidateTable(
        ids=list(range(size)), sources=empty, paths=empty, start_lines=[1] * size, end_lines=[1] * size,
        symbols=[None] * size, kinds=[None] * size, begins=[None] * size,
        languages=empty, texts=empty, times=[None] * size, terms=[],
        bm25_by_term=np.zeros((size, 0)), keyword_limit=np.zeros(size), coordination=np.zeros(size), cosines=np.zeros(size),
        keyword_ranks=np.zeros(size, np.int64), vector_ranks=np.zeros(size, np.int64),
        lengths=np.full(size, words), threads=np.array(threads, np.int32), turns=np.array(turns, np.int32),
    )  # fmt: skip


def test_neighbours_and_session_lend_and_others_do_not():
    profile = replace(PROFILE, thread=0.4, neighbours=0.15)
    scores = np.array([0.6, 0.0, 0.0, 0.5])
    lent, [stage] = lend(table([1, 1, 2, -1], [1, 2, 3, -1]), scores, profile)
    # Of 60 words: half of what stands around counts, and 60 of 65 parts of it all.
    whole = (1 + 0.5 * (0.4 + 0.3)) * 65 / 60
    first, second = 0.6 + 0.5 * 0.4 * 0.2, 0.5 * (0.15 * 0.6 + 0.4 * 0.2)
    assert lent.tolist() == pytest.approx([first / whole, second / whole, 0.0, 0.5])
    assert (scores + stage.contributions).tolist() == pytest.approx(lent.tolist())


def test_pieces_of_one_turn_are_one_turn():
    profile = replace(PROFILE, thread=0.0, neighbours=0.5)
    lent, _ = lend(table([1, 1, 1], [1, 1, 2]), np.array([0.8, 0.2, 0.0]), profile)
    assert lent[0] / lent[1] == pytest.approx(4)
    assert lent[0] == pytest.approx(0.8 / (1 + 60 / 180) * 120 / 125)
    assert lent[2] == pytest.approx(0.5 * 0.5 * 0.8 / (1 + 60 / 120) * 60 / 65)


def test_a_report_speaks_for_itself_and_a_nod_says_nothing():
    profile = replace(PROFILE, thread=0.4, neighbours=0.15)
    scores = np.array([0.2, 0.9])
    talk, report = (lend(table([1, 1], [1, 2], words), scores, profile)[0] for words in (20, 2_000))
    assert talk[0] > report[0] > 0.95 * 0.2
    nod = lend(table([1, 1], [1, 2], 2), scores, profile)[0]
    assert nod.max() < 0.4 * talk.max()


def test_without_threads_or_weights_nothing_changes():
    scores = np.array([0.3, 0.1])
    assert lend(table([-1, -1], [-1, -1]), scores, PROFILE) == (scores, [])
    assert lend(table([1, 1], [1, 2]), scores, replace(PROFILE, thread=0.0, neighbours=0.0)) == (scores, [])


def test_threads_of_two_sources_stay_apart():
    both = concatenate([table([1, 1], [1, 2]), table([1, -1], [1, -1])])
    assert len(set(both.threads[:2].tolist()) & set(both.threads[2:].tolist())) == 0
    assert both.threads[3] == both.turns[3] == -1
    assert both.turns[2] - both.turns[1] > 1


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), min_size=1, max_size=30))
def test_scores_stay_between_none_and_the_best(rows: list[tuple[int, float]]):
    rows.sort()
    scores = np.array([score for _, score in rows])
    lent, _ = lend(table([thread for thread, _ in rows], list(range(len(rows)))), scores, PROFILE)
    assert (lent >= -1e-9).all()
    assert lent.max() <= scores.max() + 1e-9


def test_turns_beside_are_those_of_the_same_thread():
    threads = Threads(np.array([1, 1, 1, 2, -1], np.int32), np.array([1, 2, 2, 3, -1], np.int32))
    assert beside(threads, np.array([0])).tolist() == [1, 2]
    assert beside(threads, np.array([3])).tolist() == []
    assert beside(threads, np.array([4])).tolist() == []
