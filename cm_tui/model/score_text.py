"""Scores as they are printed: rounded parts that add up to the rounded score, and products that hold as they stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from cm_tui.model.search import Hit, ScorePart

DIGITS = 4

Sign = Literal["=", "≈", "→"]


def printed(parts: Sequence[ScorePart], score: float) -> tuple[tuple[float, ...], float]:
    """Round the contributions of a score so that they add up to the rounded score, digit for digit.

    Each is rounded down or up, the largest remainders up (the method of largest remainders, as seats are given to
    parties), so that none is off by a whole unit of the last digit. Returns the contributions and the score, each with
    four digits behind the point.
    """
    unit = 10**DIGITS
    exact = [part.contribution * unit for part in parts]
    units = [math.floor(value) for value in exact]
    total = round(float(f"{score:.{DIGITS}f}") * unit)
    order = sorted(range(len(units)), key=lambda index: exact[index] - units[index], reverse=True)
    for index in order[: max(0, total - sum(units))]:
        units[index] += 1
    return tuple(value / unit for value in units), total / unit


def sign_of(part: ScorePart, value: str, weight: str, contribution: float) -> Sign:
    """Return how a part's printed numbers go together.

    `contribution`: what it adds, as it is printed. Returns `=` when the printed value times the printed weight rounds
    to the printed contribution, `≈` when that holds of the numbers before they were rounded, `→` where the part works
    another way, such as a share of what was reached.
    """
    if abs(part.value * part.weight - part.contribution) >= 1e-6:
        return "→"
    return "=" if round(float(value) * float(weight), DIGITS) == contribution else "≈"


class PartText(NamedTuple):
    """A part of a score, printed: what it adds, its name, `= value × weight`, and the detail."""

    adds: str
    name: str
    product: str
    detail: str


def part_texts(hit: Hit) -> tuple[list[PartText], str]:
    """Return the parts of a hit's score and their sum, printed."""
    contributions, total = printed(hit.parts, hit.score)
    texts = []
    for part, adds in zip(hit.parts, contributions, strict=True):
        value, weight = f"{part.value:.4g}", f"{part.weight:.4g}"
        product = f"{sign_of(part, value, weight, adds)} {value} × {weight}"
        texts.append(PartText(f"{adds:+.{DIGITS}f}", part.name, product, part.detail))
    return texts, f"{total:+.{DIGITS}f}"
