"""The panel of relations: tabs, rows, and the line of source that the row under the cursor stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from cm_tui.tui.widgets.relations import RESOLUTION_WORDS, TABS, Relation, RelationList, TabLine
from cm_tui.tui.widgets.text import one_line

LOOKING = "Looking…"


class RelationPanel(Vertical):
    """Shows what it is given by tab; says when a line of source is wanted, and when the active tab changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "turn(-1)", show=False),
        Binding("right,l", "turn(1)", show=False),
    ]

    class LineRequested(Message):
        """The row under the cursor has no text yet; `describe` takes it."""

        def __init__(self, row: Relation) -> None:
            super().__init__()
            self.row = row

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, classes="panel")
        self._pages: dict[str, tuple[Sequence[Relation], str]] = {}
        self._depth = 1
        self._unresolved = False
        self._words = LOOKING
        self._again: set[str] = set()
        """Tabs that are asked about once more while what they show stays."""

    def compose(self) -> ComposeResult:
        """Tabs, rows, a line of source."""
        yield TabLine(id="tabs")
        yield RelationList(id="relations", empty="")
        yield Static(id="relation-note", markup=False)

    @property
    def tabs(self) -> TabLine:
        """The tabs."""
        return self.query_one("#tabs", TabLine)

    @property
    def rows(self) -> RelationList:
        """The rows of the active tab."""
        return self.query_one("#relations", RelationList)

    # --- filling ---

    def forget(self, tabs: Iterable[str] = TABS, *, words: str = LOOKING) -> None:
        """Show that tabs are being filled, in words that stand in their place."""
        self._words = words
        for tab in tabs:
            self._pages.pop(tab, None)
            self._again.discard(tab)
            self.tabs.counts.pop(tab, None)
        self._show()

    def look_again(self) -> None:
        """Say of every tab that what it shows is being read once more."""
        self._again = set(self._pages)
        self._show()

    def fill(self, tab: str, rows: Sequence[Relation], note: str = "", *, total: int | None = None) -> None:
        """Give a tab its rows; `total` is how many there are in all, None when that says nothing."""
        if total is not None:
            self.tabs.counts[tab] = f"{len(rows):,} of {total:,}" if total > len(rows) else f"{total:,}"
        self._pages[tab] = (rows, note)
        self._again.discard(tab)
        self.tabs.refresh()
        if tab == self.tabs.active:
            self._show()

    def set_edges(self, depth: int, *, unresolved: bool) -> None:
        """Say how far callers and callees are followed, and whether the callers' tab lists what was not resolved."""
        self._depth = depth
        self._unresolved = unresolved

    def _show(self) -> None:
        active = self.tabs.active
        rows, note = self._pages.get(active, ((), self._words))
        same = [row.name for row in rows] == [row.name for row in self.rows.rows]
        self.rows.set_rows(rows, cursor=self.rows.cursor if same else 0, empty=note or f"No {active}.")
        depth = f"depth {self._depth}" if active in ("callers", "callees") else ""
        listed = "calls by that name, not resolved" if self._unresolved and active == "callers" else ""
        # What a clause has after its colon explains what the row's own words say already.
        short = ", ".join(clause.split(":")[0] for clause in note.split("; ")) if rows else ""
        again = "looking again…" if active in self._again else ""
        parts = (depth, listed, again) if listed else (depth, short, again)
        self.border_subtitle = Content(" · ".join(part for part in parts if part))
        self.tabs.refresh()
        if not rows:
            self.query_one("#relation-note", Static).update("")

    # --- tabs ---

    def activate(self, tab: str) -> None:
        """Show a tab."""
        self.tabs.active = tab
        self._show()

    def action_turn(self, by: int) -> None:
        """The tab beside this one."""
        self.activate(TABS[(TABS.index(self.tabs.active) + by) % len(TABS)])

    @on(TabLine.Chosen)
    def _clicked(self, event: TabLine.Chosen) -> None:
        event.stop()
        self.rows.focus()
        self.activate(event.tab)

    # --- the line of source ---

    @on(RelationList.Highlighted, "#relations")
    def _describe_current(self, event: RelationList.Highlighted) -> None:
        event.stop()
        row: Relation = event.row
        self.describe(row, row.text)
        if row.site is not None and not row.text:
            self.post_message(self.LineRequested(row))

    def describe(self, row: Relation, text: str) -> None:
        """Show the source of a row, and in words how it was resolved."""
        words = RESOLUTION_WORDS.get(row.resolution, "")
        note = Content.assemble(one_line(text), (f"   {words}" if words else "", "$muted"))
        self.query_one("#relation-note", Static).update(note)
