"""Scores as they are printed: rounded parts that add up to the rounded score, and products that hold as printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
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


# --- two hits of one ranking side by side: named part by named part, the largest difference first ---

_SAID = 3
"""Parts that a sentence names."""
_WORTH_SAYING = 0.0005
"""What rounds to nothing is not said."""
SCALE = "scale"
"""The part by which a score is brought below 1."""


@dataclass(frozen=True, slots=True)
class PartPair:
    """What one named part adds to the scores of two hits; 0 where a hit has no such part."""

    name: str
    group: str
    one: float
    other: float

    @property
    def difference(self) -> float:
        """How much more it adds to the first of the two."""
        return self.one - self.other


def side_by_side(one: Hit, other: Hit) -> tuple[PartPair, ...]:
    """Return the parts of two hits, the largest difference first; the differences add up to that of the scores.

    How scores are brought to their scale comes last: it follows from the others.
    """
    ours, theirs = _by_name(one.parts), _by_name(other.parts)
    groups = {part.name: part.group for part in (*other.parts, *one.parts)}
    pairs = [
        PartPair(name, groups[name], ours.get(name, 0.0), theirs.get(name, 0.0))
        for name in dict.fromkeys((*ours, *theirs))
    ]
    return tuple(sorted(pairs, key=lambda pair: (pair.name == SCALE, -abs(pair.difference))))


def _by_name(parts: Iterable[ScorePart]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        found[part.name] = found.get(part.name, 0.0) + part.contribution
    return found


def lacks(one: Hit, other: Hit, name: str) -> str:
    """Say in a sentence which parts a hit lacks most against a better one; nothing where it lacks none.

    `name`: what the sentence calls the better one.
    """
    pairs = [pair for pair in side_by_side(one, other) if pair.name != SCALE]
    missing = [f"{pair.name} ({pair.difference:+.3f})" for pair in pairs if pair.difference < -_WORTH_SAYING][:_SAID]
    return f"Compared with {name} it lacks most: {_listed(missing)}." if missing else ""


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
