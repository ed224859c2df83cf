"""Edges of selected symbols: resolved for the requested names, or for everything after several requests."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import duckdb

from cm_tui.engine.code.graph import edge_rows
from cm_tui.engine.code.graph.derived_tables import DerivedTables, Read
from cm_tui.engine.code.graph.schema_view import SchemaView, script
from cm_tui.engine.code.scan.content_reader import ChangedError
from cm_tui.model import Edge, Symbol, SymbolKey

SMALL = 20_000
"""With fewer references than this, resolving all of them costs no more than choosing among them."""

_KEPT_IDS = 10_000
FEW = 5
"""Most candidate definitions to list for an ambiguous site."""


class Resolver:
    """Runs the tiers in SQL.

    The first requests for a state of the index resolve only references with the requested names. Later all are resolved
    once, and further requests read the result; both run the same SQL. `tables`: input of the tiers.
    """

    def __init__(self, tables: DerivedTables) -> None:
        self._db: SchemaView = tables.view
        self._tables = tables
        self._whole = False
        self._ids: dict[SymbolKey, frozenset[int]] = {}

    @property
    def is_whole(self) -> bool:
        """Return whether all references are resolved."""
        return self._whole

    def resolve_all(self) -> None:
        """Resolve all references; answers are then read off."""
        self._resolve("true")
        self._db.execute("CREATE OR REPLACE TABLE graph.all_sites AS FROM site")
        self._db.execute("CREATE OR REPLACE TABLE graph.all_edges AS FROM edge ORDER BY node")
        for table in ("site", "edge", "done", "seed"):
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        self._whole = True

    def callers(self, targets: set[int], kinds: Sequence[str], hop: int) -> list[tuple[Edge, int]]:
        """Edges to the targets, each with the id of the caller (negative: a module)."""
        self._choose(targets)
        # An instantiation calls the class, and so the constructor with its name.
        self._db.execute(script("constructed"))
        whole = self._sees_whole()
        if not whole:
            names = [row[0] for row in self._db.rows(script("names"))]
            if not names:
                return []
            self._resolve(f"r.kind IN ({_quoted(kinds)}) AND r.name IN ({_quoted(names)})")
        self._choose_sites("callers", kinds, whole=whole)
        wanted = {row[0] for row in self._db.rows("SELECT id FROM wanted")}
        return edge_rows.callers(self._db, wanted, hop)

    def unresolved(self, targets: set[int], kinds: Sequence[str], hop: int, seen: set[str]) -> list[Edge]:
        """Sites with the names of unresolved targets; call it after `callers` of the same targets.

        Args:
            targets: ids of groups of overloads.
            kinds: kinds of reference.
            hop: the step at which the targets were reached.
            seen: names queried before, whose sites are skipped; those of the targets are added.

        Returns:
            Edges without a target; `target` is the name as called, `candidates` the definitions of that name where
            there are at most `FEW`.
        """
        if not targets:
            return []
        self._choose(targets)
        sites, edges = _tables(whole=self._sees_whole())
        sql = script("unresolved").replace("{sites}", sites).replace("{edges}", edges)
        rows = self._db.rows(sql.replace("{kinds}", _quoted(kinds)), [sorted(seen)])
        found = edge_rows.unresolved(self._db, rows, hop, FEW)
        seen |= {
            row[0] for row in self._db.rows("SELECT DISTINCT name FROM wanted w JOIN graph.def d ON d.canon = w.id")
        }
        return found

    def callees(self, sources: set[int], kinds: Sequence[str], hop: int) -> list[tuple[Edge, int]]:
        """Edges from the sources or within them, each with the id of the callee (0: unresolved)."""
        self._choose(sources)
        self._db.execute(script("enclosed"))
        whole = self._sees_whole()
        if not whole:
            inside = "(f.id, r.symbol) IN (SELECT file, idx FROM inside)"
            self._resolve(f"r.kind IN ({_quoted(kinds)}) AND {inside}")
        self._choose_sites("callees", kinds, whole=whole)
        return edge_rows.callees(self._db, hop)

    def everything(self, kinds: Sequence[str], *, blind: bool = False) -> list[tuple[Any, ...]]:
        """Return every site with its resolution; ambiguous sites have several rows.

        `kinds`: kinds of reference; `blind`: ignore receivers, to measure resolution by names alone. Returns rows of
        (path, line, caller, name, receiver, kind, tier, choices, path and qualname of the definition, its line, line of
        the caller); the definition is None for unresolved sites.
        """
        self._resolve(f"r.kind IN ({_quoted(kinds)})")
        if blind:
            self._db.execute(script("forget_receivers"))
            self._db.run(script("edges"))
        return self._db.rows(script("all_edges"))

    def ids_of(self, key: SymbolKey) -> set[int]:
        """Ids of a symbol's group of overloads; empty: unknown key."""
        kept = self._ids.get(key)
        if kept is None:
            if len(self._ids) >= _KEPT_IDS:
                self._ids.clear()
            kept = self._ids[key] = frozenset(self.ids([key]))
        return set(kept)

    def ids(self, symbols: Iterable[Symbol | SymbolKey]) -> set[int]:
        """Ids of the groups of overloads that symbols belong to."""
        keys = [(s.path, s.qualname, s.kind, s.overload) for s in symbols]
        return {row[0] for row in self._db.rows(script("ids"), [list(column) for column in zip(*keys, strict=True)])}

    def with_text(self, edges: Sequence[Edge], read: Read | None = None) -> list[Edge]:
        """Return edges with the source line of their sites; empty if neither a passage nor a file has it.

        `edges`: call sites; `read`: as for `DerivedTables.refresh`: a past state has no passages.
        """
        sites = sorted({(edge.site, edge.line) for edge in edges})
        if not sites:
            return []
        rows = self._db.rows(script("lines"), [[path for path, _ in sites], [line for _, line in sites]])
        passages = self._lines_of({id_ for _, _, id_, _ in rows})
        texts = {(path, line): passages[id_][line - start].strip() for path, line, id_, start in rows}
        if read is not None:
            texts |= self._read_lines([site for site in sites if site not in texts], read)
        return [replace(edge, text=texts.get((edge.site, edge.line)) or "") for edge in edges]

    def _lines_of(self, ids: Collection[int]) -> dict[int, list[str]]:
        """Lines of passages, by id."""
        if not ids:
            return {}
        # Numbers in the query text let DuckDB skip blocks.
        wanted = ", ".join(str(int(id_)) for id_ in ids)
        rows = self._db.rows(f"SELECT id, text FROM passage WHERE id IN ({wanted})")  # noqa: S608 - numbers
        return {id_: text.split("\n") for id_, text in rows}

    def _read_lines(self, sites: Sequence[tuple[str, int]], read: Read) -> dict[tuple[str, int], str]:
        paths = sorted({path for path, _ in sites})
        sql = "SELECT f.path, b.oid FROM graph.file f JOIN blob b ON b.id = f.blob WHERE f.path IN (SELECT unnest(?::VARCHAR[]))"
        found: dict[tuple[str, int], str] = {}
        for path, oid in self._db.rows(sql, [paths]) if paths else ():
            try:
                lines = read(path, oid).split("\n")
            except ChangedError:
                # Its content is missing in git; the site is known anyway.
                continue
            found |= {
                (path, line): lines[line - 1].strip() for place, line in sites if place == path and line <= len(lines)
            }
        return found

    def _choose(self, ids: set[int]) -> None:
        self._db.execute("CREATE OR REPLACE TEMP TABLE wanted AS SELECT unnest(?::BIGINT[]) AS id", [sorted(ids)])

    def _resolve(self, wanted: str) -> None:
        sites = self._db.sql(script("sites")).replace("{wanted}", wanted).replace("{scope}", "scope")
        self._db.cursor.execute(sites)
        self._tables.propagate()
        self._db.run(script("edges"))

    def _sees_whole(self) -> bool:
        """Whether all is resolved in this request's view: one that began before does not see it."""
        if not self._whole:
            return False
        try:
            self._db.cursor.execute(self._db.sql("FROM graph.all_edges LIMIT 0"))
        except duckdb.CatalogException:
            return False
        return True

    def _choose_sites(self, direction: str, kinds: Sequence[str], *, whole: bool) -> None:
        sites, edges = _tables(whole=whole)
        sql = script(direction).replace("{sites}", sites).replace("{edges}", edges)
        self._db.run(sql.replace("{kinds}", _quoted(kinds)))


def _tables(*, whole: bool) -> tuple[str, str]:
    """Names of the tables of sites and edges."""
    return ("graph.all_sites", "graph.all_edges") if whole else ("site", "edge")


def _quoted(values: Iterable[str]) -> str:
    """Strings as SQL literals."""
    return ", ".join("'" + re.sub("'", "''", v) + "'" for v in values)
