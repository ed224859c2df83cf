"""Edges of selected symbols: resolved for the requested names, or for everything after several requests."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import itemgetter

from cm_tui.engine.code.graph.call_sites import IN_FILE, CallSites, Definitions, Site
from cm_tui.engine.code.graph.derived_tables import DerivedTables, Read, SchemaView, script
from cm_tui.engine.code.graph.language_facts import facts_of
from cm_tui.engine.code.parse.qualified_name import QualifiedName
from cm_tui.engine.code.scan.content_reader import ChangedError
from cm_tui.model import Edge, SymbolKey

# --- edges of call sites ---


def callers(sites: Sequence[Site], targets: Collection[int], hop: int) -> list[tuple[Edge, int]]:
    """Return an edge for each site, with the id of the caller (negative: a module).

    `targets`: the queried symbols; `hop`: the step at which they were reached.
    """
    found = []
    for site in sites:
        target, holder = next(one for one in site.meant if one.id in targets), site.holder
        edge = Edge(
            site.path, holder.qualname, holder.kind, site.line, site.path, site.reference, site.resolution, hop,
            target.qualname, target.path, candidates=_candidates(site), start_line=holder.start_line,
        )  # fmt: skip
        found.append((edge, holder.canon))
    return found


def callees(sites: Sequence[Site], hop: int) -> list[tuple[Edge, int]]:
    """Return an edge for each site, by line, with the id of the callee (0: none is claimed).

    `hop`: the step at which what they stand in was reached.
    """
    found = []
    for site in sites:
        target = site.meant[0] if site.meant and site.is_certain else None
        called = f"{site.receiver}.{site.name}" if site.receiver else site.name
        if root := facts_of(site.family).root:
            called = called.removeprefix(f"{root}.")
        edge = Edge(
            target.path if target else "", target.qualname if target else called, target.kind if target else "",
            site.line, site.path, site.reference, site.resolution, hop, site.holder.qualname, site.path,
            candidates=_candidates(site), start_line=target.start_line if target else 0,
        )  # fmt: skip
        found.append((site.line, site.id, edge, target.canon if target else 0))
    return [(edge, other) for _, _, edge, other in sorted(found, key=itemgetter(0, 1))]


def unresolved(db: SchemaView, sites: Sequence[Site], hop: int, few: int) -> list[Edge]:
    """Return an edge without a target for each site.

    `hop`: the step at which their names were reached; `few`: where the project defines no more than so many by a name,
    they are named as candidates.
    """
    namesakes: dict[tuple[str, str], list[SymbolKey]] = defaultdict(list)
    for name, family, *key in db.rows(script("namesakes"), [sorted({one.name for one in sites})]) if sites else ():
        namesakes[name, family].append(SymbolKey(*key))
    found = []
    for site in sites:
        holder, keys = site.holder, namesakes[site.name, site.family]
        edge = Edge(
            site.path, holder.qualname, holder.kind, site.line, site.path, site.reference, "unresolved", hop, site.name,
            "", candidates=tuple(keys) if len(keys) <= few else (), start_line=holder.start_line,
        )  # fmt: skip
        found.append(edge)
    return found


def _candidates(site: Site) -> tuple[SymbolKey, ...]:
    return () if site.is_certain else tuple(one.key for one in site.meant)


# --- edges of selected symbols ---

SMALL = 20_000
"""With fewer references than this, resolving all of them costs no more than choosing among them."""

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
        self._whole: CallSites | None = None
        self._part = threading.local()
        """What this thread resolved for its last request."""

    @cached_property
    def _definitions(self) -> Definitions:
        return Definitions(self._db)

    @property
    def is_whole(self) -> bool:
        """Return whether all references are resolved."""
        return self._whole is not None

    def resolve_all(self) -> None:
        """Resolve all references; answers are then read off."""
        self._whole = self._resolved("true")

    def callers(self, targets: set[int], kinds: Sequence[str], hop: int) -> list[tuple[Edge, int]]:
        """Edges to the targets, each with the id of the caller (negative: a module)."""
        if not targets:
            return []
        # An instantiation calls the class, and so the constructor with its name.
        targets = targets | self._definitions.constructed(targets)
        sites = self._whole
        if sites is None:
            names = [row[0] for row in self._db.rows(script("names").replace("{ids}", _listed(targets)))]
            self._part.sites = None
            if not names:
                return []
            sites = self._part.sites = self._resolved(f"r.kind IN ({_quoted(kinds)}) AND r.name IN ({_quoted(names)})")
        return callers(sites.read(sites.meaning(targets), kinds), targets, hop)

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
        sites = self._whole or getattr(self._part, "sites", None)
        if not targets or sites is None:
            return []
        names = [(name, family) for name, family in self._definitions.names_of(targets) if name not in seen]
        seen |= {name for name, _ in names}
        return unresolved(self._db, sites.read(sites.unknown(names), kinds), hop, FEW)

    def callees(self, sources: set[int], kinds: Sequence[str], hop: int) -> list[tuple[Edge, int]]:
        """Edges from the sources or within them, each with the id of the callee (0: unresolved)."""
        inside = self._definitions.enclosed(sources)
        if not inside:
            return []
        sites = self._whole
        if sites is None:
            places = ", ".join(f"({id_ // IN_FILE}, {id_ % IN_FILE})" for id_ in inside)
            sites = self._resolved(f"r.kind IN ({_quoted(kinds)}) AND (f.id, r.symbol) IN ({places})")
        return callees(sites.read(sites.within(inside), kinds), hop)

    def ids_of(self, name: str | SymbolKey) -> set[int]:
        """Ids of a symbol's group of overloads, or of the groups that a name or the end of a qualified one means."""
        if isinstance(name, SymbolKey):
            return self._definitions.ids_of(name)
        wanted = QualifiedName(name)
        return self._definitions.ids_named(wanted) if wanted.ends else set()

    def with_text(self, edges: Sequence[Edge], read: Read | None = None) -> list[Edge]:
        """Return edges with the source line of their sites; empty if neither a passage nor a file has it.

        `edges`: call sites; `read`: as for `DerivedTables.refresh`: a past state has no passages.
        """
        sites = sorted({(edge.site, edge.line) for edge in edges})
        if not sites:
            return []
        paths = sorted({path for path, _ in sites})
        sql = self._db.sql(script("lines")).replace("{paths}", ", ".join("?" * len(paths)))
        spans = defaultdict(list)
        for path, *span in self._db.cursor.execute(sql, paths).fetchall():
            spans[path].append(span)
        # A join with the lines would take DuckDB several times as long.
        rows = [
            (site, id_, site[1] - start)
            for site in sites
            for id_, start, end in spans[site[0]]
            if start <= site[1] <= end
        ]
        passages = self._lines_of({id_ for _, id_, _ in rows})
        texts = {site: passages[id_][at].strip() for site, id_, at in rows}
        if read is not None:
            texts |= self._read_lines([site for site in sites if site not in texts], read)
        return [replace(edge, text=texts.get((edge.site, edge.line)) or "") for edge in edges]

    def _lines_of(self, ids: Collection[int]) -> dict[int, list[str]]:
        """Lines of passages, by id."""
        if not ids:
            return {}
        rows = self._db.rows(f"SELECT id, text FROM passage WHERE id IN ({_listed(ids)})")  # noqa: S608 - numbers
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

    def _resolve(self, wanted: str) -> None:
        sites = self._db.sql(script("sites")).replace("{wanted}", wanted).replace("{scope}", "scope")
        self._db.cursor.execute(sites)
        self._tables.propagate()
        self._db.run(script("edges"))

    def _resolved(self, wanted: str) -> CallSites:
        """Resolve some references, and take them into memory."""
        self._resolve(wanted)
        sites = CallSites(self._db, self._definitions)
        for table in ("site", "edge", "done", "seed"):
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        return sites


def _listed(ids: Iterable[int]) -> str:
    """Numbers as SQL: in the text of a query they let DuckDB skip blocks."""
    return ", ".join(str(int(one)) for one in sorted(ids))


def _quoted(values: Iterable[str]) -> str:
    """Strings as SQL literals."""
    return ", ".join("'" + re.sub("'", "''", v) + "'" for v in values)
