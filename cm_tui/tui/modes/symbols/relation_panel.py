"""The panel of relations: tabs, rows, and the line of source of the row under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from cm_tui.errors import CmError
from cm_tui.model import HistoryStatus, Page, SymbolHistory, SymbolKey
from cm_tui.tui.screens.mode_screen import ModePart
from cm_tui.tui.screens.symbol_content import SymbolContent
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets import relations as rows
from cm_tui.tui.widgets.lifeline import life_words, lifeline_of
from cm_tui.tui.widgets.relations import RESOLUTION_WORDS, TABS, Relation, RelationList, TabLine, TabPanel
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import elide_end, number_of, one_line

LOOKING = "Looking…"
UNASKED = "Callers, callees and imports of a symbol are listed here."


DEPTHS = (1, 2, 3)
_EDGES = ("callers", "callees")
_LEAST_SOURCE = 24
"""Cells of a line of source that are shown beside how a name in it was resolved."""


class RelationPanel(TabPanel, ModePart):
    """Definitions, callers, callees, imports and importers of a symbol or file, by tab."""

    BINDINGS: ClassVar[list[BindingType]] = [("left,h", "turn(-1)"), ("right,l", "turn(1)")]
    at: str | None = None
    """The revision that is asked about; None: now."""
    depth = 1
    """How many steps callers and callees are followed."""
    unresolved = False
    """Whether the calls by that name that could not be resolved are listed in place of the callers."""
    unresolved_count = 0
    """Calls by the name of what is shown that could not be resolved."""
    _key: SymbolKey | None = None

    def __init__(self) -> None:
        super().__init__(id="relations-panel")
        self._pages: dict[str, tuple[Sequence[Relation], str]] = {}
        self._words = UNASKED
        self._again: set[str] = set()
        """Tabs that are asked about once more while what they show stays."""

    def compose(self) -> ComposeResult:
        """Tabs, rows, a line of source."""
        yield TabLine(id="tabs")
        yield RelationList(id="relations", empty=UNASKED)
        yield Words(id="relation-note")

    rows = getters.query_one("#relations", RelationList)

    # --- what is shown ---

    def show(self, view: SymbolContent, *, again: bool) -> None:
        """Ask for all tabs; `again`: for the same place as before, so that what is there stays until then."""
        symbol, path, at = view.symbol, view.place.path, self.at
        self._key = symbol.key if symbol else None
        self.unresolved = self.unresolved and again
        if again:
            self._again = set(self._pages)
            self.show_tab()
        else:
            self.empty()
        if symbol is None:
            self.put("definitions", rows.of_symbols(view.symbols), total=len(view.symbols))
            self._count(0)
            for tab in _EDGES:
                self.mode.drop_question(tab)
                self.put(tab, (), "None for a whole file; choose a symbol of it.")
        else:
            name = symbol.name
            self._fill("definitions", lambda engine: engine.definitions(name, at=at), rows.of_symbols)
            self._ask_edges()
        self._fill("imports", lambda engine: engine.dependencies(path, at=at), rows.of_imports)
        self._fill("importers", lambda engine: engine.importers(path, at=at), rows.of_importers)

    def forget(self, words: str) -> None:
        """Empty all tabs: what they showed, and what was asked, is of another revision.

        Args:
            words: what is said in its place.
        """
        self._key = None
        for tab in (*TABS, "line"):
            self.mode.drop_question(tab)
        self.empty(words=words)

    def empty(self, tabs: Iterable[str] = TABS, *, words: str = LOOKING) -> None:
        """Show that tabs are being filled, in words that stand in their place."""
        self._words = words
        for tab in tabs:
            self._pages.pop(tab, None)
            self._again.discard(tab)
            self.tabs.counts.pop(tab, None)
        self.show_tab()

    def put(self, tab: str, rows: Sequence[Relation], note: str = "", *, total: int | None = None) -> None:
        """Give a tab its rows; `total` is how many there are in all, None when that says nothing."""
        if total is not None:
            self.tabs.counts[tab] = number_of(len(rows), total)
        self._pages[tab] = (rows, note)
        self._again.discard(tab)
        self.tabs.refresh()
        if tab == self.tabs.active:
            self.show_tab()

    def show_tab(self) -> None:
        """Show what is known of the open tab."""
        active = self.tabs.active
        rows, note = self._pages.get(active, ((), self._words))
        same = [row.name for row in rows] == [row.name for row in self.rows.rows]
        self.rows.set_rows(rows, cursor=self.rows.cursor if same else 0, empty=note or f"No {active}.")
        depth = f"depth {self.depth}" if active in ("callers", "callees") else ""
        listed = "unresolved calls of that name" if self.unresolved and active == "callers" else ""
        # What a clause has after its colon explains what the row's own words say already.
        short = ", ".join(clause.split(":")[0] for clause in note.split("; ")) if rows else ""
        again = "reloading…" if active in self._again else ""
        parts = (depth, listed, again) if listed else (depth, short, again)
        self.label(subtitle=" · ".join(filter(None, parts)))
        self.tabs.refresh()
        if not rows:
            self.query_one("#relation-note", Words).update("")

    # --- tabs ---

    def action_turn(self, by: int) -> None:
        """Open the tab beside this one."""
        self.turn(by)

    def deeper(self) -> None:
        """Follow callers and callees one step more; after the last depth, one again."""
        self.depth = DEPTHS[self.depth % len(DEPTHS)]
        if self.tabs.active not in _EDGES:
            self.activate(_EDGES[0])
        if self._key is not None:
            self.empty(_EDGES)
            self._ask_edges()

    def turn_unresolved(self) -> None:
        """List the calls by that name that could not be resolved in place of the callers, or the callers again."""
        self.unresolved = not self.unresolved
        self.activate("callers")
        if self._key is not None:
            self.empty(("callers",))
            self._ask_callers()

    # --- asking ---

    def _ask_callers(self) -> None:
        key, depth, at, unresolved = self._key, self.depth, self.at, self.unresolved
        assert key is not None
        self._fill(
            "callers",
            lambda engine: engine.callers(key, depth=depth, at=at, unresolved=unresolved),
            partial(rows.of_edges, callers=True),
        )

    def _ask_edges(self) -> None:
        key, depth, at = self._key, self.depth, self.at
        assert key is not None
        self._ask_callers()
        self._fill(
            "callees", lambda engine: engine.callees(key, depth=depth, at=at), partial(rows.of_edges, callers=False)
        )

    def _fill(
        self, tab: str, call: Callable[[Engine], Page[Any]], rows_of: Callable[[Iterable[Any]], list[Relation]]
    ) -> None:
        def got(page: Page[Any]) -> None:
            listed = rows_of(page.rows)
            self.put(tab, listed, page.note, total=page.total - len(page.rows) + len(listed))
            if tab == "callers":
                self._count(page.unresolved)

        self.mode.ask(tab, call, got, lambda error: self.put(tab, (), error.message))

    def _count(self, unresolved: int) -> None:
        self.unresolved_count = unresolved
        self.mode.refresh_keys()

    # --- the line of source ---

    @on(RelationList.Highlighted, "#relations")
    def _describe_current(self, event: RelationList.Highlighted) -> None:
        row: Relation = event.row
        self._describe(row, row.text)
        if row.site is not None and not row.text:
            (path, line), at = row.site, self.at
            self.mode.ask(
                "line",
                lambda engine: engine.source(path, line, line, at=at).text.strip(),
                partial(self._describe, row),
                lambda error: self._describe(row, error.message),
            )

    def _describe(self, row: Relation, text: str) -> None:
        """Show the source of a row, and in words how it was resolved."""
        words = RESOLUTION_WORDS.get(row.resolution, "")
        line = self.query_one("#relation-note", Words)
        source = elide_end(one_line(text), max(_LEAST_SOURCE, line.content_size.width - cell_len(words) - 3))
        line.update(Content.assemble(source, (f"   {words}" if words else "", "$muted")))


class LifeLine(ModePart):
    """Draws the life of one symbol after the other in one line; not there for a project without history."""

    DEFAULT_CSS = "LifeLine { height: 1; padding: 0 1; display: none; } LifeLine.-shown { display: block; }"
    CELLS = 28
    """Most cells for the line itself."""
    _key: SymbolKey | None = None
    _life: SymbolHistory | None = None
    _status: HistoryStatus | None = None
    """How much of the history is known."""
    _problem = ""
    _here = 0

    def show(self, key: SymbolKey | None, here: int = 0, *, again: bool = False) -> None:
        """Show the life of a symbol, or of none.

        Args:
            key: whose.
            here: the ordinal that is shown; 0: now.
            again: ask also when it is the symbol that is shown already, as the past has news.
        """
        if key != self._key or again:
            self._key = key
            self._life, self._problem = (self._life if again else None), ""
            if key is None:
                self.mode.drop_question("life")
            else:
                self._look_up(key)
        self.mark_ordinal(here)

    def mark_ordinal(self, here: int) -> None:
        """Mark an ordinal on the line, which tells of all times; 0: now."""
        self._here = here
        self._draw()

    def _look_up(self, key: SymbolKey) -> None:
        def call(engine: Engine) -> tuple[HistoryStatus, Page[SymbolHistory] | None]:
            status = engine.history()
            return status, engine.symbol_history(key, limit=1) if status.head and status.known else None

        self.mode.ask("life", call, self._got, self._failed, delay=0.1)

    def _got(self, answer: tuple[HistoryStatus, Page[SymbolHistory] | None]) -> None:
        self._status, page = answer
        self._life, self._problem = page.rows[0] if page and page.rows else None, ""
        self._draw()

    def _failed(self, error: CmError) -> None:
        self._life, self._problem = None, error.message
        self._draw()

    def _draw(self) -> None:
        has_past = self._status is None or self._status.head is not None
        self.set_class(self._key is not None and has_past, "-shown")
        self.refresh()

    def render(self) -> Content:
        """Line and words."""
        width = self.content_size.width
        if self._life is None or self._status is None:
            reason = self._problem or ("its history is not read yet: see History" if self._status else "…")
            return Content.styled(elide_end(reason, width), "$muted")
        words = life_words(self._life)
        if not self._status.complete:
            words += f"; {self._status.text}" if self._status.text else ""
        cells = max(8, min(self.CELLS, width - cell_len(words) - 2))
        line = lifeline_of(self._life, self._status, cells, self._here)
        return Content.assemble(line, "  ", (elide_end(words, max(0, width - cells - 2)), "$soft"))
