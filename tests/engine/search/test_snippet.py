"""A snippet shows the lines that answer."""

from __future__ import annotations

from cm_tui.engine.search.ranking.snippet import snippet
from cm_tui.engine.search.ranking.tokens import terms

DOC = "\n".join(f"    word {i} about url_for and url_for again" for i in range(30))
TEXT = f"@decorated\ndef url_for(\n    endpoint,\n) -> str:\n{DOC}\n    return url_for"


def test_the_definition_is_shown_where_it_is_asked_for():
    text, line = snippet(TEXT, 100, terms("url_for"), 300, "url_for")
    assert (text.split("\n")[:2], line) == (["@decorated", "def url_for("], 100)


def test_what_matches_better_wins_over_a_name_that_nobody_asked_for():
    text, line = snippet(TEXT, 100, terms("word again"), 300, "url_for")
    assert line > 101
    assert "again" in text


def test_many_more_terms_win_over_the_definition():
    lines = ["def load():", *["    pass"] * 40, "    # cache key expires after timeout of the session when load fails"]
    text, _ = snippet("\n".join(lines), 1, terms("load cache key expires timeout session"), 200, "load")
    assert "expires" in text
