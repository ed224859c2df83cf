"""Graph of a project's symbols and files, as the engine shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from cm_tui.counts import noun
from cm_tui.engine.code.graph import lookup
from cm_tui.engine.code.graph.derived_tables import DerivedTables, Read, script
from cm_tui.engine.code.graph.generation_tables import NOW, GenerationTables, PageKey, TableSet
from cm_tui.engine.code.graph.resolve import Resolver
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Edge, ImportEdge, Page, Symbol, SymbolKey
from cm_tui.model.code import SYMBOL_KINDS

CALLS = ("call", "decorate")
"""Kinds of reference that make a caller."""

MAX_DEPTH = 3
_TARGET = "Give a path or a module's name."


class Graph:
    """Definitions, calls and imports, of the current or any other relation of (path, blob).

    `read`: text of a file by path and object id, for manifests such as `tsconfig.json` that have no passages.
    `snapshot`: the relation, for a FROM clause.
    """

    def __init__(self, db: Database, read: Read | None = None, *, snapshot: str = NOW) -> None:
        self._db = db
        self._snapshot = snapshot
        self._read = read
        self._sets = GenerationTables.of(db)

    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> Page[Symbol]:
        """Symbols in order of path and line; `match` is fuzzy and orders by fit.

        Raises NotFoundError if the file is not in the index; UsageError if there is no such kind.
        """
        if kind is not None and kind not in SYMBOL_KINDS:
            raise UsageError(f"Unknown kind of symbol: {kind!r}.", hint=f"Use one of {', '.join(SYMBOL_KINDS)}.")
        if match and match.strip():
            return lookup.match_symbols(self._db, self._snapshot, file, kind, match.strip(), limit)
        return lookup.list_symbols(self._db, self._snapshot, file, kind, limit)

    def definitions(self, name: str | SymbolKey) -> Page[Symbol]:
        """Definitions of a name or of the end of a qualified name, at a separator (`.`, `::`, `#`, `/`).

        Raises NotFoundError if nothing has that name; the hint has similar names.
        """
        found = lookup.find_definitions(self._db, self._snapshot, name)
        return Page(found, len(found))

    def callers(
        self,
        name: str | SymbolKey,
        *,
        depth: int = 1,
        kinds: Sequence[str] = CALLS,
        unresolved: bool = False,
        text: bool = True,
    ) -> Page[Edge]:
        """Call sites of a symbol, then of their own symbols, up to `depth` hops; each site once.

        Sites that may mean another symbol, or something unknown, come last, as `ambiguous`; no hop follows them.
        Unresolved sites with the same names are counted. `name`: a name, the end of a qualified one, or a key; `depth`:
        how many hops; `kinds`: kinds of reference; `unresolved`: list the unresolved sites instead of the callers;
        `text`: read the lines of the sites, and count unresolved ones. Raises NotFoundError if nothing has that name;
        UsageError if the depth is not 1, 2 or 3.
        """
        missed: list[Edge] = []
        seen: set[str] = set()

        def follow(resolver: Resolver, targets: set[int], kinds: Sequence[str], hop: int) -> list[tuple[Edge, int]]:
            found = resolver.callers(targets, kinds, hop)
            if text:
                missed.extend(resolver.unresolved(targets, kinds, hop, seen))
            return found

        with self._tables() as asked:
            page = self._walk(name, depth, "callers", follow, kinds, text=text)
            return self._list_unresolved(asked.resolver, missed) if unresolved else _with_unresolved(page, len(missed))

    def _list_unresolved(self, resolver: Resolver, missed: list[Edge]) -> Page[Edge]:
        rows = tuple(resolver.with_text(missed, self._read if self._snapshot != NOW else None))
        few = any(edge.candidates for edge in rows)
        note = "each lists the definitions of that name in the project, none is selected" if few else ""
        return Page(rows, len(rows), note, unresolved=len(rows))

    def callees(
        self, name: str | SymbolKey, *, depth: int = 1, kinds: Sequence[str] = CALLS, text: bool = True
    ) -> Page[Edge]:
        """Return the callees of a symbol and its members; `path` is empty for those outside the project.

        Raises NotFoundError if nothing has that name; UsageError if the depth is not 1, 2 or 3.
        """
        return self._walk(name, depth, "callees", Resolver.callees, kinds, text=text)

    def dependencies(self, path: str) -> Page[ImportEdge]:
        """Return what a file imports, in order of line.

        Raises NotFoundError if the file is not in the index.
        """
        with self._tables() as asked:
            lookup.check_file(self._db, self._snapshot, path)
            return _imports(asked.tables, "f.path = ?", [path])

    def importers(self, target: str) -> Page[ImportEdge]:
        """Return the importers of a file, a folder's package, or a module by name (even outside the project).

        Those of a file that shares its names with a package (Go, PHP, C#) are those of the package that may use them.
        Raises NotFoundError if no file has that name, and nothing imports a module of that name; UsageError if it is empty.
        """
        plain = target.strip().removesuffix("/")
        if not plain:
            raise UsageError("The name is empty.", hint=_TARGET)
        with self._tables() as asked:
            files = asked.tables.files_of(plain)
            packages, names = asked.tables.packages_of(files)
            page = _imports(
                asked.tables,
                "i.target IN (SELECT unnest(?::BIGINT[])) OR (i.target IS NULL AND (i.module = ? "
                "OR starts_with(i.module, ? || '.') OR starts_with(i.module, ? || '/') "
                "OR starts_with(i.module, ? || '::'))) OR (i.target IN (SELECT unnest(?::BIGINT[])) "
                "AND (i.name IS NULL OR i.name IN (SELECT unnest(?::VARCHAR[]))))",
                [sorted(files), plain, plain, plain, plain, packages, ["*", *names]],
            )
        if not files and not page.rows:
            known = [row[0] for row in self._db.rows(f"SELECT path FROM {self._snapshot}")]  # noqa: S608 - our own relation
            hint = lookup.suggestion(plain, known) or _TARGET
            raise NotFoundError(f"No file or import is named {target}.", hint=hint)
        return page

    def prepare(self) -> None:
        """Build the tables of the current files, and resolve all calls in the background."""
        with self._tables() as asked:
            self._sets.prepare(asked)

    @contextmanager
    def _tables(self, *, resolve: bool = False) -> Iterator[TableSet]:
        """Hold the data for a query: of the generation that this thread reads, or of a past snapshot."""
        with (
            nullcontext() if self._snapshot != NOW else self._db.reading(),
            self._sets.asked(self._read, self._snapshot, resolve=resolve) as found,
        ):
            yield found

    def _walk(
        self,
        name: str | SymbolKey,
        depth: int,
        direction: str,
        follow: Callable[[Resolver, set[int], Sequence[str], int], list[tuple[Edge, int]]],
        kinds: Sequence[str],
        *,
        text: bool,
    ) -> Page[Edge]:
        if not 1 <= depth <= MAX_DEPTH:
            raise UsageError(f"Depth {depth} is out of range.", hint=f"Use 1 to {MAX_DEPTH}.")
        with self._tables(resolve=True) as asked:
            key = None if text or isinstance(name, str) else PageKey(name, direction, depth, tuple(kinds))
            if key is not None and (kept := asked.pages.get(key)) is not None:
                return kept
            edges = self._edges(asked.resolver, name, depth, follow, kinds)
            past = self._read if self._snapshot != NOW else None
            page = _page(asked.resolver.with_text(edges, past) if text else edges, depth)
            if key is not None:
                asked.pages.put(key, page)
            return page

    def _edges(
        self,
        resolver: Resolver,
        name: str | SymbolKey,
        depth: int,
        follow: Callable[[Resolver, set[int], Sequence[str], int], list[tuple[Edge, int]]],
        kinds: Sequence[str],
    ) -> list[Edge]:
        here = resolver.ids_of(name)
        if not here:
            # By the end of a path and a name, or to report an unknown one.
            symbols = lookup.find_definitions(self._db, self._snapshot, name)
            here = {id_ for symbol in symbols for id_ in resolver.ids_of(symbol.key)}
        seen: set[int] = set()
        edges: list[Edge] = []
        for hop in range(1, depth + 1):
            seen |= here
            step = follow(resolver, here, kinds, hop)
            edges += [edge for edge, _ in step]
            here = {other for edge, other in step if other > 0 and edge.resolution != "ambiguous"} - seen
            if not here:
                break
        return edges


def _imports(tables: DerivedTables, where: str, values: Sequence[Any]) -> Page[ImportEdge]:
    rows = tables.view.rows(script("imports").replace("{where}", where), values)
    edges = tuple(ImportEdge(*row) for row in rows)
    return Page(edges, len(edges))


def _with_unresolved(page: Page[Edge], count: int) -> Page[Edge]:
    """Return a note on the number of unresolved sites."""
    if not count:
        return page
    more = " more" if page.rows else ""
    said = f"{count:,}{more} {'site' if count == 1 else 'sites'} could not be resolved"
    return replace(page, note="; ".join(filter(None, (page.note, said))), unresolved=count)


def _page(edges: list[Edge], depth: int) -> Page[Edge]:
    rank = {"ambiguous": 1}
    rows = tuple(sorted(edges, key=lambda e: (e.depth, rank.get(e.resolution, 0), e.site, e.line)))
    unsure = sum(e.resolution == "ambiguous" for e in rows)
    notes = (
        [
            f"{unsure} of {len(rows)} {noun(unsure, 'is', 'are')} ambiguous: each lists all possible targets, none is selected"
        ]
        if unsure
        else []
    )
    if depth == MAX_DEPTH:
        notes.append(f"not followed beyond depth {MAX_DEPTH}")
    return Page(rows, len(rows), "; ".join(notes))
