"""A text as displayed, with pieces of the source removed or replaced, and the mapping back to the source."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple


class Piece(NamedTuple):
    """A contiguous part of the source in a view."""

    begin: int
    """Where it begins in the view."""
    origin: int
    """Where it begins in the text."""
    width: int = 1
    """Number of source characters for each of its characters."""


@dataclass(frozen=True, slots=True)
class View:
    """A text with pieces taken out or replaced."""

    text: str
    pieces: tuple[Piece, ...]
    """In order, the first at 0."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of a non-empty part in the source, including removed text inside."""
        return self._at(start), self._at(end - 1, 1)

    def _at(self, position: int, behind: int = 0) -> int:
        piece = self.pieces[bisect_right(self.pieces, position, key=_begin) - 1]
        return piece.origin + (position - piece.begin + behind) * piece.width


def _begin(piece: Piece) -> int:
    return piece.begin
