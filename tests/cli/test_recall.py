"""`cm recall` and what `cm search` shows beside code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from tests.cli.conftest import Shop, ShopTemplate, opened_once


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> ShopTemplate:
    return ShopTemplate(tmp_path_factory.mktemp("remembered"), remember)


def remember(shop: Shop) -> str:
    """The id of what was said about the cart's tax."""
    record = EpisodeRecord(
        agent="codex", session="tax", prompts=("Why is the cart's total wrong?",), at=1_770_000_000.0,
        answer="The tax was added twice;\x1b[2J now add_tax is called once.", files=("shop/cart.py",),
    )  # fmt: skip
    id_ = Journal.of(shop.root).append("episode", record.to_event_data()).id
    assert shop.cm("index").code == 0
    return id_


@pytest.fixture
def taxed(kept: ShopTemplate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A project in which something was said about the cart's tax."""
    with opened_once(kept.put_back(monkeypatch)) as shop:
        yield shop


@pytest.fixture
def remembered(kept: ShopTemplate) -> str:
    """The id of what was said."""
    return str(kept.found)


def test_recall_prints_what_was_said_and_how_old_it_is(taxed: Shop, remembered: str):
    shown = taxed.cm("recall", "why was the total of the cart wrong", "--explain")
    assert shown.code == 0
    assert f"episode/{remembered}" in shown.out
    assert "ago" in shown.out
    assert "\x1b[2J" not in shown.out
    assert "= sum" in shown.out
    found = taxed.cm("recall", "cart total", "--json", "--file", "shop", "--agent", "codex").json
    assert [hit["id"] for hit in found["hits"]] == [remembered]
    assert found["hits"][0]["time"] == 1_770_000_000
    assert taxed.cm("recall", "cart total", "--json", "--since", "2026-03-01").json["hits"] == []


def test_where_nothing_is_remembered_it_says_how_to_begin(own_shop: Shop):
    done = own_shop.cm("recall", "why was the total of the cart wrong")
    assert (done.code, "`cm import`" in done.err, "`cm remember TEXT`" in done.err) == (0, True, True)
    assert "`cm import`" not in own_shop.cm("recall", "cart", "--since", "30d").err


def test_a_question_without_an_answer_does_not_offer_an_import_of_what_is_there(taxed: Shop, remembered: str):
    done = taxed.cm("recall", "zzzzqq")
    assert (done.code, done.out, "`cm import`" in done.err) == (0, "", False)
    assert "No matching memories" in done.err


def test_search_shows_it_beside_code(taxed: Shop, remembered: str):
    shown = taxed.cm("search", "total of the cart with tax", "--limit", "2")
    assert "From memory:" in shown.out
    assert shown.out.index("shop/cart.py") < shown.out.index(f"episode/{remembered}")
    found = taxed.cm("search", "total of the cart with tax", "--json").json
    assert [hit["path"] for hit in found["beside"]] == [f"episode/{remembered}"]
    assert {hit["source"] for hit in found["hits"]} == {"code"}
    assert not found["beside_first"]
    why = "why did we change the total of the cart with tax"
    reasons = taxed.cm("search", why, "--limit", "2").out
    assert reasons.index(f"episode/{remembered}") < reasons.index("Code:\n") < reasons.rindex("shop/cart.py")
    assert taxed.cm("search", why, "--json").json["beside_first"]


def test_bad_input_is_explained(taxed: Shop):
    for words, said in ((["recall", " "], "The query is empty"), (["recall", "x", "--since", "soon"], "not a date")):
        result = taxed.cm(*words)
        assert result.code == 2
        assert said in result.err
