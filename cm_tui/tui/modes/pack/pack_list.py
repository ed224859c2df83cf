"""The pieces of a pack with what each costs, and the budget as a bar that fills."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from cm_tui.model import PackItem, PackRequest
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_middle, one_line


@dataclass(frozen=True)
class PackRow:
    """A choice and what became of it; `item` is None until it was counted."""

    number: int
    request: PackRequest
    item: PackItem | None
    budget: int


class PackList(RowList[PackRow]):
    """Chosen pieces in order; those beyond the budget are dim."""

    def draw(self, row: PackRow, width: int) -> Content:
        """Number, place and symbol; share of the budget as a bar, and tokens."""
        request, item = row.request, row.item
        out = item is not None and not item.included
        empty = item is not None and not item.text
        tokens = "…" if item is None else "gone" if empty else f"{item.tokens:,}"
        bar_width = 8 if width >= 50 else 0
        share = min(1.0, item.tokens / row.budget) if item is not None and row.budget else 0.0
        bar = _bar(share, bar_width)
        tail = f"{tokens:>7}"
        start = item.start_line if item else request.start_line
        end = item.end_line if item else request.end_line
        lines = f":{start}-{end}"
        title = one_line(request.title)
        room = width - 4 - len(tail) - (bar_width + 1 if bar_width else 0) - 2
        name = title or one_line(request.path.rpartition("/")[2])
        where = f"{one_line(request.path)}{lines}"
        name = elide_middle(name, max(6, min(cell_len(name), max(room // 2, room - cell_len(where) - 2))))
        where = elide_middle(where, max(0, room - cell_len(name) - 2))
        gap = max(1, room - cell_len(name) - cell_len(where))
        main, dim = ("$muted", "$muted") if out else ("bold", "$muted")
        mark = "✗" if empty else "⋯" if out else " "
        return Content.assemble(
            (f"{row.number:>2}", "$muted"), (f"{mark} ", "$error" if empty else "$warning"),
            (name, main), "  ", (where, dim), " " * gap,
            (bar, "$warning on $foreground 8%" if out else "$primary on $foreground 8%"),
            (tail, "$warning" if out else "$foreground"),
        )  # fmt: skip


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
