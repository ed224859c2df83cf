"""Pieces chosen one after another within a budget, merged where they meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from cm_tui.engine.context.packs.budget import weight
from cm_tui.engine.context.packs.clean_source import ReadSource
from cm_tui.engine.context.packs.pack import SymbolAt, cost_of_all, piece
from cm_tui.model import PackItem, PackRequest

_GAP = 3
"""Pieces of one file with fewer lines than this between them become one."""

_LEAST_A_LINE = 1.6
"""Tokens of a line break: far too long texts are not read."""


class _Chosen(NamedTuple):
    """A piece, and its place in the pack: that of the best hit in it."""

    place: int
    item: PackItem


class Builder:
    """Chooses pieces within shares of the budget."""

    def __init__(self, question: str, budget: int, source: ReadSource, symbol_at: SymbolAt) -> None:
        self.budget = budget
        self.notes: list[str] = []
        self._asked = weight(question.strip())
        self._source = source
        self._symbol_at = symbol_at
        self._chosen: list[_Chosen] = []

    @property
    def items(self) -> list[PackItem]:
        """Pieces in the order of their places."""
        return [chosen.item for chosen in sorted(self._chosen, key=lambda chosen: chosen.place)]

    @property
    def spent(self) -> float:
        """Tokens that question and pieces cost."""
        return cost_of_all(self._asked, (chosen.item for chosen in self._chosen))

    def room(self, share: float, most: float) -> float:
        """Return what one more piece may cost.

        Args:
            share: of the budget, for all pieces together.
            most: of the budget, for this one.
        """
        return min(self.budget * most, self.budget * share - self.spent)

    def covers(self, request: PackRequest) -> bool:
        """Return whether lines are in a piece already."""
        return any(_covers(chosen.item, request) for chosen in self._chosen)

    def add(self, request: PackRequest, place: int, share: float, most: float = 1.0) -> bool:
        """Add lines, merged with adjacent ones; false when they do not fit.

        Args:
            request: the lines.
            place: in the pack, unless adjacent lines are earlier.
            share: of the budget, for all pieces together.
            most: of the budget, for these lines.
        """
        problems: list[str] = []
        if self.covers(request):
            return True
        if (request.end_line - request.start_line) * _LEAST_A_LINE > self.budget:
            return False
        touching = [chosen for chosen in self._chosen if _touch(chosen.item, request)]
        grown = piece(_union([one.item for one in touching], request), self._source, problems, self._symbol_at)
        if not grown.included:
            self.notes += problems
            return False
        if grown.tokens - sum(one.item.tokens for one in touching) > self.budget * most:
            return False
        trial = [one for one in self._chosen if one not in touching]
        trial.append(_Chosen(min([place, *(one.place for one in touching)]), grown))
        if cost_of_all(self._asked, (one.item for one in trial)) > int(self.budget * share):
            return False
        self.notes += problems
        self._chosen = trial
        return True


def _touch(item: PackItem, request: PackRequest) -> bool:
    return (
        item.path == request.path
        and request.start_line <= item.end_line + _GAP
        and item.start_line <= request.end_line + _GAP
    )


def _covers(item: PackItem, request: PackRequest) -> bool:
    return item.path == request.path and item.start_line <= request.start_line and request.end_line <= item.end_line


def _union(touching: list[PackItem], request: PackRequest) -> PackRequest:
    if not touching:
        return request
    return replace(
        request,
        start_line=min(request.start_line, *(item.start_line for item in touching)),
        end_line=max(request.end_line, *(item.end_line for item in touching)),
        title=_joined(", ", [*(item.title for item in touching), request.title]),
        why=_joined("; ", [*(item.why for item in touching), request.why]),
    )


def _joined(between: str, texts: Iterable[str]) -> str:
    """Each part once, in order; a text may have been joined before."""
    parts = dict.fromkeys(part for text in texts for part in text.split(between) if part)
    return between.join(parts)
