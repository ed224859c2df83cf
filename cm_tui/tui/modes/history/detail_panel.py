"""The lower panel of the history mode: a symbol's change as a diff, its source, its callers and callees at that revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import Edge, Page
from cm_tui.tui.modes.history.diff_loader import SymbolDiff, load_diff, patch_lines, prose_lines
from cm_tui.tui.modes.history.rows import HistoryRow, Spot
from cm_tui.tui.tasks.ask import Ask
from cm_tui.tui.widgets.relations import Relation, RelationList, TabLine, of_edges
from cm_tui.tui.widgets.sourcelist import SourceList
from cm_tui.tui.widgets.text import one_line
from cm_tui.tui.widgets.waiting import end_waiting, show_waiting

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

DETAILS = ("diff", "source", "callers", "callees")


class DetailPanel(Vertical):
    """Reads what a row stands for, and shows the tab that is open of it.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
    """

    def __init__(self, ask: Ask, drop: Callable[[str], None], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, classes="panel")
        self._ask = ask
        self._drop = drop
        self._row: HistoryRow | None = None
        self.loaded: SymbolDiff | None = None

    def compose(self) -> ComposeResult:
        """Tabs, and one list for each kind of content."""
        yield TabLine(DETAILS, id="detail-tabs")
        yield SourceList(id="history-diff", numbers=False)
        yield SourceList(id="history-source")
        yield RelationList(id="history-relations")
        yield Static(id="detail-note", markup=False)

    def on_mount(self) -> None:
        """The difference first."""
        self.tabs.active = "diff"
        self._switch()

    @property
    def tabs(self) -> TabLine:
        """The tabs."""
        return self.query_one("#detail-tabs", TabLine)

    @property
    def relations(self) -> RelationList:
        """Callers or callees."""
        return self.query_one("#history-relations", RelationList)

    @property
    def source(self) -> SourceList:
        """The source at the revision."""
        return self.query_one("#history-source", SourceList)

    @property
    def diff(self) -> SourceList:
        """What the change was."""
        return self.query_one("#history-diff", SourceList)

    @property
    def spot(self) -> Spot | None:
        """The symbol at its revision."""
        return (self._row.spot or self._row.before) if self._row else None

    # --- filling ---

    def show(self, row: HistoryRow | None) -> None:
        """Show what a row stands for."""
        if row == self._row:
            return
        self._row, self.loaded = row, None
        self.border_title = Content(one_line(_title(row)))
        if row is None or not (row.key or row.body):
            self._drop("detail")
            self._clear("Choose a symbol above.")
            return
        self._read()

    def wait(self, words: str) -> None:
        """Say that the rows above are being read, among which the one that is shown may not be any more."""
        if self._row is not None:
            show_waiting(self, words)

    def end_wait(self) -> None:
        """Say that the rows above are there: unless it is being read, the row that is shown is one of them."""
        if self._row is None or self.loaded is not None or self._row.body or self._asks_edges:
            self._arrived()

    @property
    def _asks_edges(self) -> bool:
        return self.tabs.active in ("callers", "callees")

    def _arrived(self) -> None:
        end_waiting(self)
        self.border_subtitle = Content("")

    def _clear(self, words: str) -> None:
        self._arrived()
        for part in (self.diff, self.source, self.relations):
            part.set_rows((), empty=words)

    def _read(self) -> None:
        """Ask for what the open tab needs."""
        row, spot, active = self._row, self.spot, self.tabs.active
        if row is not None and row.body and (active == "diff" or spot is None):
            self._drop("detail")
            self._show_body(row)
        elif row is None or spot is None:
            return
        elif self._asks_edges:
            self._read_edges(row, spot)
        elif self.loaded is None:
            # What is on screen is of the row before this one, under the name of this one.
            show_waiting(self, "Reading…")
            self._ask("detail", lambda engine: load_diff(engine, row), self._got_diff, self._failed, delay=0.05)

    def _read_edges(self, row: HistoryRow, spot: Spot) -> None:
        active = self.tabs.active
        self._arrived()
        if not spot.key.qualname:
            self.relations.set_rows((), empty=f"This is a file; {active} are those of a symbol.")
            return
        key, at = spot.key, spot.at or (row.before.at if row.before else None)
        if at is None:
            self._drop("detail")
            self.relations.set_rows(
                (), empty=f"It is not in the index. Press i to update; then its {active} are listed."
            )
            return

        def call(engine: Engine) -> Page[Edge]:
            return engine.callers(key, at=at) if active == "callers" else engine.callees(key, at=at)

        self.relations.set_rows((), empty="Looking…")
        self.query_one("#detail-note", Static).update("")
        self._ask("detail", call, self._related, self._failed, delay=0.05)

    def _show_body(self, row: HistoryRow) -> None:
        """What is there already: a patch, or words."""
        self._arrived()
        width = max(20, self.size.width - 4)
        self.diff.set_rows(patch_lines(row.body) if row.patch else prose_lines(row.body, width))
        words = "There is no file here to show of that commit: Diff has all there is."
        self.source.set_rows((), empty=words)
        self.relations.set_rows((), empty=words)

    def _got_diff(self, loaded: SymbolDiff) -> None:
        self.loaded = loaded
        self._arrived()
        if self._row is None or not self._row.body:
            self.diff.set_rows(loaded.lines, empty=loaded.problem or "It is not there at either revision.")
        view = loaded.after or loaded.before
        self.source.set_rows(view.lines if view else (), empty="It is not there.")
        if view is not None and (line := view.symbol.start_line if view.symbol else view.place.line):
            self.source.go(line)

    def _related(self, page: Page[Edge]) -> None:
        active = self.tabs.active
        rows = of_edges(page.rows, callers=active == "callers")
        count = f"{len(rows):,} of {page.total:,}" if page.total > len(rows) else f"{page.total:,}"
        self.tabs.counts = {active: f"{count}, {page.unresolved:,} unresolved" if page.unresolved else count}
        self.tabs.refresh()
        self.relations.set_rows(rows, empty=page.note or f"No {active} at that revision.")

    def _failed(self, error: CmError) -> None:
        gone = "It is not in the index." if isinstance(error, NotFoundError) else ""
        self._clear(f"{error.message} {error.hint}".strip() or gone)

    # --- tabs ---

    def turn(self, by: int = 1) -> None:
        """The tab beside this one."""
        self.activate(DETAILS[(DETAILS.index(self.tabs.active) + by) % len(DETAILS)])

    def activate(self, tab: str) -> None:
        """Show a tab."""
        self.tabs.active = tab
        self.tabs.counts = {}
        self.tabs.refresh()
        self._switch()
        self._read()

    def _switch(self) -> None:
        active = self.tabs.active
        focused = any(part.has_focus for part in (self.diff, self.source, self.relations))
        self.diff.display = active == "diff"
        self.source.display = active == "source"
        self.relations.display = active in ("callers", "callees")
        self.query_one("#detail-note").display = self.relations.display
        if focused:
            (self.diff if active == "diff" else self.source if active == "source" else self.relations).focus()

    @on(TabLine.Chosen)
    def _clicked(self, event: TabLine.Chosen) -> None:
        event.stop()
        self.activate(event.tab)

    @on(RelationList.Highlighted, "#history-relations")
    def _describe(self, event: RelationList.Highlighted) -> None:
        event.stop()
        row: Relation = event.row
        self.query_one("#detail-note", Static).update(Content(one_line(row.text)))


def _title(row: HistoryRow | None) -> str:
    if row is None:
        return "Symbol"
    if row.key:
        return row.key.qualname or row.key.path
    return row.name if row.patch else row.word or "Symbol"
