"""Two hits of one ranking side by side: named part by named part, the largest difference first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cm_tui.model.search import Hit, ScorePart

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
    return f"Against {name} it lacks most: {_listed(missing)}." if missing else ""


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
