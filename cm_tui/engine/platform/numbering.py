"""Texts as arrays of numbers: each distinct word gets a number, and is then replaced by what it consists of."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]


class Numbering(dict[str, int]):
    """Numbers words in the order in which they are met."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class NumberedTexts(NamedTuple):
    """The words of some texts, in order."""

    vocabulary: Numbering
    word: Numbers
    """Number of each word."""
    lengths: Numbers
    """Number of words in each text."""

    def spread(self, items: Sequence[Sequence[int]]) -> tuple[Numbers, Numbers]:
        """Replace each word by its items. `items`: by number of the word.

        Returns the items in order, and the text of each.
        """
        sizes = np.fromiter(map(len, items), dtype=np.int32, count=len(items))
        starts = np.cumsum(sizes, dtype=np.int32) - sizes
        flat = np.fromiter(chain.from_iterable(items), dtype=np.int32, count=int(sizes.sum()))
        repeat = sizes[self.word]
        ends = np.cumsum(repeat, dtype=np.int32)
        at = np.repeat(starts[self.word] - ends + repeat, repeat)
        at += np.arange(len(at), dtype=np.int32)
        bounds = np.concatenate(([0], ends))[np.concatenate(([0], np.cumsum(self.lengths)))]
        return flat[at], np.repeat(np.arange(len(self.lengths), dtype=np.int32), np.diff(bounds))


def numbered(texts: Iterable[Sequence[str]]) -> NumberedTexts:
    """Number the words of texts, each given as a list of words."""
    vocabulary, word, lengths = Numbering(), array("i"), array("i")
    for words in texts:
        word.extend(map(vocabulary.__getitem__, words))
        lengths.append(len(words))
    return NumberedTexts(vocabulary, np.asarray(word, dtype=np.int32), np.asarray(lengths, dtype=np.int32))
