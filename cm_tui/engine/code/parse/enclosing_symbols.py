"""Which symbol is the innermost around a byte."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from cm_tui.engine.code.parse.records import LocatedSymbol
from cm_tui.engine.code.parse.symbol_tree import CLASS_LIKE, VALUES


class EnclosingSymbols:
    """Index of symbols by the bytes they cover; answers in logarithmic time.

    `located`: symbols in order of appearance.
    """

    def __init__(self, located: Sequence[LocatedSymbol]) -> None:
        self.located = located
        self._bounds: list[int] = [0]
        self._owner: list[int | None] = [None]
        stack: list[int] = []
        for index, item in enumerate(located):
            while stack and located[stack[-1]].end <= item.start:
                self._close(stack)
            stack.append(index)
            self._mark(item.start, index)
        while stack:
            self._close(stack)

    def _close(self, stack: list[int]) -> None:
        ended = self.located[stack.pop()].end
        self._mark(ended, stack[-1] if stack else None)

    def _mark(self, position: int, owner: int | None) -> None:
        if position == self._bounds[-1]:
            self._owner[-1] = owner
        else:
            self._bounds.append(max(position, self._bounds[-1]))
            self._owner.append(owner)

    def __call__(self, position: int) -> int | None:
        """Return the index of the innermost symbol around a position."""
        return self._owner[bisect_right(self._bounds, position) - 1]

    def scope(self, position: int) -> int | None:
        """Return the innermost symbol that is no variable: where a name holds."""
        return self._scope(self(position))

    def outside(self, index: int) -> int | None:
        """Return the scope in which a symbol's own name holds."""
        return self._scope(self.located[index].row.parent)

    def _scope(self, index: int | None) -> int | None:
        while index is not None and self.located[index].row.kind in VALUES:
            index = self.located[index].row.parent
        return index

    def class_of(self, index: int | None) -> int | None:
        """Return the class around a symbol, itself included."""
        for _ in range(200):
            if index is None or self.located[index].row.kind in CLASS_LIKE:
                return index
            index = self.located[index].row.parent
        return None
