"""The budget as a bar that fills, and the numbers."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget


class BudgetGauge(Widget):
    """How much of the budget is handed over, and what is said beside it."""

    DEFAULT_CSS = "BudgetGauge { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self.used = 0
        self.budget = 0
        self.left_out = 0
        self.words = ""

    def show(self, used: int, budget: int, left_out: int, words: str) -> None:
        """Show tokens that are handed over, the budget, tokens that were cut, and what more is to be said."""
        self.used, self.budget, self.left_out, self.words = used, budget, left_out, words
        self.refresh()

    def render(self) -> Content:
        """A bar over what the words leave."""
        cut = f" · {self.left_out:,} cut" if self.left_out else ""
        words = f" {self.used:,} of {self.budget:,} tokens{cut}"
        rest = f" · {self.words}" if self.words else ""
        if cell_len(words) + cell_len(rest) > self.size.width - 12:
            rest = ""
        room = max(4, self.size.width - cell_len(words) - cell_len(rest) - 2)
        share = self.used / self.budget if self.budget else 0.0
        filled = min(room, max(1 if self.used else 0, round(room * share)))
        colour = "$warning" if self.left_out else "$success"
        return Content.assemble(
            " ", ("━" * filled, colour), ("─" * (room - filled), "$faint"), (words, "$foreground"), (rest, "$muted"),
        )  # fmt: skip
