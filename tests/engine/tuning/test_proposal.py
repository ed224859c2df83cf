"""Weights learned from marks: near the present ones, with known signs, and judged on what was left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cm_tui.config import Config
from cm_tui.engine.search import adjust
from cm_tui.engine.search.pipeline import Searcher
from cm_tui.engine.store.database import Database
from cm_tui.engine.tuning.proposal import propose
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model.tuning import Mark
from tests.shop import Project

WORDS = ["coin", "purse", "wallet", "ledger", "receipt", "invoice", "refund", "voucher", "discount", "basket"]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory):
    """Each word is in a function, in a test of it, and in an example, of which the last is ranked first."""
    db = Database(tmp_path_factory.mktemp("store"))
    files: dict[str, str | None] = {}
    for word in WORDS:
        files[f"src/part_{word}.py"] = (
            f"def handle_{word}(value):\n    # the {word} is counted\n    total = value + 1\n    return total\n"
        )
        files[f"tests/test_{word}.py"] = (
            f"def test_{word}():\n    # the {word} is counted: the {word}, the {word}\n    assert {word} == 1\n"
        )
    Project(db).put(files)
    yield Searcher(db, None, Config())
    db.close()


def mark(word: str, *, right: bool = True, test: bool = True) -> Mark:
    path = f"tests/test_{word}.py" if test else f"src/part_{word}.py"
    return Mark(f"where is the {word} counted", path, f"test_{word}" if test else f"handle_{word}", 1, 3, right)


def test_marks_that_want_tests_lower_the_penalty_of_tests(searcher: Searcher):
    saved = replace(searcher.profiles()["code"], adjustments={**searcher.profiles()["code"].adjustments, "tests": 0.9})
    found = propose(searcher, saved, [mark(word) for word in WORDS])
    moved = {name: (before, after) for name, before, after in found.weights}
    assert moved["tests"][1] < moved["tests"][0] == 0.9
    assert (found.marks, found.questions, found.rights) == (10, 10, 10)
    assert found.after.ndcg >= found.before.ndcg
    assert found.profile.adjustments["exact-name"] == saved.adjustments["exact-name"]
    for name, weight in found.profile.adjustments.items():
        assert weight >= 0
        assert name not in adjust.PENALTIES or weight <= 1
    assert found.profile.keyword_weight + found.profile.vector_weight == pytest.approx(1)
    assert propose(searcher, saved, [mark(word) for word in reversed(WORDS)]).profile == found.profile


def test_what_is_wrong_goes_down_without_a_right_one(searcher: Searcher):
    saved = replace(searcher.profiles()["code"], adjustments={**searcher.profiles()["code"].adjustments, "tests": 0.0})
    found = propose(searcher, saved, [mark(word, right=False) for word in WORDS])
    assert found.rights == 0
    assert {name: after - before for name, before, after in found.weights}["tests"] > 0
    assert found.after.wrong_in_ten <= found.before.wrong_in_ten
    assert all(not one.right and one.after >= one.before for one in found.ranks)


def test_what_is_right_already_moves_little_and_few_marks_are_said_to_be_few(searcher: Searcher):
    saved = searcher.profiles()["code"]
    found = propose(searcher, saved, [mark("coin", test=False)])
    assert found.before.first == found.after.first == 1
    assert all(abs(after - before) <= 0.1 for _, before, after in found.weights)
    assert "mark" in found.advice
    few = propose(searcher, saved, [mark(word) for word in WORDS[:4]])
    assert "4 marked questions are little to go by" in few.advice


def test_what_cannot_be_learned_from_is_said(searcher: Searcher):
    saved = searcher.profiles()["code"]
    with pytest.raises(NotFoundError, match="No result is marked"):
        propose(searcher, saved, [])
    gone = replace(mark("coin"), path="gone.py")
    with pytest.raises(NotFoundError, match="no candidate"):
        propose(searcher, saved, [gone])
    with pytest.raises(UsageError, match="rrf"):
        propose(searcher, replace(saved, fusion="rrf"), [mark("coin")])
    found = propose(searcher, saved, [mark("coin"), gone, replace(gone, question="the of")])
    assert found.questions == 1
    assert found.notes[0].startswith("2 marked results are no candidate")
