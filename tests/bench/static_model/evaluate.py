"""How well a static model finds the answers of pairs that it did not learn from."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from tokenizers import Tokenizer

from cm_tui.engine.search.embed.provider import unit_rows
from cm_tui.engine.search.vectors.codec import PATH_WEIGHT
from tests.bench.static_model.bags import vectors
from tests.bench.static_model.data import data_of
from tests.bench.static_model.onnx_file import Table
from tests.bench.static_model.pairs import KINDS, Pair

MOST = 1500
"""Pairs of a kind."""


def evaluate(tokenizer: Tokenizer, table: Table, pairs: Sequence[Pair], seed: int) -> dict[str, float]:
    """Return the mean reciprocal rank among the ten first, by kind: each question against the answers of its kind."""
    random = Random(seed)
    found = {}
    for kind in KINDS:
        some = [pair for pair in pairs if pair.kind == kind]
        some = random.sample(some, min(MOST, len(some)))
        if some:
            data = data_of(tokenizer, some)
            answers = vectors(table, data.texts) + np.float32(PATH_WEIGHT) * vectors(table, data.paths)
            score = vectors(table, data.questions) @ unit_rows(answers).T
            rank = 1 + (score > score.diagonal()[:, None]).sum(axis=1)
            found[kind] = float(np.where(rank <= 10, 1 / rank, 0).mean())
    return found
