"""Vocabulary pieces of a text for the bundled model, with counts: the complete input of a static model.

The model's tokenizer first splits at everything except letters and digits, so the pieces of a word do not depend on its
neighbours. Each word is tokenized once and cached, as code repeats the same words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WORD = re.compile(r"[0-9A-Za-z_]+|[^\x00-\x7f\s]+")
_WHOLE = ("[UNK]", "[PAD]", "\u212a", "\u0130")
"""Exceptions to our own splitting: letters that become ASCII in lower case, and the tokenizer's special words."""
_KNOWN_WORDS = 1 << 18
"""Most cached words; beyond that the cache is cleared."""

Ints = NDArray[np.int64]


class Counts(NamedTuple):
    """Pieces of some texts, flat: text by text, each piece of a text once."""

    start: Ints
    """Where each text begins, and the end: (n + 1,)."""
    piece: Ints
    times: Ints


class Pieces:
    """Counts pieces of texts. `tokenizer`: of the model, without truncation."""

    def __init__(self, tokenizer: Tokenizer, longest: int) -> None:
        self._tokenizer = tokenizer
        self._longest = longest
        self._vocabulary = tokenizer.get_vocab_size()
        self._known: dict[str, list[int]] = {}

    def count(self, texts: Sequence[str]) -> Counts:
        """Count the pieces of each text, with the same result as the tokenizer."""
        split = [_words(text) for text in texts]
        known = self._learn(set().union(*split))
        found = [list(islice(chain.from_iterable(map(known.__getitem__, words)), self._longest)) for words in split]
        lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        flat = np.fromiter(chain.from_iterable(found), dtype=np.int64, count=int(lengths.sum()))
        # One sort groups equal pieces of a text.
        key = np.sort(np.repeat(np.arange(len(texts)), lengths) * self._vocabulary + flat)
        first = np.flatnonzero(np.diff(key, prepend=-1))
        start = np.searchsorted(key[first], np.arange(len(texts) + 1) * self._vocabulary)
        return Counts(start, key[first] % self._vocabulary, np.diff(first, append=len(key)))

    def _learn(self, words: set[str]) -> dict[str, list[int]]:
        """Pieces of all these words, and maybe of others."""
        known = self._known
        if len(known) > _KNOWN_WORDS:
            # A new dictionary: another thread may still be reading this one.
            known = self._known = {}
        new = [word for word in words if word not in known]
        encodings = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
        known.update(zip(new, (encoding.ids for encoding in encodings), strict=True))
        return known


def _words(text: str) -> list[str]:
    return [text] if any(mark in text for mark in _WHOLE) else _WORD.findall(text)
