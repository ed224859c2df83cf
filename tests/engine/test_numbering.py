"""Words of texts as numbers, replaced by what they consist of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.platform.numbering import numbered

words = st.text("abcd", max_size=2)
texts = st.lists(st.lists(words, max_size=5), max_size=5)


@given(texts)
def test_words_are_replaced_by_their_items_in_order(some: list[list[str]]) -> None:
    found = numbered(some)
    assert list(found.vocabulary) == list(dict.fromkeys(word for text in some for word in text))
    items, text = found.spread([[ord(letter) for letter in word] for word in found.vocabulary])
    assert list(zip(text.tolist(), map(chr, items.tolist()), strict=True)) == [
        (number, letter) for number, one in enumerate(some) for word in one for letter in word
    ]
