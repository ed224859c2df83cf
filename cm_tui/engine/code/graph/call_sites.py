"""Definitions and resolved references in memory, in columns: a request reads them in a fraction of a query's time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.code.graph.derived_tables import SchemaView
from cm_tui.engine.code.parse.qualified_name import QualifiedName
from cm_tui.model import SymbolKey

Positions = NDArray[np.int64]

_SITES = """
SELECT file, scope, coalesce(holder, 0) AS holder, line, kind, name, coalesce(receiver, '') AS receiver, family
FROM site ORDER BY id
"""
_EDGES = "SELECT site - 1 AS site, node, tier, choices FROM edge ORDER BY site, node"
_DEFINITIONS = """
SELECT id, parent, canon, kind, name, qualname, overload, start_line, end_line FROM graph.def ORDER BY id
"""
IN_FILE = 1_000_000
"""A definition's id is that of its file times this, plus its number in the file."""


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


class Definitions:
    """The definitions of a set of tables, in order of their ids; thread-safe."""

    def __init__(self, view: SchemaView) -> None:
        files = view.rows("SELECT id, path, family FROM graph.file")
        self.paths = {id_: path for id_, path, _ in files}
        self._files = {path: id_ for id_, path, _ in files}
        self._families = {id_: family for id_, _, family in files}
        rows: Any = view.cursor.execute(view.sql(_DEFINITIONS)).fetchnumpy()
        self._ids, self._parents, self._canon, self._overloads = (
            rows[name] for name in ("id", "parent", "canon", "overload")
        )
        self._starts, self._ends, self._qualnames = (rows[name] for name in ("start_line", "end_line", "qualname"))
        self._kinds, self._names = _Words(rows["kind"]), _Words(rows["name"])
        self._by_canon = _Lookup(self._canon)

    def of(self, ids: Iterable[int]) -> dict[int, Definition]:
        """Return definitions by id; unknown ids are skipped."""
        return {(found := self._definition(at)).id: found for at in self._at(ids)}

    def ids_of(self, key: SymbolKey) -> set[int]:
        """Return the id of a symbol's group of overloads; empty: unknown key."""
        within = self._within(self._files.get(key.path, 0))
        wanted = (self._qualnames[within] == key.qualname) & (self._overloads[within] == key.overload)
        at = within.start + np.flatnonzero(wanted)
        return {int(self._canon[one]) for one in at.tolist() if self._kinds.of(one) == key.kind}

    def ids_named(self, wanted: QualifiedName) -> set[int]:
        """Return the ids of the groups of overloads that a name or the end of a qualified one means."""
        named = self._names.among(wanted.ends) | (self._qualnames == wanted.text)
        found = np.flatnonzero(named).tolist()
        return {int(self._canon[at]) for at in found if wanted.fits(self._qualnames[at], self._kinds.of(at))}

    def names_of(self, groups: Collection[int]) -> set[tuple[str, str]]:
        """Return the names of groups of overloads, each with its family."""
        at = self._by_canon.of(groups).tolist()
        return {(self._names.of(one), self._families[int(self._ids[one]) // IN_FILE]) for one in at}

    def enclosed(self, groups: Collection[int]) -> set[int]:
        """Return the ids of all that is within groups of overloads, themselves included."""
        found: set[int] = set()
        for at in self._by_canon.of(groups).tolist():
            within = self._within(int(self._ids[at]) // IN_FILE)
            is_inside = (self._starts[within] >= self._starts[at]) & (self._ends[within] <= self._ends[at])
            found |= set(self._ids[within][is_inside].tolist())
        return found

    def constructed(self, ids: Iterable[int]) -> set[int]:
        """Return the classes whose constructors are among some definitions, where a constructor bears the class's name."""
        made = [at for at in self._at(ids) if self._kinds.of(at) == "constructor"]
        pairs = [(at, around) for at in made for around in self._at([int(self._parents[at])])]
        return {int(self._canon[around]) for at, around in pairs if self._names.of(at) == self._names.of(around)}

    def _definition(self, at: int) -> Definition:
        id_, line, overload = (int(column[at]) for column in (self._ids, self._starts, self._overloads))
        path = self.paths[id_ // IN_FILE]
        return Definition(id_, self._qualnames[at], path, self._kinds.of(at), overload, line, int(self._canon[at]))

    def _at(self, ids: Iterable[int]) -> list[int]:
        wanted = np.array(sorted(ids), dtype=np.int64)
        found = np.searchsorted(self._ids, wanted)
        is_there = self._ids.take(found, mode="clip") == wanted if len(self._ids) else np.zeros(len(wanted), bool)
        at: list[int] = found[is_there].tolist()
        return at

    def _within(self, file: int) -> slice:
        return slice(*np.searchsorted(self._ids, (file * IN_FILE, (file + 1) * IN_FILE)).tolist())


class CallSites:
    """The sites that a resolver has left in this thread's tables `site` and `edge`; thread-safe."""

    def __init__(self, view: SchemaView, definitions: Definitions) -> None:
        self._definitions = definitions
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

    def read(self, positions: Positions, kinds: Sequence[str]) -> list[Site]:
        """Return the sites of some kinds of reference among these, by path and line."""
        wanted = self._kinds.among(kinds)
        at = positions[wanted[positions]]
        begins, ends = (np.searchsorted(self._site, at, side).tolist() for side in ("left", "right"))
        nodes = [self._node[begin:end].tolist() for begin, end in zip(begins, ends, strict=True)]
        holders = self._holder[at].tolist()
        known = self._definitions.of({*holders, *(node for some in nodes for node in some)})
        found = []
        for position, begin, meant, holder in zip(at.tolist(), begins, nodes, holders, strict=True):
            file = int(self._file[position])
            module = Definition(0, "<module>", "", "module", 0, 0, -file)
            resolution = (
                "ambiguous" if meant and self._choices[begin] > 1 else self._tiers.of(begin) if meant else "unresolved"
            )
            found.append(
                Site(
                    position, self._definitions.paths[file], int(self._line[position]), self._kinds.of(position),
                    self._names.of(position), self._families.of(position), self._receivers.of(position), resolution,
                    known.get(holder, module), tuple(known[node] for node in meant if node in known),
                )
            )  # fmt: skip
        return sorted(found, key=lambda site: (site.path, site.line, site.id))
