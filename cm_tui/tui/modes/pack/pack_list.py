"""The pieces of a pack with what each costs, and the budget as a bar that fills."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from cm_tui.engine.api.authors import Author
from cm_tui.model import PackItem, PackRequest
from cm_tui.tui.state.authors import is_remembered, title_of, who
from cm_tui.tui.state.pack_selection import PackSelection
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_middle, elide_path, one_line

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


_WIDE = 72
"""Cells from which on what is remembered has a bar too."""
_LEAST_NAME = 10
"""Cells that the name of what is remembered keeps, however much there is to say of it."""


@dataclass(frozen=True)
class PackRow:
    """A choice and what became of it; `item` is None until it was counted."""

    number: int
    request: PackRequest
    item: PackItem | None
    budget: int
    author: Author | None = None
    """Who wrote it, where it is remembered and that is known."""

    @property
    def out(self) -> bool:
        """True when it did not fit any more."""
        return self.item is not None and not self.item.included

    @property
    def empty(self) -> bool:
        """True when what was chosen is gone."""
        return self.item is not None and not self.item.text

    @property
    def tokens(self) -> str:
        """What it costs."""
        if self.item is None:
            return "…"
        return "gone" if self.empty else f"{self.item.tokens:,}"

    @property
    def share(self) -> float:
        """How much of the budget it takes."""
        return min(1.0, self.item.tokens / self.budget) if self.item is not None and self.budget else 0.0


class PackList(RowList[PackRow]):
    """Chosen pieces in order; those beyond the budget are dim."""

    def draw(self, row: PackRow, width: int) -> Content:
        """Number, place and symbol; share of the budget as a bar, and tokens."""
        # What is remembered has more to say of itself than its share of the budget.
        bar_width = 8 if width >= (_WIDE if is_remembered(row.request.path) else 50) else 0
        bar = _bar(row.share, bar_width)
        tail = f"{row.tokens:>7}"
        room = width - 4 - len(tail) - (bar_width + 1 if bar_width else 0) - 2
        name, where = _names(row, room)
        gap = max(1, room - cell_len(name) - cell_len(where))
        mark = "✗" if row.empty else "⋯" if row.out else " "
        return Content.assemble(
            (f"{row.number:>2}", "$muted"), (f"{mark} ", "$error" if row.empty else "$warning"),
            (name, "$muted" if row.out else "bold"), "  ", (where, "$muted"), " " * gap,
            (bar, "$warning on $foreground 8%" if row.out else "$primary on $foreground 8%"),
            (tail, "$warning" if row.out else "$foreground"),
        )  # fmt: skip


def _names(row: PackRow, room: int) -> tuple[str, str]:
    """What the piece is called, and where it stands, in so many cells together."""
    request = row.request
    start, end = (row.item or request).start_line, (row.item or request).end_line
    name = one_line(request.title) or one_line(request.path.rpartition("/")[2])
    where = f"{one_line(request.path)}:{start}-{end}"
    if is_remembered(request.path):
        return _remembered_names(row, room)
    name = elide_middle(name, max(6, min(cell_len(name), max(room // 2, room - cell_len(where) - 2))))
    return name, elide_path(where, max(0, room - cell_len(name) - 2))


def _remembered_names(row: PackRow, room: int) -> tuple[str, str]:
    """What was asked or what the entry is called, and who wrote it when: its path says nothing to people."""
    kind, _, age = one_line(row.item.remembered if row.item is not None else "").partition(", ")
    name, author = title_of(row.author) or one_line(row.request.title) or kind, who(row.author)
    # What it is called tells pieces apart: the rest has the room that this leaves, but for the age.
    wheres = [", ".join(filter(None, parts)) for parts in ((author, age), (age or kind,))]
    least = min(cell_len(name), _LEAST_NAME)
    where = next((one for one in wheres if cell_len(one) + 2 + least <= room), wheres[-1])
    name = elide_end(name, max(6, room - cell_len(where) - 2))
    return name, elide_end(where, max(0, room - cell_len(name) - 2))


def _bar(share: float, width: int) -> str:
    """A bar in eighths of a cell; what costs anything shows at least one of them."""
    eighths = min(8 * width, max(1 if share else 0, round(share * 8 * width)))
    whole, part = divmod(eighths, 8)
    return ("█" * whole + (" ▏▎▍▌▋▊▉"[part] if part else "")).ljust(width)


class BudgetBar(Widget):
    """How full the pack is: what is in, what did not go in any more, and the numbers."""

    DEFAULT_CSS = "BudgetBar { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self.used = 0
        self.chosen = 0
        self.budget = 0

    def show(self, used: int, chosen: int, budget: int) -> None:
        """Tokens of the pack, tokens of everything chosen, and the budget."""
        self.used, self.chosen, self.budget = used, chosen, budget
        self.refresh()

    def render(self) -> Content:
        """A bar over the width, then the words."""
        over = self.chosen > self.budget
        left_out = f" · {self.chosen:,} chosen" if over else ""
        words = f" {self.used:,} of {self.budget:,} tokens{left_out} "
        room = max(4, self.size.width - cell_len(words) - 1)
        filled = min(room, round(room * self.used / self.budget)) if self.budget else 0
        beyond = room - filled if over else 0
        return Content.assemble(
            " ", ("━" * filled, "$success"), ("╍" * beyond, "$warning"),
            ("─" * (room - filled - beyond), "$faint"),
            (words, "$warning" if over else "$soft"),
        )  # fmt: skip
