"""Asks for everything that is tied to what is shown, and fills the panel of relations with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from cm_tui.model import Page, SymbolKey
from cm_tui.tui.modes.symbols.relation_panel import RelationPanel
from cm_tui.tui.screens.symbol_content import SymbolContent
from cm_tui.tui.tasks.ask import Ask
from cm_tui.tui.widgets import relations as rows
from cm_tui.tui.widgets.relations import TABS, Relation

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

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
