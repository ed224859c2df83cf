"""A text as somebody reads it, with pieces of what is written taken out or replaced, and the way back to what is written."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple


class Piece(NamedTuple):
    """A part of a view that stands in the text in one piece."""

    begin: int
    """Where it begins in the view."""
    origin: int
    """Where it begins in the text."""
    width: int = 1
    """How many characters of the text each of its characters stands for."""


@dataclass(frozen=True, slots=True)
class View:
    """A text with pieces taken out or replaced."""

    text: str
    pieces: tuple[Piece, ...]
    """In order, the first at 0."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of it, which is not empty, stands in the text; what was taken out inside belongs to it."""
        return self._at(start), self._at(end - 1, 1)

    def _at(self, position: int, behind: int = 0) -> int:
        piece = self.pieces[bisect_right(self.pieces, position, key=_begin) - 1]
        return piece.origin + (position - piece.begin + behind) * piece.width


def _begin(piece: Piece) -> int:
    return piece.begin
