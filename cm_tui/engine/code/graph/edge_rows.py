"""Edges of call sites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from operator import itemgetter

from cm_tui.engine.code.graph.call_sites import Site
from cm_tui.engine.code.graph.schema_view import SchemaView, script
from cm_tui.model import Edge, SymbolKey


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
