"""Which values there are to filter by, and how many episodes have each: a dialog that changes the line of the filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.model import EpisodeStats, Facet
from cm_tui.tui.modes.episodes.query import UNSAID, Term, terms_of, toggled
from cm_tui.tui.modes.episodes.story import OUTCOMES
from cm_tui.tui.screens.list_dialog import ListDialog
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, one_line

_BAR = 12
_MOST = 40
"""Values of a field that are listed, those first that most episodes have."""


@dataclass(frozen=True)
class FacetRow:
    """A value to filter by; without a term the heading of a field."""

    title: str
    term: Term | None = None
    count: int | None = None
    share: float = 0.0
    active: bool = False


def facet_rows(stats: EpisodeStats, text: str) -> list[FacetRow]:
    """Return every value that can be chosen, those that the line has with a mark."""
    chosen = terms_of(text)
    rows: list[FacetRow] = []

    def fill(title: str, field: str, facets: tuple[Facet, ...]) -> None:
        known = {one.value for one in facets}
        missing = [Facet(one.value, 0) for one in chosen if one.field == field and one.value not in known]
        if facets or missing:
            rows.append(FacetRow(title))
        for one in (*facets[:_MOST], *missing):
            term = Term(one.value, field)
            share = one.count / stats.episodes if stats.episodes else 0.0
            rows.append(FacetRow(_words(field, one.value), term, one.count, share, term in chosen))

    outcomes = tuple(Facet(one.value or UNSAID, one.count) for one in stats.outcomes)
    fill("Outcome", "outcome", outcomes)
    fill("Type", "type", stats.types)
    fill("Agent", "agent", tuple(one for one in stats.agents if one.value))
    fill("Tool", "tool", stats.tools)
    fill("Tag", "tag", stats.tags)
    for title, choices in _CHOICES:
        rows.append(FacetRow(title))
        rows += [FacetRow(words, term, active=term in chosen) for words, term in choices]
    return rows


_CHOICES = (
    ("Time", (("today", Term("today", "since")), ("last 7 days", Term("7d", "since")), ("last 30 days", Term("30d", "since")))),
    ("Said by people", (("pinned", Term("yes", "pinned")), ("useful", Term("useful", "rated")), ("misled", Term("misled", "rated")))),
    ("State", (("forgotten", Term("forgotten", "state")), ("archived", Term("archived", "state")))),
)  # fmt: skip


def _words(field: str, value: str) -> str:
    if field != "outcome":
        return value
    mark, _, said = OUTCOMES["" if value == UNSAID else value]
    return f"{mark} {said}"


class FacetList(RowList[FacetRow]):
    """Values below the names of their fields."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "choose", show=False)]

    def draw(self, row: FacetRow, width: int) -> Content:
        """Mark, value, share, count."""
        if row.term is None:
            return Content.styled(f" {row.title}", "bold $primary")
        mark = "▪" if row.active else "·"
        number = f"{row.count:,}" if row.count is not None else ""
        room = width - 6 - _BAR - 9
        title = elide_end(one_line(row.title), room)
        bar = share_bar(row.share, _BAR) if row.count is not None else Content(" " * _BAR)
        return Content.assemble(
            (f"   {mark} ", "$accent" if row.active else "$faint"),
            (title, "bold $foreground" if row.active else "$foreground"), " " * (room - len(title) + 1), bar,
            (f"{number:>8}", "$muted"),
        )  # fmt: skip


class FilterDialog(ListDialog[FacetRow]):
    """Adds values to a line and takes them out.

    Args:
        stats: of everything that there is.
        text: the line as it is.
        filtered: gets the line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "clear", show=False)]

    def __init__(self, stats: EpisodeStats, text: str, filtered: Callable[[str], object]) -> None:
        hint = " ⏎ adds or takes out · x clears · esc shows what is left "
        super().__init__(" Filter ", hint, (), FacetList(id="filter-list"), close="f,q", look="filter")
        self._stats, self._text, self._filtered = stats, text, filtered

    def above(self) -> Iterable[Widget]:
        """The line."""
        yield Static(id="filter-line", markup=False)

    def opened(self) -> None:
        """The first value."""
        self._fill(1)
        self.note(
            Content.styled("Typed as well: words, file:src/, session:ID, since:2026-01-31, until:yesterday", "$muted")
        )

    def _fill(self, cursor: int) -> None:
        self.list.set_rows(facet_rows(self._stats, self._text), cursor=cursor)
        words = Content(one_line(self._text)) if self._text else Content.styled("everything", "$muted")
        self.query_one("#filter-line", Static).update(words)

    def choose(self, row: FacetRow) -> None:
        """Add a value, or take it out."""
        if row.term is not None:
            self._text = toggled(self._text, row.term)
            self._fill(self.list.cursor)

    def action_clear(self) -> None:
        """Filter by nothing."""
        self._text = ""
        self._fill(1)

    def action_close(self) -> None:
        """Show what the line leaves."""
        self.dismiss(partial(self._filtered, self._text))
