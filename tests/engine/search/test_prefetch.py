"""What is read ahead gives the answers that the store gives."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from cm_tui.config import Config
from cm_tui.engine.search.ranking.keyword import KeywordIndex
from cm_tui.engine.search.ranking.passage_cache import PassageCache
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.lru import LRU
from tests.shop import Project


def words_of(project: Project) -> list[str]:
    return [row[0] for row in project.db.rows("SELECT term FROM fts_main_passage.dict")]


@pytest.mark.parametrize("size", [1, 20, 500_000])
def test_terms_in_memory_are_those_of_the_store(shop: Project, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("cm_tui.engine.search.ranking.keyword._SLICE", size)
    words = [*words_of(shop), "no-such-word"]
    stored, engine = KeywordIndex(shop.db), KeywordIndex(shop.db)
    engine.read_all()
    for expected, term in zip(stored.terms(words), engine.terms(words), strict=True):
        assert (term.text, term.idf) == (expected.text, expected.idf)
        np.testing.assert_array_equal(term.postings.documents, expected.postings.documents)
        np.testing.assert_array_equal(term.postings.counts, expected.postings.counts)


def test_terms_are_cached_by_how_many_passages_have_them(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cm_tui.engine.search.ranking.keyword._CACHED_POSTINGS", 6)
    words, index = words_of(shop)[:40], KeywordIndex(shop.db)
    assert len(index.terms(words)) == len(words) > 6
    [number] = index._states
    cached = [term for (term,) in index._states.get(number).terms.values()]
    assert 0 < sum(1 + len(term.postings.documents) for term in cached) <= 6


def test_terms_in_memory_are_left_when_the_passages_change(shop: Project) -> None:
    index = KeywordIndex(shop.db)
    index.read_all()
    shop.put({"new.py": "def zebra():\n    pass"})
    assert [term.text for term in index.terms(["zebra"])] == ["zebra"]
    shop.put({"new.py": None})
    assert index.terms(["zebra"]) == []


def test_records_read_early_are_those_that_are_asked_for(shop: Project) -> None:
    ids = [row[0] for row in shop.db.rows("SELECT id FROM passage")]
    ahead, asked = PassageCache(shop.db), PassageCache(shop.db)
    ahead.read_all(threading.Event())
    assert len(ahead._records) == len(ids)
    assert ahead.get(ids) == asked.get(ids)


def test_what_is_there_already_is_looked_at_once_for_all_steps(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cm_tui.engine.search.ranking.passage_cache._STEP", 2)
    ids = [row[0] for row in shop.db.rows("SELECT id FROM passage")]
    cache = PassageCache(shop.db)
    looks: list[int] = []
    keys = LRU.__iter__
    monkeypatch.setattr(LRU, "__iter__", lambda self: (looks.append(1), keys(self))[1])
    cache.read_all(threading.Event())
    assert (len(looks), len(cache._records)) == (1, len(ids))


def test_only_as_many_records_are_kept_and_the_latest_stay(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cm_tui.engine.search.ranking.passage_cache._KEPT", 3)
    ids = [row[0] for row in shop.db.rows("SELECT id FROM passage ORDER BY id")]
    cache = PassageCache(shop.db)
    assert len(cache.get(ids)) == len(ids)
    cache.get(ids[-2:])
    cache.read_all(threading.Event())
    assert len(cache._records) == 3
    assert set(ids[-2:]) <= set(cache._records)


def test_of_long_records_fewer_are_kept(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cm_tui.engine.search.ranking.passage_cache._KEPT", 4)
    long = "    return 1  # basket\n" * 80
    shop.put({f"long{number}.py": f"def long{number}():\n{long}" for number in range(4)})
    ids = [row[0] for row in shop.db.rows("SELECT id FROM passage WHERE path LIKE 'long%' ORDER BY id")]
    cache = PassageCache(shop.db)
    assert len(cache.get(ids)) == len(ids) >= 4
    assert len(cache._records) == 1
    cache.read_all(threading.Event())
    assert sum(map(len, cache._records.values())) <= 4 * 800


def test_the_second_question_begins_it_and_closing_ends_it(shop: Project) -> None:
    searcher = Searcher(shop.db, None, Config())
    first = searcher.search("price of a basket", profile=replace(searcher.profile("code"), beside="code"))
    assert first.beside
    assert searcher._prefetch._thread is None, "two profiles, and still one query"
    searcher.search("basket")
    searcher._prefetch._thread.join()
    assert searcher._keyword._base is not None
    assert searcher.search("price of a basket").hits == first.hits
    shop.put({"new.py": "def basket_price():\n    return 1"})
    assert searcher.search("basket price").hits[0].path == "new.py"
    searcher.close()
    assert searcher._prefetch._thread is None
    searcher.search("basket")
    assert searcher._prefetch._thread is None
