"""Marks of results as right or wrong, and undo of a saved profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cm_tui.model.search import Hit

Place = tuple[str, str | None, int, int]
"""Path, symbol, first and last line."""
_SHARED = 0.5
"""Share of the shorter of two stretches of lines that both must have to be taken for the same."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A person's word that a result is right or wrong for a question."""

    question: str
    path: str
    symbol: str | None
    """Qualified name; it finds the place again when lines have moved. None: the lines count."""
    start_line: int
    end_line: int
    right: bool

    @property
    def place(self) -> str:
        """Path and lines."""
        return f"{self.path}:{self.start_line}-{self.end_line}"


def mark_of(question: str, hit: Hit, *, right: bool) -> Mark:
    """Return the mark of a hit."""
    return Mark(normal(question), hit.path, hit.symbol, hit.start_line, hit.end_line, right)


def normal(question: str) -> str:
    """Return a question as it is kept: what differs in spaces alone is one question."""
    return " ".join(question.split())


def is_same(one: Mark, other: Mark) -> bool:
    """Return whether two marks are of one result and one question, whatever they say of it."""
    if (one.question, one.path, one.symbol) != (other.question, other.path, other.symbol):
        return False
    return one.symbol is not None or _share(one, other.start_line, other.end_line) >= _SHARED


def places_of(mark: Mark, places: Sequence[Place]) -> list[int]:
    """Return which of some places a mark means: the same symbol of the file, else most of the same lines."""
    inside = [number for number, (path, *_) in enumerate(places) if path == mark.path]
    same = [number for number in inside if mark.symbol is not None and places[number][1] == mark.symbol]
    # All pieces of a long function are one thing, whichever of them is shown.
    return same or [number for number in inside if _share(mark, *places[number][2:]) >= _SHARED]


def marks_of_hits(marks: Sequence[Mark], question: str, hits: Sequence[Hit]) -> dict[int, bool]:
    """Return whether hits are marked right or wrong for a question, by the id of their passage."""
    asked = normal(question)
    places = [(hit.path, hit.symbol, hit.start_line, hit.end_line) for hit in hits]
    own = [mark for mark in marks if mark.question == asked]
    return {hits[number].passage: mark.right for mark in own for number in places_of(mark, places)}


def _share(mark: Mark, start: int, end: int) -> float:
    both = min(mark.end_line, end) - max(mark.start_line, start) + 1
    return max(0, both) / min(mark.end_line - mark.start_line + 1, end - start + 1)


@dataclass(frozen=True, slots=True)
class ProfileReset:
    """A profile without what the project's configuration changed of it."""

    name: str
    file: Path
    removed: tuple[str, ...]
    """Settings that were removed; none: the file changed nothing of it."""
