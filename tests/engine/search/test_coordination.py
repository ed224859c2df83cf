"""How many of a question's words a passage says counts in its keyword level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.config import Config
from cm_tui.engine.search.ranking import profiles
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
        [details] = [{"of the question's words" in part.detail for part in hit.parts if part.group == "keyword"}]
        assert details == {told}
