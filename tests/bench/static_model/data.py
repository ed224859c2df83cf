"""Pairs as numbers, and batches of them in which a third comes from the same few projects."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from cm_tui.engine.search.embed.bundled import Ints
from cm_tui.engine.search.embed.provider import passage_text
from cm_tui.engine.search.vectors.codec import path_words
from tests.bench.static_model.bags import Bags, bags_of
from tests.bench.static_model.pairs import Pair

HELD_OUT = 40
"""One project of so many is not learned from."""
RUN = 32
"""Pairs of a project that stay together in a batch: of the same files and classes."""
NEAR = 1 / 3
"""Share of a batch that comes in such runs."""
SHARES = {"name": 0.4, "inner": 0.5, "heading": 0.7, "prose": 0.8}
"""Share of the pairs of a kind that an epoch takes; of the others all."""


class Data(NamedTuple):
    """Pairs, column by column."""

    questions: Bags
    texts: Bags
    paths: Bags
    said: NDArray[np.uint32]
    """Digest of each question and of each text: equal ones are no wrong answers."""
    answer: NDArray[np.uint32]
    project: Ints
    language: Ints
    kind: NDArray[np.str_]
    languages: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.project)


def data_of(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> Data:
    """Count the pieces of pairs."""
    _, project = np.unique([pair.project for pair in pairs], return_inverse=True)
    languages, language = np.unique([pair.language for pair in pairs], return_inverse=True)
    return Data(
        bags_of(tokenizer, [pair.question for pair in pairs]),
        bags_of(tokenizer, [passage_text(pair.title, pair.text) for pair in pairs]),
        bags_of(tokenizer, [path_words(pair.path) if pair.path else "" for pair in pairs]),
        np.array([zlib.crc32(pair.question.lower().encode()) for pair in pairs], dtype=np.uint32),
        np.array([zlib.crc32(pair.text.encode()) for pair in pairs], dtype=np.uint32),
        project,
        language,
        np.array([pair.kind for pair in pairs]),
        tuple(map(str, languages)),
    )


def is_held_out(pair: Pair) -> bool:
    """Return whether a pair's project is one that is not learned from."""
    return zlib.crc32(pair.project.encode()) % HELD_OUT == 0


def batches(data: Data, size: int, most: int, random: np.random.Generator) -> Iterator[Ints]:
    """Yield rows of one epoch.

    Args:
        data: pairs, those of a project next to each other.
        size: pairs of a batch.
        most: pairs of a language.
        random: chooses.
    """
    share = np.ones(len(data))
    for kind, value in SHARES.items():
        share[data.kind == kind] = value
    taken = random.random(len(data)) < share
    often = np.bincount(data.language[taken], minlength=len(data.languages))
    taken &= random.random(len(data)) < (most / np.maximum(often, 1))[data.language]
    runs = _runs(np.flatnonzero(taken), data.project)
    random.shuffle(runs)
    cut = int(len(runs) * NEAR)
    near, far = runs[:cut], np.concatenate(runs[cut:])
    random.shuffle(far)
    count = int(taken.sum()) // size
    for number in range(count):
        part = near[number * len(near) // count : (number + 1) * len(near) // count]
        yield np.concatenate([*part, far[number * len(far) // count : (number + 1) * len(far) // count]])


def _runs(rows: Ints, project: Ints) -> list[Ints]:
    """Cut rows where the project changes, and each project into short runs."""
    whole = np.split(rows, np.flatnonzero(np.diff(project[rows])) + 1)
    return [one[at : at + RUN] for one in whole for at in range(0, len(one), RUN)]
