"""Graph of a project's symbols and files, as the engine shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cm_tui.engine.graph import lookup
from cm_tui.engine.graph.derived_tables import DerivedTables, Read
from cm_tui.engine.graph.resolve import PARTIAL_QUESTIONS, Resolver
from cm_tui.engine.graph.schema_view import SCHEMA, script
from cm_tui.engine.store.database import Database
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Edge, ImportEdge, Page, Symbol, SymbolKey
from cm_tui.model.code import SYMBOL_KINDS

CALLS = ("call", "decorate")
"""Kinds of reference that make a caller."""

MAX_DEPTH = 3

NOW = "now_file"
"""Relation of what is there now."""


class Graph:
    """Definitions, calls and imports, now or in any relation of (path, blob).

    Args:
        db: the store.
        read: text of a file by path and object id, for manifests such as `tsconfig.json` that have no passages.
        snapshot: the relation to look at, as it may stand after FROM.
        schema: where what is derived is kept; graphs of several snapshots that are asked in turn have one each.
    """

    def __init__(self, db: Database, read: Read | None = None, *, snapshot: str = NOW, schema: str = SCHEMA) -> None:
        self._db = db
        self._snapshot = snapshot
        self._read = read
        self._tables = DerivedTables.of(db, schema)
        self._resolver = Resolver(self._tables, 1 if snapshot == NOW else PARTIAL_QUESTIONS)

    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Symbols in order of path and line; `match` is fuzzy and orders by fit.

        Raises:
            NotFoundError: the file is not in the index.
            UsageError: there is no such kind.
        """
        if kind is not None and kind not in SYMBOL_KINDS:
            raise UsageError(f"There is no kind of symbol {kind!r}.", hint=f"Use one of {', '.join(SYMBOL_KINDS)}.")
        if match and match.strip():
            return lookup.match_symbols(self._db, self._snapshot, file, kind, match.strip(), limit)
        return lookup.list_symbols(self._db, self._snapshot, file, kind, limit)

    def definitions(self, name: str | SymbolKey) -> Page[Symbol]:
        """Definitions of a name or of the end of a qualified name, at a separator (`.`, `::`, `#`, `/`).

        Raises:
            NotFoundError: nothing bears that name; the hint has close names.
        """
        found = lookup.find_definitions(self._db, self._snapshot, name)
        return Page(found, len(found))

    def callers(self, name: str | SymbolKey, *, depth: int = 1, kinds: Sequence[str] = CALLS) -> Page[Edge]:
        """Call sites of a symbol, then of the symbols that these stand in, up to `depth` hops; each site once.

        Sites that may mean the symbol as well as another come last, as `ambiguous`; no hop follows them.

        Raises:
            NotFoundError: nothing bears that name.
            UsageError: the depth is not 1, 2 or 3.
        """
        return self._walk(name, depth, self._resolver.callers, kinds)

    def callees(self, name: str | SymbolKey, *, depth: int = 1, kinds: Sequence[str] = CALLS) -> Page[Edge]:
        """Return what a symbol calls, and what stands within it does; `path` is empty for what is not in the project.

        Raises:
            NotFoundError: nothing bears that name.
            UsageError: the depth is not 1, 2 or 3.
        """
        return self._walk(name, depth, self._resolver.callees, kinds)

    def injectors(self, name: str | SymbolKey) -> Page[Edge]:
        """Classes whose constructor takes this type."""
        return self.callers(name, kinds=("inject",))

    def injects(self, name: str | SymbolKey) -> Page[Edge]:
        """Types that a class takes in its constructor."""
        return self.callees(name, kinds=("inject",))

    def dependencies(self, path: str) -> Page[ImportEdge]:
        """Return what a file imports, in order of line.

        Raises:
            NotFoundError: the file is not in the index.
        """
        lookup.check_file(self._db, self._snapshot, path)
        with self._tables.lock:
            self._tables.refresh(self._snapshot, self._read)
            return self._imports("f.path = ?", [path])

    def importers(self, target: str) -> Page[ImportEdge]:
        """Return who imports a file, a folder's package, or a module by its name (one outside the project too).

        Raises:
            NotFoundError: no file is called so, and nothing imports a module of that name.
        """
        plain = target.strip().removesuffix("/")
        with self._tables.lock:
            self._tables.refresh(self._snapshot, self._read)
            files = self._tables.files_of(plain)
            page = self._imports(
                "i.target IN (SELECT unnest(?::BIGINT[])) OR (i.target IS NULL AND (i.module = ? "
                "OR starts_with(i.module, ? || '.') OR starts_with(i.module, ? || '/') "
                "OR starts_with(i.module, ? || '::')))",
                [sorted(files), plain, plain, plain, plain],
            )
        if not files and not page.rows:
            raise NotFoundError(
                f"No file is called {target}, and nothing imports it.", hint="Give a path or a module's name."
            )
        return page

    def resolve_all(self, kinds: Sequence[str] = CALLS, *, blind: bool = False) -> list[tuple[Any, ...]]:
        """Return every call site with what it was resolved to, for measurements; see `Resolver.everything`."""
        with self._tables.lock:
            self._tables.refresh(self._snapshot, self._read)
            return self._resolver.everything(kinds, blind=blind)

    def _walk(
        self,
        name: str | SymbolKey,
        depth: int,
        follow: Callable[[set[int], Sequence[str], int], list[tuple[Edge, int]]],
        kinds: Sequence[str],
    ) -> Page[Edge]:
        if not 1 <= depth <= MAX_DEPTH:
            raise UsageError(f"Depth {depth} is out of range.", hint=f"Give 1 to {MAX_DEPTH}.")
        with self._tables.lock:
            found = lookup.find_definitions(self._db, self._snapshot, name)
            self._resolver.prepare(self._snapshot, self._read)
            here = self._resolver.ids(found)
            seen: set[int] = set()
            edges: list[Edge] = []
            for hop in range(1, depth + 1):
                seen |= here
                step = follow(here, kinds, hop)
                edges += [edge for edge, _ in step]
                here = {other for edge, other in step if other > 0 and edge.resolution != "ambiguous"} - seen
                if not here:
                    break
            past = self._read if self._snapshot != NOW else None
            return _page(self._resolver.with_text(edges, past), depth)

    def _imports(self, where: str, values: Sequence[Any]) -> Page[ImportEdge]:
        rows = self._tables.view.rows(script("imports").replace("{where}", where), values)
        edges = tuple(ImportEdge(*row) for row in rows)
        return Page(edges, len(edges))


def _page(edges: list[Edge], depth: int) -> Page[Edge]:
    rank = {"ambiguous": 1}
    rows = tuple(sorted(edges, key=lambda e: (e.depth, rank.get(e.resolution, 0), e.site, e.line)))
    unsure = sum(e.resolution == "ambiguous" for e in rows)
    notes = (
        [f"{unsure} of {len(rows)} are ambiguous: each names all that it may mean, and none is claimed"]
        if unsure
        else []
    )
    if depth == MAX_DEPTH:
        notes.append(f"not followed beyond depth {MAX_DEPTH}")
    return Page(rows, len(rows), "; ".join(notes))
