"""Words looked up one by one give what the tokenizer gives for the whole text."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from cm_tui.engine.search.embed import bundled as module
from cm_tui.engine.search.embed.bundled import Pieces, bundled_folder

TOKENIZER = Tokenizer.from_file(str(bundled_folder() / "tokenizer.json"))
PIECES = Pieces(TOKENIZER, 30)

odd = st.sampled_from(
    ["[UNK]", "[PAD]", "\u212a", "\u0130", "HTTPServer2x", "__a_B", "日本語ab", "é", "—", "\n", " ", "a9Z", "ſ"]
)
texts = st.lists(st.one_of(odd, st.text(max_size=8)), max_size=12).map("".join)


def counted(pieces: Pieces, given_texts: list[str]) -> list[dict[int, int]]:
    counts = pieces.count(given_texts)
    return [
        dict(zip(counts.piece[a:b].tolist(), counts.times[a:b].tolist(), strict=True))
        for a, b in zip(counts.start, counts.start[1:], strict=False)
    ]


@given(st.lists(texts, max_size=5))
def test_counts_are_those_of_the_tokenizer(given_texts):
    expected = [Counter(TOKENIZER.encode(text, add_special_tokens=False).ids[:30]) for text in given_texts]
    assert counted(PIECES, given_texts) == expected


@pytest.mark.parametrize("text", ["a\u212ab", "x [UNK] y", "PAD[PAD]", "aİb"])
def test_what_the_tokenizer_sees_across_words_is_left_to_it(text):
    assert counted(PIECES, [text]) == [Counter(TOKENIZER.encode(text, add_special_tokens=False).ids)]


def test_words_are_forgotten_when_they_become_too_many(monkeypatch):
    monkeypatch.setattr(module, "_KNOWN_WORDS", 3)
    pieces = Pieces(TOKENIZER, 30)
    for text in ("one two three four", "five six", "one two"):
        assert counted(pieces, [text]) == [Counter(TOKENIZER.encode(text, add_special_tokens=False).ids)]
    assert len(pieces._known) < 6
