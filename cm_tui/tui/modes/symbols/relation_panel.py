"""The panel of relations: tabs, rows, and the line of source that the row under the cursor stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from cm_tui.errors import CmError
from cm_tui.model import HistoryStatus, Page, SymbolHistory, SymbolKey
from cm_tui.tui.screens.symbol_content import SymbolContent
from cm_tui.tui.tasks.ask import Ask
from cm_tui.tui.widgets import relations as rows
from cm_tui.tui.widgets.lifeline import LifeLine
from cm_tui.tui.widgets.relations import RESOLUTION_WORDS, TABS, Relation, RelationList, TabLine
from cm_tui.tui.widgets.text import one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


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
        self.rows.focus()
        self.activate(event.tab)

    # --- the line of source ---

    @on(RelationList.Highlighted, "#relations")
    def _describe_current(self, event: RelationList.Highlighted) -> None:
        row: Relation = event.row
        self.describe(row, row.text)
        if row.site is not None and not row.text:
            self.post_message(self.LineRequested(row))

    def describe(self, row: Relation, text: str) -> None:
        """Show the source of a row, and in words how it was resolved."""
        words = RESOLUTION_WORDS.get(row.resolution, "")
        note = Content.assemble(one_line(text), (f"   {words}" if words else "", "$muted"))
        self.query_one("#relation-note", Static).update(note)


DEPTHS = (1, 2, 3)
_EDGES = ("callers", "callees")


class RelationsLoader:
    """Definitions, callers, callees, imports and importers of a symbol or file.

    Args:
        panel: is filled.
        ask: asks the engine.
        drop: forgets a question by its topic.
        counted: told how many calls by the name of what is shown could not be resolved.
    """

    def __init__(
        self, panel: RelationPanel, ask: Ask, drop: Callable[[str], None], counted: Callable[[int], None]
    ) -> None:
        self.panel = panel
        self._ask = ask
        self._drop = drop
        self._counted = counted
        self._key: SymbolKey | None = None
        self.at: str | None = None
        """The revision that is asked about; None: now."""
        self.depth = 1
        """How many steps callers and callees are followed."""
        self.unresolved = False
        """Whether the calls by that name that could not be resolved are listed in place of the callers."""

    def show(self, view: SymbolContent, *, again: bool) -> None:
        """Ask for all tabs; `again`: for the same place as before, so that what is there stays until then."""
        symbol, path, at = view.symbol, view.place.path, self.at
        self._key = symbol.key if symbol else None
        self.unresolved = self.unresolved and again
        self.panel.set_edges(self.depth, unresolved=self.unresolved)
        if again:
            self.panel.look_again()
        else:
            self.panel.forget()
        if symbol is None:
            self.panel.fill("definitions", rows.of_symbols(view.symbols), total=len(view.symbols))
            self._counted(0)
            for tab in _EDGES:
                self._drop(tab)
                self.panel.fill(tab, (), "A file as a whole has none; choose a symbol of it.")
        else:
            name = symbol.name
            self._fill("definitions", lambda engine: engine.definitions(name, at=at), rows.of_symbols)
            self._ask_edges()
        self._fill(
            "imports", lambda engine: engine.dependencies(path, at=at), partial(rows.of_imports, importers=False)
        )
        self._fill("importers", lambda engine: engine.importers(path, at=at), partial(rows.of_imports, importers=True))

    def forget(self, words: str) -> None:
        """Empty all tabs: what they showed, and what was asked, is of another revision.

        Args:
            words: what is said in its place.
        """
        self._key = None
        for tab in (*TABS, "line"):
            self._drop(tab)
        self.panel.forget(words=words)

    def deeper(self) -> None:
        """Follow callers and callees one step more; after the last depth, one again."""
        self.depth = DEPTHS[self.depth % len(DEPTHS)]
        self.panel.set_edges(self.depth, unresolved=self.unresolved)
        if self.panel.tabs.active not in _EDGES:
            self.panel.activate(_EDGES[0])
        if self._key is not None:
            self.panel.forget(_EDGES)
            self._ask_edges()

    def turn_unresolved(self) -> None:
        """List the calls by that name that could not be resolved in place of the callers, or the callers again."""
        self.unresolved = not self.unresolved
        self.panel.set_edges(self.depth, unresolved=self.unresolved)
        self.panel.activate("callers")
        if self._key is not None:
            self.panel.forget(("callers",))
            self._ask_callers()

    def read_line(self, row: Relation) -> None:
        """Read the line of source that a row stands for."""
        if row.site is None:
            return
        (path, line), at = row.site, self.at
        self._ask(
            "line",
            lambda engine: engine.source(path, line, line, at=at).text.strip(),
            partial(self.panel.describe, row),
            lambda error: self.panel.describe(row, error.message),
        )

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
            self.panel.fill(tab, rows_of(page.rows), page.note, total=page.total)
            if tab == "callers":
                self._counted(page.unresolved)

        self._ask(tab, call, got, lambda error: self.panel.fill(tab, (), error.message))


class LifeLoader:
    """The life of one symbol after the other.

    Args:
        line: draws it.
        ask: asks the engine.
        drop: forgets a question by its topic.
    """

    def __init__(self, line: LifeLine, ask: Ask, drop: Callable[[str], None]) -> None:
        self._line = line
        self._ask = ask
        self._drop = drop
        self._key: SymbolKey | None = None
        self._life: SymbolHistory | None = None
        self._status: HistoryStatus | None = None
        self._problem = ""
        self._here = 0

    def show(self, key: SymbolKey | None, here: int = 0, *, again: bool = False) -> None:
        """Show the life of a symbol, or of none.

        Args:
            key: whose.
            here: the ordinal that is shown; 0: now.
            again: ask also when it is the symbol that is shown already, as the past has news.
        """
        self._here = here
        if key != self._key or again:
            self._key = key
            self._life, self._problem = (self._life if again else None), ""
            if key is None:
                self._drop("life")
            else:
                self._look_up(key)
        self._draw()

    def stand(self, here: int) -> None:
        """Mark another ordinal on the line that is shown, which tells of all times; 0: now."""
        self._here = here
        self._draw()

    def _look_up(self, key: SymbolKey) -> None:
        def call(engine: Engine) -> tuple[HistoryStatus, Page[SymbolHistory] | None]:
            status = engine.history()
            return status, engine.symbol_history(key, limit=1) if status.head and status.known else None

        self._ask("life", call, self._got, self._failed, delay=0.1)

    def _got(self, answer: tuple[HistoryStatus, Page[SymbolHistory] | None]) -> None:
        self._status, page = answer
        self._life = page.rows[0] if page and page.rows else None
        self._problem = ""
        self._draw()

    def _failed(self, error: CmError) -> None:
        self._life, self._problem = None, error.message
        self._draw()

    def _draw(self) -> None:
        if self._key is None:
            self._line.hide()
        else:
            self._line.show(self._life, self._status, self._problem, self._here)
