from __future__ import annotations

from cm_tui.lru import LRU


def test_the_least_recently_used_entry_is_dropped():
    cache: LRU[str, int] = LRU(2)
    assert cache.put("a", 1) == cache.put("b", 2) == []
    assert cache.get("a") == 1
    assert cache.put("c", 3) == [("b", 2)]
    assert cache.items() == [("a", 1), ("c", 3)]
    assert cache.get("b") is None
    assert len(cache) == 2


def test_a_value_that_is_set_again_counts_once_and_is_the_newest():
    cache: LRU[str, str] = LRU(4, len)
    cache.put("a", "xx")
    cache.put("b", "x")
    cache.put("a", "x")
    assert cache.put("c", "xxx") == [("b", "x")]
    assert cache.values() == ["x", "xxx"]


def test_weights_bound_the_total_and_a_value_that_weighs_more_is_not_stored():
    cache: LRU[str, str] = LRU(5, len)
    cache.put("a", "xx")
    cache.put("b", "xxx")
    assert cache.put("huge", "xxxxxx") == []
    assert cache.items() == [("a", "xx"), ("b", "xxx")]
    assert cache.pop("a") == "xx"
    assert cache.pop("a") is None
    assert cache.put("c", "xx") == []
    cache.clear()
    assert cache.put("d", "xxxxx") == []
    assert len(cache) == 1
