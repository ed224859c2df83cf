"""Prose and code are taken apart each in its own way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.wording import CODE_WORDING, PROSE_WORDING, wording_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("decided", "decides"),
        ("reverting", "reverted"),
        ("policies", "policy"),
        ("session_006", "session 6"),
        ("parseConfig", "parse the config"),
    ],
)
def test_relatives_share_a_term(one: str, other: str):
    assert set(PROSE_WORDING.terms(one)) & set(PROSE_WORDING.terms(other))


def test_stems_are_english_ones():
    assert PROSE_WORDING.split("running") == ("run",)
    assert PROSE_WORDING.split("HTTPServer2") == ("httpserver2", "http", "server", "2")
    assert PROSE_WORDING.split("缓存失效") == tokens.split("缓存失效") == ("缓存", "存失", "失效")


def test_code_is_taken_apart_as_before():
    assert wording_of("code") is CODE_WORDING
    assert wording_of("episode") is wording_of("note") is PROSE_WORDING
    text = "def parse_config(path): return HTTPServer2"
    assert CODE_WORDING.terms(text) == tokens.terms(text)


def test_a_question_of_empty_words_keeps_them():
    assert PROSE_WORDING.kept(["about", "cache"]) == ["cache"]
    assert PROSE_WORDING.kept(["about", "her"]) == ["about", "her"]


@given(st.text(max_size=80))
def test_any_text_has_terms_that_can_be_stored(text: str):
    for term in PROSE_WORDING.terms(text):
        assert term
        assert "\0" not in term
