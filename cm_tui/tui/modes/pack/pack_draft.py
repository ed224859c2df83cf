"""A pack while it is put together: pieces in order, and the question that stands first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cm_tui.model import PackRequest
from cm_tui.tui.state.pack_selection import PackSelection

DEFAULT_BUDGET = 4000


class PackDraft:
    """Changes the selection shared by all modes; each change can be undone.

    Args:
        pack_selection: the pieces.
    """

    def __init__(self, pack_selection: PackSelection) -> None:
        self._selection = pack_selection
        self._own = False
        self.budget = DEFAULT_BUDGET

    @property
    def items(self) -> tuple[PackRequest, ...]:
        """The pieces, in order."""
        return self._selection.items

    @property
    def question(self) -> str:
        """What stands first."""
        return self._selection.question

    def change(self, items: Iterable[PackRequest], *, question: str | None = None) -> None:
        """Put other pieces in place of these, and another question where given."""
        self._own = True
        self._selection.change(items, question=question)

    def was_own(self) -> bool:
        """Return, once, whether the last change came from here, which already placed the cursor."""
        own, self._own = self._own, False
        return own

    def drop(self, index: int) -> None:
        """Take a piece out."""
        self.change([*self.items[:index], *self.items[index + 1 :]])

    def move(self, index: int, by: int) -> int:
        """Put a piece earlier or later; returns where it stands now."""
        items, other = list(self.items), index + by
        if not 0 <= other < len(items):
            return index
        items[index], items[other] = items[other], items[index]
        self.change(items)
        return other

    def append(self, new: Iterable[PackRequest]) -> int:
        """Put those pieces that are not covered yet last; returns how many that were."""
        added = [item for item in new if item not in self._selection]
        if added:
            self.change([*self.items, *added])
        return len(added)

    def set_lines(self, index: int, start: int, end: int) -> None:
        """Give a piece other lines."""
        items = list(self.items)
        items[index] = replace(items[index], start_line=start, end_line=end)
        self.change(items)


def lengthened(request: PackRequest, by: int) -> tuple[int, int]:
    """First and last line of a piece with more lines at each end, or fewer; one line is always left."""
    start, end = max(1, request.start_line - by), request.end_line + by
    if start > end:
        start = end = (request.start_line + request.end_line) // 2
    return start, end
