"""Edges of call sites, put together from rows.

A site with all that it may mean could come as one row with lists, but sorting lists within groups takes DuckDB ten times
as long as giving out the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from cm_tui.engine.code.graph.schema_view import SchemaView, script
from cm_tui.model import Edge, SymbolKey

Rows = Sequence[tuple[Any, ...]]


class _Definition(NamedTuple):
    """What a site may mean."""

    id: int
    qualname: str
    path: str
    kind: str
    overload: int
    start_line: int
    canon: int

    @property
    def key(self) -> SymbolKey:
        return SymbolKey(self.path, self.qualname, self.kind, self.overload)


class _Site(NamedTuple):
    id: int
    path: str
    line: int
    reference: str
    name: str
    receiver: str | None
    choices: int
    tier: str
    holder: str
    holder_kind: str
    holder_line: int
    holder_canon: int

    @property
    def resolution(self) -> str:
        return "ambiguous" if self.choices > 1 else self.tier


def callers(rows: Rows, targets: Collection[int], hop: int) -> list[tuple[Edge, int]]:
    """Return an edge for each site, by path and line, with the id of the caller (negative: a module).

    `rows`: of `near_sites.sql`. `targets`: the queried symbols. `hop`: the step at which they were reached.
    """
    found = []
    for site, meant in _sites(rows):
        target = next(one for one in meant if one.id in targets)
        edge = Edge(
            site.path, site.holder, site.holder_kind, site.line, site.path, site.reference, site.resolution, hop,
            target.qualname, target.path,
            candidates=tuple(one.key for one in meant) if site.choices > 1 else (), start_line=site.holder_line,
        )  # fmt: skip
        found.append((edge, site.holder_canon))
    return found


def callees(rows: Rows, hop: int) -> list[tuple[Edge, int]]:
    """Return an edge for each site, by line, with the id of the callee (0: none is claimed).

    `rows`: of `near_sites.sql`. `hop`: the step at which they were reached.
    """
    found = []
    for site, meant in _sites(rows):
        target = meant[0] if meant and site.choices == 1 else None
        called = f"{site.receiver}.{site.name}" if site.receiver else site.name
        edge = Edge(
            target.path if target else "", target.qualname if target else called, target.kind if target else "",
            site.line, site.path, site.reference, site.resolution, hop, site.holder, site.path,
            candidates=tuple(one.key for one in meant) if site.choices > 1 else (),
            start_line=target.start_line if target else 0,
        )  # fmt: skip
        found.append((site.line, site.id, edge, target.canon if target else 0))
    return [(edge, other) for _, _, edge, other in sorted(found, key=itemgetter(0, 1))]


def unresolved(db: SchemaView, sites: Sequence[tuple[Any, ...]], hop: int, few: int) -> list[Edge]:
    """Return an edge without a target for each row of `unresolved.sql`.

    `hop`: the step at which their names were reached; `few`: where the project defines no more than so many by a name,
    they are named as candidates.
    """
    namesakes: dict[tuple[str, str], list[SymbolKey]] = defaultdict(list)
    for name, family, *key in db.rows(script("namesakes"), [sorted({row[5] for row in sites})]) if sites else ():
        namesakes[name, family].append(SymbolKey(*key))
    found = []
    for path, qualname, kind, line, reference, name, family, start in sites:
        keys = namesakes[name, family]
        candidates = tuple(keys) if len(keys) <= few else ()
        found.append(
            Edge(
                path,
                qualname,
                kind,
                line,
                path,
                reference,
                "unresolved",
                hop,
                name,
                "",
                candidates=candidates,
                start_line=start,
            )
        )
    return found


def _sites(rows: Rows) -> Iterator[tuple[_Site, list[_Definition]]]:
    """Each site with the definitions that it may mean, in order of their ids."""
    size = len(_Site._fields)
    for _, same in groupby(rows, key=itemgetter(0)):
        of_site = list(same)
        yield _Site(*of_site[0][:size]), [_Definition(*row[size:]) for row in of_site if row[size] is not None]
