from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.search.ranking import tokens
from tests.tiers import examples


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("parseConfig", ("parseconfig", "pars", "config")),
        ("parse_config", ("parseconfig", "pars", "config")),
        ("HTTPServer2", ("httpserver2", "http", "serv", "2")),
        ("XMLHttpRequest", ("xmlhttprequest", "xml", "http", "request")),
        ("g", ("g",)),
        ("__init__", ("init",)),
        ("Café", ("caf",)),
        ("größeBerechnen", ("großeberechnen", "große", "berechnen")),
    ],
)
def test_identifiers_match_their_words_and_themselves(word: str, expected: tuple[str, ...]) -> None:
    assert tokens.split(word) == expected


@pytest.mark.parametrize(
    "family",
    [
        ("route", "routes", "routing", "router", "routers", "routed"),
        ("register", "registered", "registration", "registers"),
        ("validate", "validation", "validator", "validating"),
        ("serialize", "serializer", "serialization", "serializing"),
        ("connect", "connection", "connector", "connected", "connections"),
        ("cache", "caching", "cached", "caches"),
        ("manage", "manager", "management", "managing"),
        ("query", "queries"),
        ("run", "running", "runner"),
    ],
)
def test_relatives_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({tokens.stem(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["user", "class", "process", "status", "this", "set", "use"])
def test_short_or_false_endings_stay(word: str) -> None:
    assert tokens.stem(word) == word.removesuffix("e") or tokens.stem(word) == word


def test_chinese_and_japanese_give_pairs() -> None:
    assert tokens.terms("全文検索") == ["全文", "文検", "検索"]
    assert tokens.terms("検") == ["検"]
    assert tokens.terms("parse検索config") == ["pars", "検索", "config"]


def test_question_words_go_unless_nothing_else_is_left() -> None:
    assert tokens.content_words("how does the router work") == ["router"]
    assert tokens.content_words("how is it") == ["how", "is", "it"]


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_plain_terms(text: str) -> None:
    for term in tokens.terms(text):
        assert term
        assert not any(character.isspace() for character in term)
        assert term == term.lower()
