"""The code: symbols, calls, imports and source, now or at an earlier revision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import Edge, ImportEdge, Page, Source, Symbol, SymbolKey


class CodeApi(Protocol):
    """What is defined where, and who uses it; `at` names an earlier revision, as for `resolve`."""

    @needs("files")
    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Return symbols in order of path and line; `match` is fuzzy and orders by fit."""

    @needs("files")
    def definitions(self, name: str, *, at: str | None = None) -> Page[Symbol]:
        """Return the definitions of a name or qualified name (any suffix of it, at a separator)."""

    @needs("files")
    def callers(
        self, name: str | SymbolKey, *, depth: int = 1, at: str | None = None, unresolved: bool = False
    ) -> Page[Edge]:
        """Return the call sites of a symbol; of the call sites' own symbols when depth > 1 (at most 3).

        The page says how many more sites bear the name of which nothing is known; `unresolved` lists those instead.
        """

    @needs("files")
    def callees(self, name: str | SymbolKey, *, depth: int = 1, at: str | None = None) -> Page[Edge]:
        """Return what a symbol calls."""

    @needs("files")
    def dependencies(self, path: str, *, at: str | None = None) -> Page[ImportEdge]:
        """Return what a file imports."""

    @needs("files")
    def importers(self, target: str, *, at: str | None = None) -> Page[ImportEdge]:
        """Return who imports a module or a file."""

    @needs("head")
    def source(self, path: str, start_line: int = 1, end_line: int | None = None, *, at: str | None = None) -> Source:
        """Return lines of a file."""
