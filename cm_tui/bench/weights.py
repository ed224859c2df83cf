"""Weights of the profile `code`, learned from questions with known lines; what they do on languages left out."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.bench.lines import ask, judge, parser
from cm_tui.bench.quality import Asked, own_home
from cm_tui.engine.search import adjust, fuse
from cm_tui.engine.search.candidate_table import CandidateTable
from cm_tui.model import Profile

KINDS = {"commit": 1.0, "comment": 1.0, "test": 0.7, "document": 0.7, "section": 0.7}
"""Kinds of questions that are learned from, and how much a repository's questions of each count together."""
SIDES = ("keyword_weight", "vector_weight")
KEPT = ("exact-name", "definition", "near-name", "name-vector", "vendored", "best-of-file")
"""What these questions say nothing of (names, copies of foreign code), and what depends on the score of all the rest."""
HELD = {"file-name": 0.25, "path": 0.3, "coherence": 0.05}
"""Weights of what is the same for all passages of a file. Histories ask little for whole files, so these are given."""
LEARNED = (*SIDES, *(name for name in adjust.NAMES if name not in {*KEPT, *HELD}))
_STEPS = 350
_RATE = 0.2
_RIDGE = 3e-4
_FIRST = 6.0
"""Each side's weight at first, in the units of the softmax."""

Matrix = NDArray[np.float32]


class Example(NamedTuple):
    """One question: what its candidates measure, which of them show an answer, and how much it counts."""

    measured: Matrix
    held: Matrix
    answers: NDArray[np.bool_]
    weight: float


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights in units of both sides together, and the loss that they leave."""

    weights: Mapping[str, float]
    loss: float


def examples(asked: Sequence[Asked]) -> list[Example]:
    """Return what can be learned from one repository's questions: those with an answer among the candidates."""
    count = Counter(one.question.category for one in asked)
    found = []
    for one in asked:
        table: CandidateTable = one.candidates.table
        category = one.question.category
        if category not in KINDS or not len(table) or not table.terms:
            continue
        places = list(zip(table.paths, table.start_lines, table.end_lines, strict=True))
        answers = np.array([any(target.found_at(*place) for target in one.question.targets) for place in places])
        if answers.any():
            columns = _columns(table)
            found.append(
                Example(
                    np.stack([columns[name] for name in LEARNED], axis=1).astype(np.float32),
                    sum((weight * columns[name] for name, weight in HELD.items()), np.zeros(len(table))).astype(
                        np.float32
                    ),
                    answers,
                    KINDS[category] / count[category],
                )
            )
    return found


def _columns(table: CandidateTable) -> dict[str, NDArray[np.float64]]:
    """What each weight is multiplied with; what is taken away has a minus."""
    level = {SIDES[0]: fuse.keyword_level(table), SIDES[1]: fuse.vector_level(table)}
    none = np.zeros(len(table))
    signs = {name: -1.0 if name in adjust.PENALTIES else 1.0 for name in adjust.NAMES}
    columns = {name: sign * table.signals.get(name, none) for name, sign in signs.items()}
    columns[adjust.COHERENCE] = adjust.coherence(table.paths, (level[SIDES[0]] + level[SIDES[1]]) / 2)
    return {**columns, **level}


def learn(found: Sequence[Example]) -> Learned:
    """Fit weights of 0 or more by the listwise softmax: the chance that the first hit is an answer (ListNet's top one).

    The loss of a question is `−log(Σ over answers of e^s / Σ over candidates of e^s)`, with `s` the weighted sum;
    minimised by Adam with a small ridge, and clipped at 0 after each step, since each sign is known.
    """
    measured = np.concatenate([one.measured for one in found])
    held = np.concatenate([one.held for one in found])
    answers = np.concatenate([one.answers for one in found])
    sizes = [len(one.answers) for one in found]
    question = np.repeat(np.arange(len(found)), sizes)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    share = np.array([one.weight for one in found])
    share /= share.sum()
    weights = np.zeros(len(LEARNED))
    weights[:2] = _FIRST
    speed, size, loss = np.zeros_like(weights), np.zeros_like(weights), 0.0
    for step in range(1, _STEPS + 1):
        score = measured @ weights.astype(np.float32) + np.float32(weights[:2].sum()) * held
        power = np.exp(score - np.maximum.reduceat(score, first)[question])
        right = np.where(answers, power, 0)
        every, good = np.add.reduceat(power, first), np.maximum(np.add.reduceat(right, first), 1e-30)
        loss = float(-(np.log(good / every) * share).sum())
        pull = ((power / every[question] - right / good[question]) * share[question]).astype(np.float32)
        slope = measured.T @ pull + _RIDGE * weights
        slope[:2] += float(held @ pull)
        speed, size = 0.9 * speed + 0.1 * slope, 0.99 * size + 0.01 * slope**2
        rate = _RATE if step < 0.6 * _STEPS else _RATE / 5
        move = (speed / (1 - 0.9**step)) / (np.sqrt(size / (1 - 0.99**step)) + 1e-8)
        weights = np.maximum(weights - rate * move, 0.0)
    unit = weights[:2].sum()
    return Learned(dict(zip(LEARNED, (weights / unit).tolist(), strict=True)) | HELD, loss)


def with_weights(profile: Profile, weights: Mapping[str, float]) -> Profile:
    """Return a profile with learned weights."""
    others = {name: weight for name, weight in weights.items() if name not in SIDES}
    return replace(
        profile,
        keyword_weight=weights[SIDES[0]],
        vector_weight=weights[SIDES[1]],
        adjustments={**profile.adjustments, **others},
    )


def main(argv: Sequence[str]) -> int:
    """Learn and print weights beside those of the profile, and the figures by language, learned without it.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    from cm_tui.engine.search.profiles import load

    options = parser("weights", __doc__).parse_args(list(argv))
    profile = load({})["code"]
    by_language: dict[str, list[tuple[list[Asked], list[Example]]]] = defaultdict(list)
    with own_home():
        for name, language, asked in ask(options.repositories, most=options.most, seed=options.seed):
            by_language[language].append((asked, examples(asked)))
            print(f"{name} ({language}): {len(asked)} questions", file=sys.stderr)
    whole = learn([one for pairs in by_language.values() for _, found in pairs for one in found])
    table = {}
    for language, pairs in by_language.items():
        rest = [one for other, pairs in by_language.items() if other != language for _, found in pairs for one in found]
        chosen = {"profile": profile, "learned": with_weights(profile, whole.weights)}
        if rest:
            chosen["learned without it"] = with_weights(profile, learn(rest).weights)
        table[language] = {name: mean(_ndcg(asked, one) for asked, _ in pairs) for name, one in chosen.items()}
    if options.json:
        print(json.dumps({"weights": dict(whole.weights), "loss": whole.loss, "languages": table}, indent=1))
        return 0
    now = {**profile.adjustments, SIDES[0]: profile.keyword_weight, SIDES[1]: profile.vector_weight}
    for name, weight in whole.weights.items():
        print(f"{name:16} {weight:6.3f}   in the profile {now.get(name, 0.0):6.3f}")
    for language, row in table.items():
        print(f"{language:12}" + "".join(f"  {name} {value:.3f}" for name, value in row.items()))
    return 0


def _ndcg(asked: Sequence[Asked], profile: Profile) -> float:
    """Mean over the kinds that are learned from of NDCG@10 by lines."""
    readings = judge([one for one in asked if one.question.category in KINDS], profile)
    return mean(mean(one.ndcg for one in found) for found in readings.values()) if readings else 0.0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
