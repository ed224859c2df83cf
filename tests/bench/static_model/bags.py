"""Texts as a static model sees them: which pieces, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from cm_tui.engine.search.embed.bundled import MAX_TOKENS, Ints, Pieces
from cm_tui.engine.search.embed.provider import unit_rows
from tests.bench.static_model.onnx_file import Table

_BATCH = 4096


class Bags(NamedTuple):
    """Pieces of some texts, flat, text by text."""

    start: Ints
    """Where each text begins, and the end: (n + 1,)."""
    piece: NDArray[np.int32]
    times: NDArray[np.float32]

    def some(self, rows: Ints) -> Bags:
        """Return the bags of some texts."""
        length = np.diff(self.start)[rows]
        start = np.concatenate([[0], np.cumsum(length)])
        at = np.repeat(self.start[rows] - start[:-1], length) + np.arange(start[-1])
        return Bags(start, self.piece[at], self.times[at])

    @property
    def owner(self) -> Ints:
        """Number of the text of each piece."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def bags_of(tokenizer: Tokenizer, texts: Sequence[str]) -> Bags:
    """Count the pieces of texts as the product does."""
    pieces = Pieces(tokenizer, MAX_TOKENS)
    parts = [pieces.count(texts[first : first + _BATCH]) for first in range(0, len(texts), _BATCH)]
    lengths = np.concatenate([np.diff(part.start) for part in parts])
    return Bags(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([part.piece for part in parts]).astype(np.int32),
        np.concatenate([part.times for part in parts]).astype(np.float32),
    )


def sums(table: Table, bags: Bags) -> Table:
    """Return the sum of each text's rows; zeros for an empty text."""
    found = np.zeros((len(bags.start) - 1, table.shape[1]), dtype=np.float32)
    full = np.flatnonzero(np.diff(bags.start))
    if len(full):
        found[full] = np.add.reduceat(table[bags.piece] * bags.times[:, None], bags.start[full], axis=0)
    return found


def vectors(table: Table, bags: Bags) -> Table:
    """Return unit vectors of texts."""
    step = 2048
    count = len(bags.start) - 1
    found = [sums(table, bags.some(np.arange(at, min(at + step, count)))) for at in range(0, count, step)]
    return unit_rows(np.concatenate(found))
