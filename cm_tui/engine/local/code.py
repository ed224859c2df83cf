"""The code, in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from cm_tui.engine.local.rooms import LocalRooms, of_one_generation
from cm_tui.model import Edge, ImportEdge, Page, Source, Symbol, SymbolKey

if TYPE_CHECKING:
    from cm_tui.engine.graph.graph import Graph

T = TypeVar("T")


class LocalCode(LocalRooms):
    """What is defined where, and who uses it."""

    @of_one_generation
    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Return symbols in order of path and line; `match` is fuzzy and orders by fit."""
        inside = self._inside(file) if file else None
        return self._graph.symbols(file=inside, kind=kind, match=match, limit=limit)

    @of_one_generation
    def definitions(self, name: str, *, at: str | None = None) -> Page[Symbol]:
        """Return the definitions of a name or of the end of a qualified name."""
        return self._asked(at, lambda graph: graph.definitions(name))

    @of_one_generation
    def callers(
        self, name: str | SymbolKey, *, depth: int = 1, at: str | None = None, unresolved: bool = False
    ) -> Page[Edge]:
        """Return the call sites of a symbol, or those by its name that could not be resolved."""
        return self._asked(at, lambda graph: graph.callers(name, depth=depth, unresolved=unresolved))

    @of_one_generation
    def callees(self, name: str | SymbolKey, *, depth: int = 1, at: str | None = None) -> Page[Edge]:
        """Return what a symbol calls."""
        return self._asked(at, lambda graph: graph.callees(name, depth=depth))

    @of_one_generation
    def dependencies(self, path: str, *, at: str | None = None) -> Page[ImportEdge]:
        """Return what a file imports."""
        return self._asked(at, lambda graph: graph.dependencies(self._inside(path)))

    @of_one_generation
    def importers(self, target: str, *, at: str | None = None) -> Page[ImportEdge]:
        """Return who imports a module or a file."""
        return self._asked(at, lambda graph: graph.importers(target))

    @of_one_generation
    def source(self, path: str, start_line: int = 1, end_line: int | None = None, *, at: str | None = None) -> Source:
        """Return lines of a file."""
        from cm_tui.engine.index import files
        from cm_tui.engine.scan.content_reader import ContentReader

        if at is not None:
            return self._history.source(at, self._inside(path), start_line, end_line)
        # A reader of its own for each call: what it keeps must not outlive an edit.
        return files.FileView(self._db, ContentReader(self._repository)).source(
            self._inside(path), start_line, end_line
        )

    def _asked(self, at: str | None, question: Callable[[Graph], Page[T]]) -> Page[T]:
        return question(self._graph) if at is None else self._history.ask(at, question)
