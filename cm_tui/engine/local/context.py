"""The context, in this process: packs are made from search, source and calls."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.engine.local.code import LocalCode
from cm_tui.engine.local.search import LocalSearch
from cm_tui.model import Edge, Pack, PackRequest, Page, Symbol, SymbolKey


class LocalContext(LocalSearch, LocalCode):
    """What a chat needs to know, chosen by the engine or by a person."""

    def pack(self, question: str, *, budget: int = 4000, neighbours: bool = True) -> Pack:
        """Choose what answers a question, within a budget of tokens."""
        from cm_tui.engine.context.from_query import auto_pack

        return auto_pack(
            question,
            budget,
            neighbours,
            search=self.search,
            source=self.source,
            symbol_at=self._symbol_at,
            callers=self.callers,
            callees=self._uses,
        )

    def pack_items(self, items: Sequence[PackRequest], *, budget: int = 4000, question: str = "") -> Pack:
        """Make a pack of what a person chose, in that order."""
        from cm_tui.engine.context.pack import manual_pack

        return manual_pack(items, budget, question, source=self.source, symbol_at=self._symbol_at)

    def neighbours(self, items: Sequence[PackRequest]) -> tuple[PackRequest, ...]:
        """Return callers, callees and used types of what was chosen, nearest first."""
        from cm_tui.engine.context.neighbours import neighbours_of

        return neighbours_of(items, symbol_at=self._symbol_at, callers=self.callers, callees=self._uses)

    def _symbol_at(self, path: str, line: int) -> Symbol | None:
        from cm_tui.engine.index import files

        return files.symbol_at(self._db, path, line)

    def _uses(self, key: SymbolKey) -> Page[Edge]:
        """What a symbol calls, the types it names, and what it derives from."""
        return self._graph.callees(key, kinds=("call", "decorate", "type", "inherit"))
