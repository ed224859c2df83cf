"""How likely a hit of some score is in the right place: the numbers behind `relevance`, and how well they hold."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.errors import UsageError
from tests.bench.corpora import Corpus, Question
from tests.bench.lines import parser
from tests.bench.quality import indexed, own_home
from tests.bench.questions.build import build

_BEST = 3
"""Hits of each question that count."""
_NAMES = frozenset({"name", "qualified name", "half a name"})
_KNOTS = (0.0, 0.2, 0.4, 0.55, 0.65, 0.75, 0.85, 0.9, 0.94, 0.97, 0.99, 1.0)
"""Shares of all hits: the best ones are few, and differ most."""
_FOLDS = 4
_ROUNDS = 50
"""Steps of Newton's method; a handful is enough."""

Numbers = NDArray[np.float64]


class Sample(NamedTuple):
    """One hit: its score before the scale, its cosine, and whether it is in a file of the answer."""

    corpus: str
    score: float
    cosine: float
    right: bool


class Curve(NamedTuple):
    """What evidence is worth: `score + likeness · cosine`, and the share of right hits at some values of it."""

    likeness: float
    evidence: Numbers
    share: Numbers

    def __call__(self, samples: Sequence[Sample]) -> Numbers:
        """Return the relevance of each."""
        given = np.array([one.score + self.likeness * one.cosine for one in samples])
        found: Numbers = np.interp(given, self.evidence, self.share)
        return found


def collect(repositories: Sequence[Path], *, most: int, seed: int) -> Iterator[list[Sample]]:
    """Ask each repository its own questions, and as many of the others.

    Yields:
        the samples of one repository.

    Raises:
        UsageError: there is only one.
    """
    if len(repositories) < 2:
        raise UsageError("One repository has no foreign questions.", hint="Give two or more, better ten.")
    with ExitStack() as folders:
        corpora = [
            build(one, Path(folders.enter_context(tempfile.TemporaryDirectory(prefix="cm-relevance-"))), seed=seed)
            for one in repositories
        ]
        random = Random(seed)
        for corpus in corpora:
            own = [*corpus.questions]
            foreign = [
                question
                for other in corpora
                if other is not corpus
                for question in other.questions
                if question.category not in _NAMES
            ]
            own, foreign = _drawn(own, most, random), _drawn(foreign, most, random)
            yield [*_ask(corpus, own, foreign)]


def _drawn(questions: Sequence[Question], most: int, random: Random) -> list[Question]:
    return random.sample(questions, min(most, len(questions)))


def _ask(corpus: Corpus, own: Sequence[Question], foreign: Sequence[Question]) -> Iterator[Sample]:
    with indexed(corpus) as engine:
        for question in (*own, *foreign):
            targets = {target.path for target in question.targets} if question in own else set[str]()
            for hit in engine.search(question.text, limit=_BEST).hits:
                score = sum(part.contribution for part in hit.parts if part.group != "scale")
                cosine = next((part.value for part in hit.parts if part.group == "vector"), 0.0)
                yield Sample(corpus.name, score, cosine, hit.path in targets)


def fit(samples: Sequence[Sample]) -> Curve:
    """Fit the weight of the cosine by logistic regression, then the shares by isotonic regression (pool adjacent violators)."""
    columns = np.array([(1.0, one.score, one.cosine) for one in samples])
    right = np.array([one.right for one in samples], dtype=np.float64)
    weights = np.zeros(3)
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-(columns @ weights)))
        slope = columns.T @ (right - chance) - 1e-3 * weights
        bend = (columns * (chance * (1 - chance))[:, None]).T @ columns + 1e-3 * np.eye(3)
        weights += np.linalg.solve(bend, slope)
    likeness = float(weights[2] / weights[1])
    given = columns[:, 1] + likeness * columns[:, 2]
    order = np.argsort(given, kind="stable")
    share = _never_falling(right[order])
    knots = (np.array(_KNOTS) * (len(order) - 1)).astype(int)
    return Curve(likeness, given[order][knots], share[knots])


def _never_falling(values: Numbers) -> Numbers:
    """Means of neighbouring values, pooled until none is below the one before."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, size = value, 1
        while pools and pools[-1][0] >= mean:
            before, count = pools.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        pools.append((mean, size))
    return np.repeat([mean for mean, _ in pools], [size for _, size in pools])


def held_out(samples: Sequence[Sample]) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return the relevance of each sample by numbers fitted without its repository, and whether it was right."""
    names = sorted({one.corpus for one in samples})
    found, right = [], []
    for fold in range(min(_FOLDS, len(names))):
        tested = set(names[fold::_FOLDS])
        curve = fit([one for one in samples if one.corpus not in tested])
        rest = [one for one in samples if one.corpus in tested]
        found.append(curve(rest))
        right += [one.right for one in rest]
    return np.concatenate(found), np.array(right, dtype=bool)


def main(argv: Sequence[str]) -> int:
    """Count and print the numbers of `relevance`, and how they hold on repositories left out.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code.
    """
    options = parser("relevance", __doc__).parse_args(list(argv))
    samples: list[Sample] = []
    with own_home():
        for found in collect(options.repositories, most=options.most, seed=options.seed):
            samples += found
    curve = fit(samples)
    expected, right = held_out(samples)
    step = np.minimum((expected * 10).astype(int), 9)
    table = [
        {"expected": float(expected[here].mean()), "seen": float(right[here].mean()), "hits": int(here.sum())}
        for here in (step == number for number in range(10))
        if here.any()
    ]
    knots = list(zip(curve.evidence.round(2).tolist(), curve.share.round(3).tolist(), strict=True))
    if options.json:
        print(json.dumps({"likeness": curve.likeness, "knots": knots, "held_out": table}, indent=1))
        return 0
    print(f"likeness {curve.likeness:.2f}\nknots {knots}")
    for row in table:
        print(f"expected {row['expected']:.2f}  seen {row['seen']:.2f}  of {row['hits']:,} hits")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
