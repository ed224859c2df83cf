"""Training of a static model: in-batch negatives, analytic gradients, Adam on the rows that a batch has."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cm_tui.engine.search.embed.bundled import Ints
from cm_tui.engine.search.embed.provider import unit_rows
from cm_tui.engine.search.vectors.codec import PATH_WEIGHT
from tests.bench.static_model.bags import Bags, sums
from tests.bench.static_model.data import Data, batches
from tests.bench.static_model.onnx_file import Table

_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Options:
    """Numbers of a training."""

    epochs: int = 5
    batch: int = 1024
    rate: float = 0.008
    temperature: float = 0.05
    keep: float = 3.0
    """Weight of similarities that are kept."""
    share: float = 0.4
    """Of the trained table in the result; the rest is the table it began with, which knows what the pairs do not say."""
    most: int = 60_000
    """Pairs of a language in an epoch."""
    seed: int = 20


@dataclass(frozen=True, slots=True)
class Kept:
    """Short texts whose similarities are to stay as a teacher sees them."""

    bags: Bags
    teacher: Table
    """Unit rows, of whatever dimension."""
    at_once: int = 256


class Adam:
    """Adam that moves only the rows a batch has.

    Args:
        table: is changed.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._mean, self._square = np.zeros_like(table), np.zeros_like(table)
        self._times = np.zeros(len(table), dtype=np.float32)

    def step(self, rows: Ints, slope: Table, rate: float) -> None:
        """Move some rows against their slope."""
        self._times[rows] += 1
        times = self._times[rows][:, None]
        mean = self._mean[rows] * 0.9 + 0.1 * slope
        square = self._square[rows] * 0.99 + 0.01 * slope**2
        self._mean[rows], self._square[rows] = mean, square
        move = mean / (1 - 0.9**times) / (np.sqrt(square / (1 - 0.99**times)) + _TINY)
        self._table[rows] -= np.float32(rate) * move


def train(table: Table, data: Data, options: Options, kept: Sequence[Kept] = ()) -> Table:
    """Return a trained table.

    Args:
        table: to begin with.
        data: pairs.
        options: numbers.
        kept: what is not to be forgotten.
    """
    first = table / np.linalg.norm(table, axis=1).mean()
    table = first.copy()
    adam, random = Adam(table), np.random.default_rng(options.seed)
    every = [list(batches(data, options.batch, options.most, random)) for _ in range(options.epochs)]
    steps, done, started = sum(map(len, every)), 0, time.monotonic()
    for epoch, rows in enumerate(every):
        losses = []
        for batch in rows:
            loss, parts = pair_slopes(table, data, batch, options.temperature)
            for one in kept:
                some = random.choice(len(one.teacher), min(one.at_once, len(one.teacher)), replace=False)
                parts.append(kept_slopes(table, one, some, options.keep / len(kept)))
            # The first steps are small, and the last ones.
            rate = options.rate * min(1.0, (done + 1) / 50) * (1 - done / steps * 0.95)
            adam.step(*gathered(parts), rate)
            losses.append(loss)
            done += 1
        took = time.monotonic() - started
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {done} steps, {took:.0f} s", file=sys.stderr, flush=True)
    mixed: Table = np.float32(options.share) * table + np.float32(1 - options.share) * first
    return mixed


Part = tuple[Bags, Table]
"""Texts, and the slope of the loss along the sum of each one's rows."""


def pair_slopes(table: Table, data: Data, rows: Ints, temperature: float) -> tuple[float, list[Part]]:
    """Return the loss of a batch, the mean of both directions, and its slopes.

    Right is the answer of the question's own pair; wrong are those of all others, unless question or answer are equal.
    """
    asked, texts, paths = (bags.some(rows) for bags in (data.questions, data.texts, data.paths))
    questions, text, path = (sums(table, bags) for bags in (asked, texts, paths))
    unit_text, unit_path = unit_rows(text), unit_rows(path)
    answer = unit_text + np.float32(PATH_WEIGHT) * unit_path
    unit_question, unit_answer = unit_rows(questions), unit_rows(answer)
    score = unit_question @ unit_answer.T / np.float32(temperature)
    said, answers = data.said[rows], data.answer[rows]
    equal = (said[:, None] == said) | (answers[:, None] == answers)
    np.fill_diagonal(equal, val=False)
    score[equal] = -1e9
    loss = 0.0
    slope = np.zeros_like(score)
    for axis in (0, 1):
        power = np.exp(score - score.max(axis=axis, keepdims=True))
        power /= power.sum(axis=axis, keepdims=True)
        loss -= float(np.log(np.maximum(power.diagonal(), 1e-30)).mean()) / 2
        slope += power / 2
    slope[np.diag_indices_from(slope)] -= 1
    slope /= np.float32(temperature * len(rows))
    to_answer = _through_length(slope.T @ unit_question, unit_answer, answer)
    return loss, [
        (asked, _through_length(slope @ unit_answer, unit_question, questions)),
        (texts, _through_length(to_answer, unit_text, text)),
        (paths, np.float32(PATH_WEIGHT) * _through_length(to_answer, unit_path, path)),
    ]


def kept_slopes(table: Table, kept: Kept, rows: Ints, weight: float) -> Part:
    """Return the slope of the squared difference between our similarities of some texts and the teacher's."""
    bags = kept.bags.some(rows)
    total = sums(table, bags)
    unit = unit_rows(total)
    teacher = kept.teacher[rows]
    away = unit @ unit.T - teacher @ teacher.T
    np.fill_diagonal(away, 0)
    return bags, _through_length(np.float32(4 * weight / len(rows) ** 2) * away @ unit, unit, total)


def _through_length(slope: Table, unit: Table, total: Table) -> Table:
    """Take a slope along unit vectors back to the sums that were scaled."""
    along = np.einsum("ij,ij->i", slope, unit)[:, None]
    length = np.linalg.norm(total, axis=1, keepdims=True)
    found: Table = ((slope - along * unit) / np.maximum(length, _TINY) * (length > _TINY)).astype(np.float32)
    return found


def gathered(parts: Sequence[Part]) -> tuple[Ints, Table]:
    """Return the rows of the table that some texts have, and the slope of each."""
    piece = np.concatenate([bags.piece for bags, _ in parts])
    times = np.concatenate([bags.times for bags, _ in parts])
    first = np.cumsum([0, *(len(slope) for _, slope in parts)])
    owner = np.concatenate([bags.owner + at for (bags, _), at in zip(parts, first, strict=False)])
    slopes = np.concatenate([slope for _, slope in parts])
    order = np.argsort(piece, kind="stable")
    ordered = piece[order]
    start = np.flatnonzero(np.diff(ordered, prepend=-1))
    found = np.add.reduceat(slopes[owner[order]] * times[order][:, None], start, axis=0)
    return ordered[start].astype(np.int64), found
