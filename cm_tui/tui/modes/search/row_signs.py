"""What stands between the rank of a row and its name: how far it moved, and how it is marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from textual.content import Content

from cm_tui.model import Hit
from cm_tui.tui.modes.search.moves import Moves

_MOVE = 5
_FLAG = 2
COMPARED = ("◆", "$accent")
RIGHT = ("✓", "$success")
WRONG = ("✗", "$error")


@dataclass(slots=True)
class RowSigns:
    """The columns of a list of hits that are there only where they say something."""

    moves: Mapping[int, int] | None = None
    """How many places each passage went up (or down, below 0), by its id; None: nothing is tuned."""
    new: frozenset[int] = frozenset()
    """Passages that had no rank before."""
    flags: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    """A sign and its colour, by the id of the passage."""

    @property
    def width(self) -> int:
        """Its cells."""
        return (_MOVE if self.moves is not None else 0) + (_FLAG if self.flags else 0)

    def of(self, hit: Hit | None) -> Content:
        """Return the signs of a hit; blank without one."""
        pieces: list[tuple[str, str]] = []
        if self.moves is not None:
            pieces.append(_moved(hit, self.moves, self.new))
        if self.flags:
            sign, style = self.flags.get(hit.passage, (" ", "")) if hit else (" ", "")
            pieces.append((f"{sign:<{_FLAG}}", style))
        return Content.assemble(*pieces)


def _moved(hit: Hit | None, moves: Mapping[int, int], new: frozenset[int]) -> tuple[str, str]:
    if hit is None:
        return " " * _MOVE, ""
    if hit.passage in new:
        return f"{'new':<{_MOVE}}", "$success"
    moved = moves.get(hit.passage, 0)
    if not moved:
        return " " * _MOVE, ""
    arrow, style = ("↑", "$success") if moved > 0 else ("↓", "$error")
    return f"{arrow}{min(abs(moved), 999)}".ljust(_MOVE), style


def signs_of(moves: Moves | None, compared: int | None, marks: Mapping[int, bool]) -> RowSigns:
    """Return the columns for a list.

    Args:
        moves: where what is listed stood before; None: nothing is tuned.
        compared: the passage that is marked for comparison.
        marks: whether passages are marked right or wrong for the question.
    """
    flags = {passage: RIGHT if right else WRONG for passage, right in marks.items()}
    if compared is not None:
        flags[compared] = COMPARED
    return RowSigns(moves.by if moves else None, moves.new if moves else frozenset(), flags)
