"""How many of a question's words a passage says counts in its keyword level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.config import Config
from cm_tui.engine.search.ranking import profiles
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, concatenate
from cm_tui.engine.search.ranking.fuse import fuse, keyword_level
from cm_tui.engine.search.ranking.pipeline import Searcher
from tests.engine.search.test_context import table
from tests.shop import Project

RECALL = profiles.make("recall", {})
shares = st.floats(0, 1)
rows = st.lists(st.tuples(shares, shares), min_size=1, max_size=20)


def test_a_word_said_often_does_not_stand_for_the_others():
    often, all_once = [1.5, 0.0], [0.7, 0.7]
    both = replace(
        table([-1, -1], [-1, -1]),
        bm25_by_term=np.array([often, all_once]), keyword_limit=np.full(2, 4.0), coordination=np.array([0.5, 1.0]),
    )  # fmt: skip
    by_weight, by_words = keyword_level(both), keyword_level(both, 0.5)
    assert by_weight[0] > by_weight[1]
    assert by_words[0] < by_words[1] == by_weight[1]
    fused = fuse(both, replace(RECALL, coordination=0.5), "keyword")
    assert fused.keyword.tolist() == pytest.approx(by_words.tolist())


@given(rows, shares)
def test_it_only_takes_away_and_nothing_from_what_says_all(of: list[tuple[float, float]], coordination: float):
    levels, said = np.array(of).T
    size = len(levels)
    found = replace(
        table([-1] * size, [-1] * size),
        bm25_by_term=levels[:, None], keyword_limit=np.ones(size), coordination=said,
    )  # fmt: skip
    plain, level = keyword_level(found), keyword_level(found, coordination)
    assert (level <= plain + 1e-12).all()
    assert (level >= (1 - coordination) * plain - 1e-12).all()
    assert level[said == 1].tolist() == pytest.approx(plain[said == 1].tolist())


@pytest.mark.parametrize("query", ["cart", "total price of a cart", "parse config refund items"])
def test_the_share_is_that_of_the_words_by_their_worth(shop: Project, query: str):
    found = Searcher(shop.db, None, Config()).retrieve(query, mode="keyword").table
    said = found.bm25_by_term > 0
    assert ((found.coordination > 0) == said.any(axis=1)).all()
    assert found.coordination[said.all(axis=1)].tolist() == pytest.approx([1.0] * int(said.all(axis=1).sum()))
    for more, fewer in zip(*np.nonzero((said[:, None] & said[None] == said[None]).all(axis=2)), strict=True):
        assert found.coordination[more] >= found.coordination[fewer] - 1e-9


def test_an_explanation_says_how_much_of_the_question_is_there(shop: Project):
    searcher = Searcher(shop.db, None, Config())
    profile = replace(profiles.make("code", {}), coordination=0.7)
    for chosen, told in ((profile, True), (replace(profile, coordination=0.0), False)):
        hit = searcher.search("parse config refund", profile=chosen, mode="keyword").hits[0]
        [details] = [{"of the query's words" in part.detail for part in hit.parts if part.group == "keyword"}]
        assert details == {told}


def _of_source(source: str, worth: dict[str, float], of: list[float]) -> CandidateTable:
    """One candidate of a source that has some words of the question "bump python in ci", with the BM25 of each."""
    limit = np.full(1, 2.2 * sum(worth.values()))
    share = np.array([sum(worth[term] for term, value in zip(worth, of, strict=True) if value) / sum(worth.values())])
    return replace(
        table([-1], [-1]), sources=[source], terms=[*worth], idf=worth, query_terms=("bump", "python", "ci"),
        bm25_by_term=np.array([of]), keyword_limit=limit, coordination=share,
    )  # fmt: skip


def test_a_word_that_other_memory_has_counts_in_a_source_without_it():
    note = _of_source("note", {"ci": 0.2}, [0.4])
    turn = _of_source("episode", {"python": 1.0, "ci": 1.2}, [1.1, 1.2])
    alone = keyword_level(concatenate([note]), 0.7)
    level = keyword_level(concatenate([note, turn]), 0.7)
    assert alone[0] > keyword_level(turn, 0.7)[0]
    assert level[0] < 0.3 < level[1]
    assert level[1] == pytest.approx(keyword_level(turn, 0.7)[0]), "the note lacks nothing that the turn has not"
    code = _of_source("code", {"ci": 0.2}, [0.4])
    assert keyword_level(concatenate([code, turn]), 0.7)[0] == pytest.approx(alone[0]), "code is not measured by memory"
