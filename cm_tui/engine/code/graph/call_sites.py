"""Resolved sites of references in memory, in columns: a request reads them in a fraction of a query's time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.code.graph.derived_tables import SchemaView
from cm_tui.model import SymbolKey

Positions = NDArray[np.int64]

_SITES = """
SELECT file, scope, coalesce(holder, 0) AS holder, line, kind, name, coalesce(receiver, '') AS receiver, family
FROM site ORDER BY id
"""
_EDGES = "SELECT site - 1 AS site, node, tier, choices FROM edge ORDER BY site, node"
_DEFINITIONS = """
SELECT d.id, d.qualname, f.path, d.kind, d.overload, d.start_line, d.canon
FROM graph.def d JOIN graph.file f ON f.id = d.file WHERE d.id IN ({ids})
"""


class Definition(NamedTuple):
    """What a site may mean, or stand in."""

    id: int
    qualname: str
    path: str
    kind: str
    overload: int
    start_line: int
    canon: int

    @property
    def key(self) -> SymbolKey:
        """Return its key."""
        return SymbolKey(self.path, self.qualname, self.kind, self.overload)


class Site(NamedTuple):
    """A call, type use or import as written, and what it was resolved to."""

    id: int
    path: str
    line: int
    reference: str
    name: str
    family: str
    receiver: str
    resolution: str
    holder: Definition
    """What it stands in."""
    meant: tuple[Definition, ...]
    """In order of their ids."""

    @property
    def is_certain(self) -> bool:
        """Return whether it means exactly one thing."""
        return self.resolution != "ambiguous"


class _Words:
    """A column of texts, of which many are equal, as numbers."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.numbers: dict[str, int] = {}
        numbers = self.numbers
        self.column = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), dtype=np.int32)
        self._texts = list(numbers)

    def of(self, position: int) -> str:
        """Return the text at a position."""
        return self._texts[int(self.column[position])]

    def among(self, texts: Iterable[str]) -> NDArray[np.bool_]:
        """Return which are among some texts."""
        return np.isin(self.column, [self.numbers[text] for text in texts if text in self.numbers])


class _Lookup:
    """Positions by value."""

    def __init__(self, values: Positions) -> None:
        self._order = np.argsort(values, kind="stable")
        self._values = values[self._order]

    def of(self, wanted: Collection[int]) -> Positions:
        """Return where some values are."""
        keys = np.fromiter(wanted, dtype=np.int64, count=len(wanted))
        begins, ends = (np.searchsorted(self._values, keys, side).tolist() for side in ("left", "right"))
        found = [self._order[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *found])


class CallSites:
    """The sites that a resolver has left in this thread's tables `site` and `edge`; thread-safe."""

    def __init__(self, view: SchemaView) -> None:
        self._paths = dict(view.rows("SELECT id, path FROM graph.file"))
        sites: Any = view.cursor.execute(_SITES).fetchnumpy()
        self._file, self._holder, self._line = (sites[name] for name in ("file", "holder", "line"))
        self._by_scope = _Lookup(sites["scope"])
        self._kinds, self._names = _Words(sites["kind"]), _Words(sites["name"])
        self._receivers, self._families = _Words(sites["receiver"]), _Words(sites["family"])
        edges: Any = view.cursor.execute(_EDGES).fetchnumpy()
        self._site, self._node = edges["site"], edges["node"]
        self._by_node = _Lookup(self._node)
        self._choices, self._tiers = edges["choices"].astype(np.int32), _Words(edges["tier"])

    def meaning(self, nodes: Collection[int]) -> Positions:
        """Return the sites that may mean some definitions."""
        return np.unique(self._site[self._by_node.of(nodes)])

    def within(self, scopes: Collection[int]) -> Positions:
        """Return the sites in some scopes."""
        found: Positions = np.sort(self._by_scope.of(scopes))
        return found

    def unknown(self, names: Iterable[tuple[str, str]]) -> Positions:
        """Return the sites with some names, each with its family, of which nothing is known."""
        named = np.zeros(len(self._file), dtype=bool)
        for name, family in names:
            named |= self._names.among([name]) & self._families.among([family])
        found = np.flatnonzero(named)
        is_known = np.searchsorted(self._site, found, "left") < np.searchsorted(self._site, found, "right")
        unknown: Positions = found[~is_known]
        return unknown

    def read(self, view: SchemaView, positions: Positions, kinds: Sequence[str]) -> list[Site]:
        """Return the sites of some kinds of reference among these, by path and line."""
        wanted = self._kinds.among(kinds)
        at = positions[wanted[positions]]
        begins, ends = (np.searchsorted(self._site, at, side).tolist() for side in ("left", "right"))
        nodes = [self._node[begin:end].tolist() for begin, end in zip(begins, ends, strict=True)]
        holders = self._holder[at].tolist()
        ids = ", ".join(map(str, {*holders, *(node for some in nodes for node in some)}))
        known = {row[0]: Definition(*row) for row in view.rows(_DEFINITIONS.replace("{ids}", ids))} if ids else {}
        found = []
        for position, begin, meant, holder in zip(at.tolist(), begins, nodes, holders, strict=True):
            file = int(self._file[position])
            module = Definition(0, "<module>", "", "module", 0, 0, -file)
            resolution = (
                "ambiguous" if meant and self._choices[begin] > 1 else self._tiers.of(begin) if meant else "unresolved"
            )
            found.append(
                Site(
                    position, self._paths[file], int(self._line[position]), self._kinds.of(position),
                    self._names.of(position), self._families.of(position), self._receivers.of(position), resolution,
                    known.get(holder, module), tuple(known[node] for node in meant if node in known),
                )
            )  # fmt: skip
        return sorted(found, key=lambda site: (site.path, site.line, site.id))
