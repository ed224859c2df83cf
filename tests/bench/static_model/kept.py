"""Short texts whose similarities a model keeps: as the model of prose sees them, or as it saw them itself."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from tokenizers import Tokenizer

from tests.bench.static_model.bags import bags_of, vectors
from tests.bench.static_model.onnx_file import Table
from tests.bench.static_model.pairs import Pair
from tests.bench.static_model.train import Kept

TEACHERS = ("prose", "itself", "none")
_PROSE = ("prose", "section", "heading", "commit", "comment")
_LONGEST = 200
"""Characters of a text: long ones cost the teacher much time."""
_AT_ONCE = 256


def kept_texts(
    teacher: str,
    pairs: Sequence[Pair],
    count: int,
    tokenizers: tuple[Tokenizer, Tokenizer],
    table: Table,
    random: Random,
) -> list[Kept]:
    """Choose short texts of pairs and have a teacher embed them.

    Args:
        teacher: one of `TEACHERS`.
        pairs: whose questions, and answers in prose, are chosen from.
        count: texts.
        tokenizers: of the model before and now.
        table: of the model, before it is trained.
        random: chooses.
    """
    if teacher == "none" or not count:
        return []
    texts = {pair.question[:_LONGEST] for pair in pairs if pair.kind in _PROSE}
    texts |= {pair.text[:_LONGEST] for pair in pairs if pair.kind == "prose"}
    chosen = random.sample(sorted(texts), min(count, len(texts)))
    bags = bags_of(tokenizers[1], chosen)
    return [Kept(bags, _prose(chosen) if teacher == "prose" else vectors(table, bags))]


def _prose(texts: Sequence[str]) -> Table:
    from cm_tui.engine.search.embed.prose_process import shared_provider

    step = _AT_ONCE
    return np.concatenate([shared_provider().embed(texts[at : at + step]) for at in range(0, len(texts), step)])
