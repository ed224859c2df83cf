"""The code: symbols, calls, imports and source, now or at an earlier revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from cm_tui import model
from cm_tui.engine.api.engine_base import EngineBase, of_one_generation
from cm_tui.engine.api.needs import in_process, needs

if TYPE_CHECKING:
    from cm_tui.engine.code.graph.graph import Graph


T = TypeVar("T")


class CodeMethods(EngineBase):
    """Definitions and uses of symbols; `at` names an earlier revision, as for `resolve`."""

    @needs("files")
    @of_one_generation
    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> model.Page[model.Symbol]:
        """Return symbols in order of path and line; `match` is fuzzy and orders by fit."""
        inside = self._inside(file) if file else None
        return self._graph.symbols(file=inside, kind=kind, match=match, limit=limit)

    @needs("files")
    @of_one_generation
    def definitions(self, name: str, *, at: str | None = None) -> model.Page[model.Symbol]:
        """Return the definitions of a name or qualified name (any suffix of it, at a separator)."""
        return self._query(at, lambda graph: graph.definitions(name))

    @needs("files")
    @of_one_generation
    def callers(
        self, name: str | model.SymbolKey, *, depth: int = 1, at: str | None = None, unresolved: bool = False
    ) -> model.Page[model.Edge]:
        """Return the call sites of a symbol, and of their own symbols when depth > 1 (at most 3).

        The page counts further sites of that name that are unresolved; `unresolved` lists those instead.
        """
        return self._query(at, lambda graph: graph.callers(name, depth=depth, unresolved=unresolved))

    @needs("files")
    @of_one_generation
    def callees(self, name: str | model.SymbolKey, *, depth: int = 1, at: str | None = None) -> model.Page[model.Edge]:
        """Return what a symbol calls."""
        return self._query(at, lambda graph: graph.callees(name, depth=depth))

    @needs("files")
    @of_one_generation
    def dependencies(self, path: str, *, at: str | None = None) -> model.Page[model.ImportEdge]:
        """Return what a file imports."""
        return self._query(at, lambda graph: graph.dependencies(self._inside(path)))

    @needs("files")
    @of_one_generation
    def importers(self, target: str, *, at: str | None = None) -> model.Page[model.ImportEdge]:
        """Return who imports a module or a file."""
        return self._query(at, lambda graph: graph.importers(target))

    @needs("head", shared=False)
    @of_one_generation
    def source(
        self, path: str, start_line: int = 1, end_line: int | None = None, *, at: str | None = None
    ) -> model.Source:
        """Return lines of a file."""
        if at is not None:
            return self._history.source(at, self._inside(path), start_line, end_line)
        return self._file_view().source(self._inside(path), start_line, end_line)

    @in_process
    def prepare_session(self) -> None:
        """Begin what takes long before an agent's questions: the model of prose, the tables and all edges of calls."""
        self._vectors.begin_prose()
        self._graph.prepare()

    def _query(self, at: str | None, question: Callable[[Graph], model.Page[T]]) -> model.Page[T]:
        return question(self._graph) if at is None else self._history.ask(at, question)
