"""Rows of the list: sources of an assembly, what is switched off, and snapshots."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from cm_tui.model import Assembly, AssemblyHead, AssemblySource
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import ago, elide_end, elide_middle, one_line

_SECTION = 11
"""Cells of the section's name."""
_BAR = 8
_WIDE = 56
"""Cells from which on a row has a bar."""
_CUTS = {
    "": " ", "rule": "⊘", "off": "○", "duplicate": "=", "empty": "∅", "cap": "✂", "budget": "✂", "failed": "✗", "held": "⏸",
}  # fmt: skip


@dataclass(frozen=True)
class SourceRow:
    """A source, or a rule that is switched off."""

    id: str
    source: AssemblySource | None
    section: str
    """Said where it differs from that of the row above."""
    budget: int
    off: bool = False


@dataclass(frozen=True)
class SnapshotRow:
    """A snapshot, and whether it was marked to be compared."""

    head: AssemblyHead
    marked: bool


def source_rows(one: Assembly, off: Iterable[str]) -> list[SourceRow]:
    """Return the sources in their order, then rules that are switched off."""
    rows: list[SourceRow] = []
    before = ""
    switched = set(off)
    for source in one.sources:
        section = source.section.replace("_", " ") if source.text else "omitted"
        rows.append(
            SourceRow(source.id, source, section if section != before else "", one.budget, source.id in switched)
        )
        before = section
    rules = sorted(id_ for id_ in switched if id_.startswith("rule://"))
    rows += [SourceRow(id_, None, "" if number else "rules", one.budget, True) for number, id_ in enumerate(rules)]
    return rows


class SourceRows(RowList[SourceRow]):
    """Sources in the order in which they are handed over, then those that are not."""

    def draw(self, row: SourceRow, width: int) -> Content:
        """Section, mark, title, share and tokens."""
        section = elide_end(row.section, _SECTION).ljust(_SECTION)
        if row.source is None:
            return Content.assemble(
                (section, "$secondary"), ("○ ", "$muted"), (elide_end(row.id, width - 14), "$muted strike")
            )
        source = row.source
        tail = f"{source.tokens:>7,}" if source.text else f"{source.cut:>9}"
        bar_width = _BAR if width >= _WIDE and source.text else 0
        room = width - _SECTION - 3 - len(tail) - (bar_width + 1 if bar_width else 0)
        name, where = _names(source, room)
        gap = max(1, room - cell_len(name) - cell_len(where))
        style = "bold" if source.text else "$muted strike" if source.cut in ("off", "rule") else "$muted"
        share = source.tokens / row.budget if row.budget else 0.0
        mark_style = "$error" if source.cut == "failed" else "$warning"
        return Content.assemble(
            (section, "$secondary"), (f"{_CUTS.get(source.cut, ' ')} ", mark_style), (name, style),
            (where, "$muted"), " " * gap, (_bar(share, bar_width), "$primary on $foreground 8%"), " " if bar_width else "",
            (tail, "$foreground" if source.text else "$warning"),
        )  # fmt: skip


def _names(source: AssemblySource, room: int) -> tuple[str, str]:
    """Return what a source is called, and its id where that says more, in so many cells together."""
    title, id_ = one_line(source.title) or source.id, one_line(source.id)
    name = elide_middle(title, max(6, room - 1))
    left = room - cell_len(name) - 3
    says_more = id_ != title and id_.partition("://")[2] != title
    return name, f"  {elide_middle(id_, left)}" if says_more and left >= 12 else ""


def _bar(share: float, width: int) -> str:
    """A bar in eighths of a cell; what costs anything shows at least one of them."""
    eighths = min(8 * width, max(1 if share else 0, round(share * 8 * width)))
    whole, part = divmod(eighths, 8)
    return ("█" * whole + (" ▏▎▍▌▋▊▉"[part] if part else "")).ljust(width)


class SnapshotRows(RowList[SnapshotRow]):
    """Snapshots, the newest first."""

    def draw(self, row: SnapshotRow, width: int) -> Content:
        """Mark, age, who, prompt and tokens."""
        head = row.head
        age = elide_end(ago(max(0.0, time.time() - head.time)), 14).ljust(14)
        who = elide_end(one_line(head.agent or head.session or head.definition or "you"), 10).ljust(11)
        tail = f"{head.tokens:>7,}"
        warned = f" ▲{head.warnings}" if head.warnings else ""
        room = max(4, width - 2 - 14 - 11 - len(tail) - len(warned) - 2)
        prompt = elide_end(one_line(" ".join(head.prompt.split())) or "(no prompt)", room).ljust(room)
        return Content.assemble(
            ("◆ " if row.marked else "  ", "$accent"), (age, "$muted"), (who, "$secondary"), (prompt, "$foreground"),
            (warned, "$warning"), (tail, "$muted"),
        )  # fmt: skip


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
