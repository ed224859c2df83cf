"""Edges of chosen symbols: resolved for the names asked about, or for everything once several questions were asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from cm_tui.engine.graph.derived_tables import DerivedTables, Read
from cm_tui.engine.graph.schema_view import SchemaView, script
from cm_tui.engine.scan.content_reader import ChangedError
from cm_tui.model import Edge, Symbol, SymbolKey

SMALL = 20_000
"""With fewer references than this, resolving all of them costs no more than choosing among them."""

PARTIAL_QUESTIONS = 10
"""So many questions about one snapshot of the past cost about as much as resolving all of it; most get one or two."""


class Resolver:
    """Runs the tiers in SQL.

    The first questions about a state of the index resolve only the references that bear the names in question.
    Later all are resolved, once, and further answers are read off; both ways run the same SQL.

    Args:
        tables: what that the tiers stand on.
        partial_questions: how many questions come first.
    """

    def __init__(self, tables: DerivedTables, partial_questions: int = 1) -> None:
        self._partial_questions = partial_questions
        self._db: SchemaView = tables.view
        self._tables = tables
        self._asked = 0
        self._state: object = None
        self._whole = False

    def prepare(self, snapshot: str, read: Read | None) -> None:
        """Get ready for a question about a relation of (path, blob); `read` as for `DerivedTables.refresh`."""
        state = self._tables.refresh(snapshot, read)
        if state != self._state:
            self._state, self._asked, self._whole = state, 0, False
        late = self._asked >= self._partial_questions
        if not self._whole and (late or self._db.value("SELECT count(*) FROM reference") <= SMALL):
            self._resolve("true")
            self._db.execute("CREATE OR REPLACE TABLE graph.all_sites AS FROM site")
            self._db.execute("CREATE OR REPLACE TABLE graph.all_edges AS FROM edge ORDER BY node")
            self._whole = True
        self._asked += 1

    def callers(self, targets: set[int], kinds: Sequence[str], hop: int) -> list[tuple[Edge, int]]:
        """Edges that end at the targets, each with the id of the caller (negative: a module)."""
        self._choose(targets)
        if not self._whole:
            names = [row[0] for row in self._db.rows(script("names"))]
            if not names:
                return []
            self._resolve(f"r.kind IN ({_quoted(kinds)}) AND r.name IN ({_quoted(names)})")
        return self._edges("callers", kinds, hop)

    def callees(self, sources: set[int], kinds: Sequence[str], hop: int) -> list[tuple[Edge, int]]:
        """Edges that start at the sources or within them, each with the id of the callee (0: none is claimed)."""
        self._choose(sources)
        self._db.execute(script("enclosed"))
        if not self._whole:
            inside = "(f.id, r.symbol) IN (SELECT file, idx FROM inside)"
            self._resolve(f"r.kind IN ({_quoted(kinds)}) AND {inside}")
        return self._edges("callees", kinds, hop)

    def everything(self, kinds: Sequence[str], *, blind: bool = False) -> list[tuple[Any, ...]]:
        """Return every site and what it was resolved to; sites that may mean several definitions have several rows.

        Args:
            kinds: kinds of reference.
            blind: forget what receivers are, to measure what names alone would have said.

        Returns:
            Rows of (path, line, caller, name, receiver, kind, tier, choices, path and qualname of the definition, its
            line, line of the caller); the definition is None for what was not resolved.
        """
        self._resolve(f"r.kind IN ({_quoted(kinds)})")
        if blind:
            self._db.execute(script("forget_receivers"))
            self._db.run(script("edges"))
        return self._db.rows(script("all_edges"))

    def ids(self, symbols: Iterable[Symbol]) -> set[int]:
        """Ids of the groups of overloads that symbols belong to."""
        keys = [(s.path, s.qualname, s.kind, s.overload) for s in symbols]
        return {row[0] for row in self._db.rows(script("ids"), [list(column) for column in zip(*keys, strict=True)])}

    def with_text(self, edges: Sequence[Edge], read: Read | None = None) -> list[Edge]:
        """Return edges with the source line of their sites; empty where no passage holds it and nothing reads it.

        Args:
            edges: call sites.
            read: as for `DerivedTables.refresh`: a state of the past has no passages.
        """
        sites = sorted({(edge.site, edge.line) for edge in edges})
        if not sites:
            return []
        rows = self._db.rows(script("lines"), [[path for path, _ in sites], [line for _, line in sites]])
        # SQL's trim leaves tabs and carriage returns.
        texts = {(path, line): text.strip() for path, line, text in rows if text}
        if read is not None:
            texts |= self._read_lines([site for site in sites if site not in texts], read)
        return [replace(edge, text=texts.get((edge.site, edge.line)) or "") for edge in edges]

    def _read_lines(self, sites: Sequence[tuple[str, int]], read: Read) -> dict[tuple[str, int], str]:
        paths = sorted({path for path, _ in sites})
        sql = "SELECT f.path, b.oid FROM graph.file f JOIN blob b ON b.id = f.blob WHERE f.path IN (SELECT unnest(?::VARCHAR[]))"
        found: dict[tuple[str, int], str] = {}
        for path, oid in self._db.rows(sql, [paths]) if paths else ():
            try:
                lines = read(path, oid).split("\n")
            except ChangedError:
                # Its content has gone from git; the site is known all the same.
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

    def _edges(self, direction: str, kinds: Sequence[str], hop: int) -> list[tuple[Edge, int]]:
        sites, edges = ("graph.all_sites", "graph.all_edges") if self._whole else ("site", "edge")
        sql = script(direction).replace("{sites}", sites).replace("{edges}", edges).replace("{kinds}", _quoted(kinds))
        result: list[tuple[Edge, int]] = []
        for *values, names, paths, types, numbers, other in self._db.rows(sql):
            path, qualname, kind, line, site, reference, resolution, target, target_path, start = values
            keys = [SymbolKey(p, q, k, n) for p, q, k, n in zip(paths, names, types, numbers, strict=True)]
            edge = Edge(
                path, qualname, kind, line, site, reference, resolution, hop, target, target_path,
                candidates=tuple(keys) if resolution == "ambiguous" else (), start_line=start,
            )  # fmt: skip
            result.append((edge, other))
        return result


def _quoted(values: Iterable[str]) -> str:
    """Strings as SQL literals."""
    return ", ".join("'" + re.sub("'", "''", v) + "'" for v in values)
