"""`cm recall` and what `cm search` shows beside code."""

from __future__ import annotations

import os

import pytest

from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.memory.episode_record import EpisodeRecord
from tests.cli.conftest import Shop


@pytest.fixture
def remembered(new_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of what was said about the cart's tax."""
    monkeypatch.setenv("CM_HOME", str(new_shop.home))
    record = EpisodeRecord(
        agent="codex", session="tax", prompts=("Why is the cart's total wrong?",), at=1_770_000_000.0,
        answer="The tax was added twice;\x1b[2J now add_tax is called once.", files=("shop/cart.py",),
    )  # fmt: skip
    id_ = Journal.of(new_shop.root).append("episode", record.to_event_data()).id
    assert new_shop.cm("index").code == 0
    return id_


def test_recall_prints_what_was_said_and_how_old_it_is(new_shop: Shop, remembered: str):
    assert os.environ["CM_HOME"] == str(new_shop.home)
    shown = new_shop.cm("recall", "why was the total of the cart wrong", "--explain")
    assert shown.code == 0
    assert f"episode/{remembered}" in shown.out
    assert "ago" in shown.out
    assert "\x1b[2J" not in shown.out
    assert "= sum" in shown.out
    found = new_shop.cm("recall", "cart total", "--json", "--file", "shop", "--agent", "codex").json
    assert [hit["id"] for hit in found["hits"]] == [remembered]
    assert found["hits"][0]["time"] == 1_770_000_000
    assert new_shop.cm("recall", "cart total", "--json", "--since", "2026-03-01").json["hits"] == []


def test_where_nothing_is_remembered_it_says_how_to_begin(new_shop: Shop):
    new_shop.cm("index")
    done = new_shop.cm("recall", "why was the total of the cart wrong")
    assert (done.code, "`cm import`" in done.err, "`cm remember TEXT`" in done.err) == (0, True, True)
    assert "`cm import`" not in new_shop.cm("recall", "cart", "--since", "30d").err


def test_search_shows_it_beside_code(new_shop: Shop, remembered: str):
    shown = new_shop.cm("search", "total of the cart with tax", "--limit", "2")
    assert "What was said about it:" in shown.out
    assert shown.out.index("shop/cart.py") < shown.out.index(f"episode/{remembered}")
    found = new_shop.cm("search", "total of the cart with tax", "--json").json
    assert [hit["path"] for hit in found["beside"]] == [f"episode/{remembered}"]
    assert {hit["source"] for hit in found["hits"]} == {"code"}


def test_bad_input_is_explained(new_shop: Shop):
    for words, said in ((["recall", " "], "Nothing is asked"), (["recall", "x", "--since", "soon"], "is no day")):
        result = new_shop.cm(*words)
        assert result.code == 2
        assert said in result.err
