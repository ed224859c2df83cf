"""Filters and suggestions of `cm search`, as text and as JSON."""

from __future__ import annotations

from tests.cli.conftest import Shop


def test_filters_are_in_the_answer(shop: Shop):
    done = shop.cm("search", "total path:shop lang:py -in:tests", "--limit", "3")
    assert done.code == 0
    assert "filters: path:shop lang:python -in:tests" in done.err
    result = shop.cm("search", "total path:shop/cart.py", "--json").json
    assert {hit["path"] for hit in result["hits"]} == {"shop/cart.py"}
    assert result["filters"] == ["path:shop/cart.py"]
    assert result["suggestions"] == []
    assert result["query"] == "total path:shop/cart.py"


def test_a_query_that_begins_with_a_dash_stands_behind_two(shop: Shop):
    done = shop.cm("search", "--json", "--", "-path:shop total")
    assert done.json["filters"] == ["-path:shop"]
    assert not any(hit["path"].startswith("shop/") for hit in done.json["hits"])


def test_no_words_are_listed_by_path(shop: Shop):
    done = shop.cm("search", "kind:class")
    assert "note: No words to rank by: " in done.err
    assert "class Cart" in done.out


def test_what_is_no_filter_is_said(shop: Shop):
    done = shop.cm("search", "total kind:metod lang:pyhton")
    assert done.code == 0
    assert done.out
    assert "Did you mean kind:method? Available: module," in done.err
    assert "Did you mean lang:python? Available: " in done.err
    assert "filters:" not in done.err


def test_a_mistyped_name_has_suggestions(shop: Shop):
    done = shop.cm("search", "how does format_prise work")
    assert "note: Did you mean format_price?" in done.err
    result = shop.cm("search", "how does format_prise work", "--json").json
    assert result["suggestions"] == [{"name": "format_price", "query": "how does format_price work"}]


def test_a_pack_is_narrowed(shop: Shop):
    pack = shop.cm("pack", "total of a cart path:shop/cart.py", "--format", "json").json
    assert {item["path"] for item in pack["items"] if item["why"].startswith("hit")} == {"shop/cart.py"}
    assert "Only passages matching path:shop/cart.py were searched." in pack["notes"]
