"""The lower panel of the history mode: a symbol's change as a diff, its source, its callers and callees at that revision."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from textual import getters, on
from textual.app import ComposeResult
from textual.content import Content

from cm_tui.errors import CmError
from cm_tui.model import Edge, Page
from cm_tui.model.history import BEFORE_FIRST
from cm_tui.tui.modes.history.rows import HistoryRow, Spot
from cm_tui.tui.screens.mode_screen import ModePart
from cm_tui.tui.screens.symbol_content import MOST_LINES, SymbolContent, SymbolPlace, load_content
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.theme.highlight import plain_lines
from cm_tui.tui.widgets import sourcelist
from cm_tui.tui.widgets.patches import DIFF_STYLES, patch_style
from cm_tui.tui.widgets.relations import Relation, RelationList, TabLine, TabPanel, of_edges
from cm_tui.tui.widgets.sourcelist import CodeLine, SourceList, code_lines
from cm_tui.tui.widgets.split import Words, end_waiting, show_waiting
from cm_tui.tui.widgets.text import number_of, one_line


@dataclass(frozen=True)
class SymbolDiff:
    """What was read of a row: both sides of it."""

    before: SymbolContent | None
    after: SymbolContent | None
    lines: tuple[CodeLine, ...]
    """The difference."""
    problem: str = ""
    """Why it is missing."""


def load_diff(engine: Engine, row: HistoryRow) -> SymbolDiff:
    """Read a row's symbol before and after.

    Raises:
        CmError: neither can be read.
    """
    after = _look_at(engine, row.spot) if row.spot else None
    try:
        before = _look_at(engine, row.before) if row.before and row.before.at != BEFORE_FIRST else None
    except CmError as error:
        if after is None:
            raise
        # What is not known before is no reason to hide what came of it, nor to call all of it new.
        return SymbolDiff(None, after, (), error.one_line)
    # A row without a mark is of what is there, and of no change.
    return SymbolDiff(before, after, tuple(diff_lines(_text(before if row.mark.strip() else after), _text(after))))


def _look_at(engine: Engine, spot: Spot) -> SymbolContent | None:
    """A symbol (or a file, where none is named) at a revision, None where it was not there; never whatever else stands at its line."""
    if spot.at is None:
        return _on_disk(engine, spot)
    view = load_content(engine, SymbolPlace(spot.key.path, spot.line, spot.key), spot.at)
    whole = not spot.key.qualname
    found = whole or (view.symbol is not None and view.symbol.qualname == spot.key.qualname)
    return view if found else None


def _on_disk(engine: Engine, spot: Spot) -> SymbolContent:
    """A file as it is now, without a question that would bring the index up to date: where it is not is what is looked at."""
    source = engine.source(spot.key.path, 1, MOST_LINES)
    return SymbolContent(SymbolPlace(spot.key.path, spot.line), None, (), tuple(code_lines(source)), source.stale)


def _text(view: SymbolContent | None) -> list[str]:
    return [line.content.plain for line in view.lines] if view else []


def diff_lines(before: Sequence[str], after: Sequence[str]) -> list[CodeLine]:
    """What differs, with a few lines around it; numbered by row."""
    lines = list(difflib.unified_diff(before, after, n=3, lineterm=""))[2:]
    if not lines:
        lines = [f" {line}" for line in after]
    return [
        CodeLine(number, Content.styled(line, DIFF_STYLES[line[:1]]) if line[:1] in DIFF_STYLES else Content(line))
        for number, line in enumerate(lines, start=1)
    ]


def patch_lines(patch: str) -> list[CodeLine]:
    """A patch as git prints it, numbered by row."""
    return [
        CodeLine(number, line.stylize(patch_style(line.plain)))
        for number, line in enumerate(plain_lines(patch.rstrip("\n")), start=1)
    ]


def prose_lines(text: str, width: int) -> list[CodeLine]:
    """Wrap prose to a width in cells."""
    lines = sourcelist.prose_lines(text, width + sourcelist.MARGIN)
    return [CodeLine(number, Content(line.text)) for number, line in enumerate(lines, start=1)]


DETAILS = ("diff", "source", "callers", "callees")


class DetailPanel(TabPanel, ModePart):
    """Reads what a row stands for, and shows the tab that is open of it."""

    _row: HistoryRow | None = None
    loaded: SymbolDiff | None = None

    def compose(self) -> ComposeResult:
        """Tabs, and one list for each kind of content."""
        yield TabLine(DETAILS, id="detail-tabs")
        yield SourceList(id="history-diff", numbers=False)
        yield SourceList(id="history-source")
        yield RelationList(id="history-relations")
        yield Words(id="detail-note")

    def on_mount(self) -> None:
        """The difference first."""
        self.tabs.active = "diff"
        self._switch()

    relations = getters.query_one("#history-relations", RelationList)
    source = getters.query_one("#history-source", SourceList)
    diff = getters.query_one("#history-diff", SourceList)

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
        self.label(one_line(_title(row)))
        if row is None or not (row.key or row.body):
            self.mode.drop_question("detail")
            self._clear("Choose a symbol above.")
            return
        self._read()

    def wait(self, words: str) -> None:
        """Show that the rows above are being read; the one that is shown may not be among them any more."""
        if self._row is not None:
            show_waiting(self, words)

    def end_wait(self) -> None:
        """Show that the rows above are loaded: unless it is being read, the row that is shown is one of them."""
        if self._row is None or self.loaded is not None or self._row.body or self._asks_edges:
            self._arrived()

    @property
    def _asks_edges(self) -> bool:
        return self.tabs.active in ("callers", "callees")

    def _arrived(self) -> None:
        end_waiting(self)
        self.label(subtitle="")

    def _clear(self, words: str) -> None:
        self._arrived()
        for part in (self.diff, self.source, self.relations):
            part.set_rows((), empty=words)

    def _read(self) -> None:
        """Ask for what the open tab needs."""
        row, spot, active = self._row, self.spot, self.tabs.active
        if row is not None and row.body and (active == "diff" or spot is None):
            self.mode.drop_question("detail")
            self._show_body(row)
        elif row is None or spot is None:
            return
        elif self._asks_edges:
            self._read_edges(row, spot)
        elif self.loaded is None:
            # What is on screen is of the row before this one, under the name of this one.
            show_waiting(self, "Reading…")
            self.mode.ask("detail", lambda engine: load_diff(engine, row), self._got_diff, self._failed, delay=0.05)

    def _read_edges(self, row: HistoryRow, spot: Spot) -> None:
        active = self.tabs.active
        self._arrived()
        if not spot.key.qualname:
            self.relations.set_rows((), empty=f"This is a file; {active} exist for symbols only.")
            return
        key, at = spot.key, spot.at or (row.before.at if row.before else None)
        if at is None:
            self.mode.drop_question("detail")
            self.relations.set_rows((), empty=f"Not in the index. Press i to update, then its {active} are listed.")
            return

        def call(engine: Engine) -> Page[Edge]:
            return engine.callers(key, at=at) if active == "callers" else engine.callees(key, at=at)

        self.relations.set_rows((), empty="Looking…")
        self.query_one("#detail-note", Words).update("")
        self.mode.ask("detail", call, self._related, self._failed, delay=0.05)

    def _show_body(self, row: HistoryRow) -> None:
        """What is there already: a patch, or words."""
        self._arrived()
        width = max(20, self.size.width - 4)
        self.diff.set_rows(patch_lines(row.body) if row.patch else prose_lines(row.body, width))
        words = "This commit has no file to show here; see Diff."
        self.source.set_rows((), empty=words)
        self.relations.set_rows((), empty=words)

    def _got_diff(self, loaded: SymbolDiff) -> None:
        self.loaded = loaded
        self._arrived()
        if self._row is None or not self._row.body:
            self.diff.set_rows(loaded.lines, empty=loaded.problem or "It does not exist at either revision.")
        view = loaded.after or loaded.before
        self.source.set_rows(view.lines if view else (), empty="It does not exist at this revision.")
        if view is not None and (line := view.symbol.start_line if view.symbol else view.place.line):
            self.source.go(line)

    def _related(self, page: Page[Edge]) -> None:
        active = self.tabs.active
        rows = of_edges(page.rows, callers=active == "callers")
        count = number_of(len(rows), page.total)
        self.tabs.counts = {active: f"{count}, {page.unresolved:,} unresolved" if page.unresolved else count}
        self.tabs.refresh()
        self.relations.set_rows(rows, empty=page.note or f"No {active} at that revision.")

    def _failed(self, error: CmError) -> None:
        self._clear(error.one_line)

    # --- tabs ---

    def show_tab(self) -> None:
        """Show the open tab, once what it needs is read."""
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

    @on(RelationList.Highlighted, "#history-relations")
    def _describe(self, event: RelationList.Highlighted) -> None:
        row: Relation = event.row
        self.query_one("#detail-note", Words).update(Content(one_line(row.text)))


def _title(row: HistoryRow | None) -> str:
    if row is None:
        return "Symbol"
    if row.key:
        return row.key.qualname or row.key.path
    return row.name if row.patch else row.word or "Symbol"
