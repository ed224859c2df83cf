"""Weights that marks speak for: learned near the present ones, and judged on questions that were left out."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cm_tui.counts import count, noun
from cm_tui.engine.search import adjust
from cm_tui.engine.search.candidate_table import CandidateTable
from cm_tui.engine.search.features import SIDES
from cm_tui.engine.search.rank import Ranking
from cm_tui.engine.tuning.learner import LEARNED, Example, Start, example, learn, with_weights
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Candidates, Mode, Profile
from cm_tui.model.tuning import FEW, Figures, Mark, QuestionRanks, TuningProposal, places_of

MOST_QUESTIONS = 200
_FOLDS = 20
"""Up to so many questions each is left out by itself; of more, so many groups are."""
_SHARPNESS = 15.0
"""Both sides' weight together in the units of the softmax: how sure the present ranking is taken to be."""
_RIDGE = 0.3
"""How strongly weights are drawn to the present ones, by one question; the more there are, the weaker."""
_STEPS = 120
_RATE = 0.1
_DEPTH = 10
_DIGITS = 2


class Rankings(Protocol):
    """The part of the searcher that learning needs."""

    def retrieve(self, query: str, *, profile: str | Profile = "code", mode: Mode = "hybrid") -> Candidates:
        """Find the candidates of a question."""

    def ranking(self, candidates: Candidates, profile: Profile) -> Ranking:
        """Rank all of them."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A marked question whose marks are among its candidates."""

    text: str
    candidates: Candidates
    right: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    marked: int
    """How many results are marked right."""

    @property
    def has_right(self) -> bool:
        """Whether a right one is among the candidates."""
        return bool(self.right.any())


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one question is answered."""

    rank: int
    ndcg: float
    wrong: int


def propose(searcher: Rankings, saved: Profile, marks: Sequence[Mark]) -> TuningProposal:
    """Learn weights from marks, and say what they do.

    Args:
        searcher: answers the marked questions.
        saved: the profile as it is.
        marks: of the project.

    Raises:
        NotFoundError: there are no marks, or none of them is a candidate of its question.
        UsageError: the profile's fusion has no weights to learn.
    """
    started = time.perf_counter()
    if saved.fusion != "weighted":
        raise UsageError(
            f"The profile {saved.name} fuses ranks ({saved.fusion}), whose weights are not learned.",
            hint='Set fusion = "weighted", or take the profile back: `cm tune --reset`.',
        )
    if not marks:
        raise NotFoundError(
            "No result is marked yet.",
            hint="Mark some: + and - in the application, or `cm tune mark QUESTION NAME --right`.",
        )
    found, notes = _questions(searcher, saved, marks)
    if not found:
        raise NotFoundError(
            "No mark can be learned from: what is marked is no candidate of its question.",
            hint="`cm tune marks` lists them; `cm search QUESTION --why-not NAME` says where one stands.",
        )
    examples = [_examples(one, saved) for one in found]
    profile = _learned(saved, [part for parts in examples for part in parts])
    before, after = (_read(searcher, found, one) for one in (saved, profile))
    left_out = _left_out(searcher, found, examples, saved)
    ranks = (
        QuestionRanks(one.text, one.has_right, first.rank, second.rank, third.rank)
        for one, first, second, third in zip(found, before, after, left_out, strict=True)
    )
    changed = [one for one in ranks if len({one.before, one.after, one.left_out}) > 1]
    changed.sort(key=lambda one: (-abs(_gain(one.before) - _gain(one.after)), one.question))
    now, then, expected = (_figures(found, readings) for readings in (before, after, left_out))
    weights = _changes(saved, profile)
    return TuningProposal(
        saved, profile, weights, len(marks), len(found), sum(one.has_right for one in found), now, then, expected,
        tuple(changed), _advice(len(found), weights, now, then, expected), tuple(notes),
        (time.perf_counter() - started) * 1000,
    )  # fmt: skip


# --- questions ---


def _questions(searcher: Rankings, saved: Profile, marks: Sequence[Mark]) -> tuple[list[_Question], list[str]]:
    """The questions that can be learned from, and what has to be said of the others."""
    by_question: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_question[mark.question].append(mark)
    # What comes beside is another question.
    profile = replace(saved, beside="")
    found, missing, notes = [], 0, []
    for text in sorted(by_question)[:MOST_QUESTIONS]:
        candidates = searcher.retrieve(text, profile=profile)
        table: CandidateTable = candidates.table
        places = list(zip(table.paths, table.symbols, table.start_lines, table.end_lines, strict=True))
        flags = {True: np.zeros(len(table), np.bool_), False: np.zeros(len(table), np.bool_)}
        for mark in by_question[text]:
            rows = places_of(mark, places)
            flags[mark.right][rows] = True
            missing += not rows
        rights = sum(mark.right for mark in by_question[text])
        if table.terms and (flags[True].any() or flags[False].any()):
            found.append(_Question(text, candidates, flags[True], flags[False] & ~flags[True], rights))
    if missing:
        notes.append(
            f"{count(missing, 'marked result')} {noun(missing, 'is', 'are')} no candidate of {noun(missing, 'its question', 'their questions')}, and cannot be learned from."
        )
    if len(by_question) > MOST_QUESTIONS:
        notes.append(f"The first {MOST_QUESTIONS} of {count(len(by_question), 'marked question')} were learned from.")
    return found, notes


def _examples(one: _Question, saved: Profile) -> list[Example]:
    """What is to be first: a right one; and none of the wrong ones."""
    held = {name: saved.adjustments.get(name, 0.0) for name in adjust.NAMES if name not in LEARNED}
    wanted = [flags for flags in (one.right, ~one.wrong) if flags.any() and not flags.all()]
    return [example(one.candidates.table, flags, 1 / len(wanted), held) for flags in wanted]


# --- learning ---


def _learned(saved: Profile, examples: Sequence[Example]) -> Profile:
    """The profile with weights that answer the examples better, near those that it has."""
    if not examples:
        return saved
    unit = saved.keyword_weight + saved.vector_weight
    now = _weights(saved)
    begin = np.array([now[name] for name in LEARNED]) * _SHARPNESS
    begin[:2] /= unit
    ridge = _RIDGE / len(examples)
    learned = learn(examples, start=Start(begin, ridge, _STEPS, _RATE)).weights
    chosen = {name: _rounded(name, weight) for name, weight in learned.items()}
    return with_weights(saved, {**chosen, SIDES[1]: round(1 - chosen[SIDES[0]], _DIGITS)})


def _rounded(name: str, weight: float) -> float:
    most = 1.0 if name in adjust.PENALTIES or name in SIDES else math.inf
    return round(min(weight, most), _DIGITS)


def _weights(profile: Profile) -> dict[str, float]:
    sides = {SIDES[0]: profile.keyword_weight, SIDES[1]: profile.vector_weight}
    return {**{name: profile.adjustments.get(name, 0.0) for name in LEARNED}, **sides}


def _changes(saved: Profile, profile: Profile) -> tuple[tuple[str, float, float], ...]:
    old, new = _weights(saved), _weights(profile)
    changed = [(name, old[name], new[name]) for name in LEARNED if old[name] != new[name]]
    return tuple(sorted(changed, key=lambda one: -abs(one[2] - one[1])))


def _left_out(
    searcher: Rankings, found: Sequence[_Question], examples: Sequence[list[Example]], saved: Profile
) -> list[_Reading]:
    """Each question read by weights that were learned without it."""
    folds = min(len(found), _FOLDS)
    readings: dict[int, _Reading] = {}
    for fold in range(folds):
        inside = [part for number, parts in enumerate(examples) if number % folds != fold for part in parts]
        profile = _learned(saved, inside)
        out = [number for number in range(len(found)) if number % folds == fold]
        readings |= dict(zip(out, _read(searcher, [found[number] for number in out], profile), strict=True))
    return [readings[number] for number in range(len(found))]


# --- judging ---


def _read(searcher: Rankings, found: Sequence[_Question], profile: Profile) -> list[_Reading]:
    readings = []
    for one in found:
        kept = searcher.ranking(one.candidates, profile).kept
        wanted = one.right if one.has_right else one.wrong
        places = [place for place, row in enumerate(kept, start=1) if wanted[row]]
        gained = sum(1 / math.log2(place + 1) for place in places if place <= _DEPTH) if one.has_right else 0.0
        best = sum(1 / math.log2(place + 1) for place in range(1, min(_DEPTH, max(one.marked, len(places))) + 1))
        wrong = sum(bool(one.wrong[row]) for row in kept[:_DEPTH])
        readings.append(_Reading(places[0] if places else 0, gained / best if best else 0.0, wrong))
    return readings


def _figures(found: Sequence[_Question], readings: Sequence[_Reading]) -> Figures:
    right = [reading for one, reading in zip(found, readings, strict=True) if one.has_right]
    return Figures(
        first=sum(reading.rank == 1 for reading in right),
        in_ten=sum(0 < reading.rank <= _DEPTH for reading in right),
        ndcg=mean(reading.ndcg for reading in right) if right else 0.0,
        wrong_in_ten=sum(reading.wrong for reading in readings),
    )


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1) if rank else 0.0


def _advice(
    questions: int, weights: Sequence[tuple[str, float, float]], before: Figures, after: Figures, left_out: Figures
) -> str:
    few = f"{count(questions, 'marked question')} {noun(questions, 'is', 'are')} little to go by: mark {FEW} or more."
    if not weights:
        said = "The marks speak for the weights as they are."
    elif (left_out.ndcg, -left_out.wrong_in_ten) <= (before.ndcg, -before.wrong_in_ten):
        said = "Left out while learning, the questions are answered no better than before: better not saved."
    else:
        gain, own = left_out.ndcg - before.ndcg, after.ndcg - before.ndcg
        said = f"Left out while learning, the questions gain {gain:+.3f} NDCG@10 (of {own:+.3f} with them)."
    return f"{few} {said}" if questions < FEW else said
