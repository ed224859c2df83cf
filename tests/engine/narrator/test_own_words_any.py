"""Any text at all: nothing raises, and what comes of it is bounded."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator.own_words import sentences_in, sentences_of, signature
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from tests.tiers import examples

_SAME = (
    "a.", "<a", "<a ", "<a>", "<a b='", "</", "`", "```", "```\n", "~", "~~~\n", "[", "[[", "[Ann", "[Ann] ", "(", "{", "\n", "\n ", "\r\n", " ", "\t", "\u2028",
    "\n- ", "\n— ", "\n— Ann", "- ", "-", ", ", " btw", " btw ", "p.s.", "A. ", "e.g. ", "#", "# a\n", "|", "> ", "1.", "1. ", "\\", "$", "é", "\0", "a", "a ",
    "no ", "always ", " thanks", "at a(", "import a, ", "error: a at line ", "_", "__", "'", '"', "…", "x:1:", "cm:narrator", "a\n", "always use it\n",
)  # fmt: skip
_PIECES = st.one_of(
    st.text(max_size=20),
    st.sampled_from([*_SAME, "always use tabs.", "Never push to main! ", "Ann here. ", "diff --git ", "from now on "]),
)
_TEXTS = st.lists(_PIECES, max_size=40).map("".join)
_BOUND_S = 5.0
"""A quadratic pattern took minutes; what is linear takes some tens of milliseconds."""


@settings(max_examples=examples(300))
@given(st.one_of(st.text(), _TEXTS))
def test_no_text_raises_and_what_it_says_is_bounded(text: str) -> None:
    found = sentences_in(text)
    assert len(found) == len(set(found))
    assert sum(map(len, found)) <= len(text)
    for one in found:
        assert 0 < len(one) <= 400
        assert one == one.strip()
        assert "\n" not in one
    assert sentences_of(EpisodeRecord(prompts=(text, text))) == found
    assert len(signature(EpisodeRecord(prompts=(text,)))) <= 21


@settings(max_examples=examples(100))
@given(_TEXTS)
def test_what_is_fenced_or_tagged_adds_nothing(text: str) -> None:
    inner = text.replace("`", "").replace("</x>", "")
    assert sentences_in(f"we always use tabs\n```\n{inner}\n```\n") == ("we always use tabs",)
    assert sentences_in(f"we always use tabs\n<x>{inner}</x>") == ("we always use tabs",)


@pytest.mark.parametrize("one", _SAME)
def test_twenty_thousand_characters_of_the_same_take_no_time(one: str) -> None:
    began = time.process_time()
    for text in (one * 20_000, (one * 400)[:399] + "\n" + one * 20_000, ((one * 700)[:699] + "\n") * 30):
        found = sentences_in(text)
        signature(EpisodeRecord(prompts=(text,)))
        assert all(len(said) <= 400 for said in found)
    assert time.process_time() - began < _BOUND_S
