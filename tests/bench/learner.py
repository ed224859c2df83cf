"""The learner of weights: a listwise softmax over named features, regularised, with known signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking import adjust
from cm_tui.engine.search.ranking.candidate_table import CandidateTable
from cm_tui.engine.search.ranking.lifts import SIDES, features
from cm_tui.model import Profile

KEPT = ("exact-name", "definition", "near-name", "name-vector", "vendored", *adjust.OF_FILES)
"""What these questions say nothing of (names, copies of foreign code), and what depends on the score of all the rest."""
LEARNED = (*SIDES, *(name for name in adjust.NAMES if name not in KEPT))
STEPS = 350
_RATE = 0.2
RIDGE = 3e-4
FIRST = 6.0
"""Each side's weight at first, in the units of the softmax."""

Matrix = NDArray[np.float32]


class Example(NamedTuple):
    """One question: what its candidates measure, which of them show an answer, and how much it counts."""

    measured: Matrix
    answers: NDArray[np.bool_]
    weight: float


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights in units of both sides together, and the loss that they leave."""

    weights: Mapping[str, float]
    loss: float


@dataclass(frozen=True, slots=True)
class Start:
    """Where learning begins, and what it is drawn back to.

    Args:
        weights: of every learned feature, in the units of the softmax; the ridge draws towards them.
        ridge: how strongly.
        steps: of the descent.
        rate: length of a step.
    """

    weights: NDArray[np.float64]
    ridge: float
    steps: int = STEPS
    rate: float = _RATE


def example(
    table: CandidateTable, answers: NDArray[np.bool_], weight: float, learned: Sequence[str] = LEARNED
) -> Example:
    """Return what can be learned from one question.

    Args:
        table: its candidates.
        answers: which of them show an answer.
        weight: how much the question counts.
        learned: names of the weights.
    """
    columns = features(table)
    measured = np.stack([columns[name] for name in learned], axis=1)
    return Example(measured.astype(np.float32), answers, weight)


def learn(found: Sequence[Example], names: Sequence[str] = LEARNED, start: Start | None = None) -> Learned:
    """Fit weights of 0 or more by the listwise softmax: the chance that the first hit is an answer (ListNet's top one).

    The loss of a question is `−log(Σ over answers of e^s / Σ over candidates of e^s)`, with `s` the weighted sum;
    minimised by Adam with a small ridge, and clipped at 0 after each step, since each sign is known.

    Args:
        found: the questions.
        names: of the weights, both sides first.
        start: where it begins; by default both sides alike and nothing else, drawn towards 0.
    """
    measured = np.concatenate([one.measured for one in found])
    answers = np.concatenate([one.answers for one in found])
    sizes = [len(one.answers) for one in found]
    question = np.repeat(np.arange(len(found)), sizes)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    share = np.array([one.weight for one in found])
    share /= share.sum()
    begin = start or Start(np.zeros(len(names)), RIDGE)
    weights = begin.weights.copy()
    if start is None:
        weights[:2] = FIRST
    speed, size, loss = np.zeros_like(weights), np.zeros_like(weights), 0.0
    for step in range(1, begin.steps + 1):
        score = measured @ weights.astype(np.float32)
        power = np.exp(score - np.maximum.reduceat(score, first)[question])
        right = np.where(answers, power, 0)
        every, good = np.add.reduceat(power, first), np.maximum(np.add.reduceat(right, first), 1e-30)
        loss = float(-(np.log(good / every) * share).sum())
        pull = ((power / every[question] - right / good[question]) * share[question]).astype(np.float32)
        slope = measured.T @ pull + begin.ridge * (weights - begin.weights)
        speed, size = 0.9 * speed + 0.1 * slope, 0.99 * size + 0.01 * slope**2
        rate = begin.rate if step < 0.6 * begin.steps else begin.rate / 5
        move = (speed / (1 - 0.9**step)) / (np.sqrt(size / (1 - 0.99**step)) + 1e-8)
        weights = np.maximum(weights - rate * move, 0.0)
    unit = weights[:2].sum()
    return Learned(dict(zip(names, (weights / unit).tolist(), strict=True)), loss)


def with_weights(profile: Profile, weights: Mapping[str, float]) -> Profile:
    """Return a profile with learned weights."""
    others = {name: weight for name, weight in weights.items() if name not in SIDES}
    return replace(
        profile,
        keyword_weight=weights[SIDES[0]],
        vector_weight=weights[SIDES[1]],
        adjustments={**profile.adjustments, **others},
    )
