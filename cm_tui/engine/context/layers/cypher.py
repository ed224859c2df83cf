"""Cypher over the project's graph, by the optional package `ladybug`: read only, in memory, bounded.

The graph has `File {path}`, `Symbol {id, name, kind, path, line}` and `Entity {name, type}`; `DEFINES` from a file to its
symbols, `IMPORTS` between files, `CALLS` between symbols, `RELATES {type}` between entities. Files and imports are
those of the project. Calls are resolved on demand, so the graph has those up to three steps around each symbol that the
query names in quotes, in both directions, as far as they are resolved within 0.8 s.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterable, Sequence
from typing import Any

from cm_tui.engine.context.layers.ports import Item, MemoryPorts
from cm_tui.engine.memory.projection.ingested import KnowledgeGraph
from cm_tui.errors import UsageError
from cm_tui.model import Symbol

MOST_ROWS = 200
TIMEOUT_MS = 1_500
_MOST_SYMBOLS = 20_000
_DEPTH = 3
_WALK_S = 0.8
"""Time limit for resolving calls; further ones are not in the graph."""
_LONGEST = 4_000
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_APART = re.compile(r"//[^\n]*|/\*.*?\*/|`[^`]*`", re.DOTALL)
_FIRST = frozenset({"MATCH", "OPTIONAL", "RETURN", "UNWIND", "WITH"})
_NEVER = frozenset({
    "ALTER", "ATTACH", "BEGIN", "CALL", "CHECKPOINT", "COMMIT", "COPY", "CREATE", "DELETE", "DETACH", "DROP", "EXPORT",
    "EXTENSION", "IMPORT", "INSTALL", "LOAD", "MERGE", "PROFILE", "REMOVE", "ROLLBACK", "SET", "UNINSTALL", "UPDATE", "USE",
})  # fmt: skip
"""Words of statements that write, or access files, extensions or other databases."""
_SCHEMA = (
    "CREATE NODE TABLE File(path STRING PRIMARY KEY)",
    "CREATE NODE TABLE Symbol(id STRING PRIMARY KEY, name STRING, kind STRING, path STRING, line INT64)",
    "CREATE NODE TABLE Entity(name STRING PRIMARY KEY, type STRING)",
    "CREATE REL TABLE DEFINES(FROM File TO Symbol)",
    "CREATE REL TABLE IMPORTS(FROM File TO File)",
    "CREATE REL TABLE CALLS(FROM Symbol TO Symbol)",
    "CREATE REL TABLE RELATES(FROM Entity TO Entity, type STRING)",
)


def run(ports: MemoryPorts, knowledge: KnowledgeGraph, query: str) -> list[Item]:
    """Return the rows of a query, at most two hundred.

    Raises:
        UsageError: the package is missing, or the query is invalid, writes, or takes too long.
    """
    names = checked(query)
    try:
        ladybug: Any = importlib.import_module("ladybug")
    except ImportError as error:
        raise UsageError(
            "Cypher needs the package ladybug, which is not installed.",
            hint="Install it: pip install 'cm-tui[graph]'. The named views work without it.",
        ) from error
    database = ladybug.Database(buffer_pool_size=128 << 20, max_num_threads=2)
    connection = ladybug.Connection(database, num_threads=2)
    try:
        _Filling(connection).fill(ports, knowledge, names)
        connection.set_query_timeout(TIMEOUT_MS)
        return _rows(connection.execute(query))
    except RuntimeError as error:
        first = next(iter(str(error).splitlines()), "it failed")[:300]
        raise UsageError(f"The Cypher query failed: {first}", hint="See the guide to definitions.") from error
    finally:
        connection.close()
        database.close()


def checked(query: str) -> list[str]:
    """Return the quoted texts of a query.

    Raises:
        UsageError: it is not a read-only query of the graph.
    """
    if len(query) > _LONGEST:
        raise UsageError(f"A query has at most {_LONGEST:,} characters.")
    quoted = [found[1] or found[2] or "" for found in _QUOTED.finditer(query)]
    words = re.findall(r"[A-Za-z_]+", _APART.sub(" ", _QUOTED.sub(" ", query)).upper())
    if not words or words[0] not in _FIRST:
        raise UsageError("A query must begin with MATCH, OPTIONAL MATCH, WITH, UNWIND or RETURN.")
    if wrong := next((word for word in words if word in _NEVER), None):
        raise UsageError(f"A query can only read: {wrong} is not allowed.")
    if ";" in _QUOTED.sub(" ", query).rstrip().rstrip(";"):
        raise UsageError("A query must be one statement.")
    return quoted


class _Filling:
    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._symbols: set[str] = set()

    def fill(self, ports: MemoryPorts, knowledge: KnowledgeGraph, names: Sequence[str]) -> None:
        for statement in _SCHEMA:
            self._connection.execute(statement)
        symbols = ports.symbols(limit=_MOST_SYMBOLS).rows
        files = sorted({one.path for one in symbols})
        self._many("UNWIND $rows AS r CREATE (:File {path: r})", files)
        self._nodes(symbols)
        by_name: dict[str, list[Symbol]] = {}
        for one in symbols:
            by_name.setdefault(one.name, []).append(one)
        self._imports(ports, files, names)
        self._calls(ports, [one for name in names for one in by_name.get(name.rpartition(".")[2], ())])
        self._entities(knowledge)

    def _nodes(self, symbols: Sequence[Symbol]) -> None:
        rows = {
            _id(one.path, one.qualname): {
                "id": _id(one.path, one.qualname), "name": one.qualname, "kind": one.kind, "path": one.path,
                "line": one.start_line,
            }
            for one in symbols
        }  # fmt: skip
        self._symbols = set(rows)
        create = "CREATE (f)-[:DEFINES]->(:Symbol {id: r.id, name: r.name, kind: r.kind, path: r.path, line: r.line})"
        self._many(f"UNWIND $rows AS r MATCH (f:File {{path: r.path}}) {create}", list(rows.values()))

    def _imports(self, ports: MemoryPorts, files: Sequence[str], names: Sequence[str]) -> None:
        known = set(files)
        asked = [path for path in files if path in names] or (files if len(files) <= 500 else [])
        edges = {
            (one.path, one.target) for path in asked for one in ports.dependencies(path).rows if one.target in known
        } | {
            (one.path, path)
            for path in asked
            if path in names
            for one in ports.importers(path).rows
            if one.path in known
        }
        rows = [{"a": one, "b": other} for one, other in sorted(edges)]
        self._many(
            "UNWIND $rows AS r MATCH (a:File {path: r.a}), (b:File {path: r.b}) CREATE (a)-[:IMPORTS]->(b)", rows
        )

    def _calls(self, ports: MemoryPorts, around: Sequence[Symbol]) -> None:
        edges: set[tuple[str, str]] = set()
        waiting = [(one.path, one.qualname, 0) for one in around]
        seen = {(path, name) for path, name, _ in waiting}
        until = time.monotonic() + _WALK_S
        while waiting and len(edges) < MOST_ROWS * 10 and time.monotonic() < until:
            path, name, depth = waiting.pop(0)
            for edge in ports.callers(name).rows:
                edges.add((_id(edge.path, edge.qualname), _id(edge.target_path or path, edge.target or name)))
                _add(waiting, seen, edge.path, edge.qualname, depth)
            for edge in ports.callees(name).rows:
                edges.add((_id(edge.target_path or path, edge.target or name), _id(edge.path, edge.qualname)))
                _add(waiting, seen, edge.path, edge.qualname, depth)
        rows = [{"a": one, "b": other} for one, other in sorted(edges) if {one, other} <= self._symbols]
        self._many("UNWIND $rows AS r MATCH (a:Symbol {id: r.a}), (b:Symbol {id: r.b}) CREATE (a)-[:CALLS]->(b)", rows)

    def _entities(self, knowledge: KnowledgeGraph) -> None:
        entities = {one.name: one.type for one in knowledge.entities()}
        relations = [one for one in knowledge.relations() if one.source in entities and one.target in entities]
        rows = [{"name": name, "type": kind} for name, kind in entities.items()]
        self._many("UNWIND $rows AS r CREATE (:Entity {name: r.name, type: r.type})", rows)
        relates = [{"a": one.source, "b": one.target, "t": one.type} for one in relations]
        match = "MATCH (a:Entity {name: r.a}), (b:Entity {name: r.b})"
        self._many(f"UNWIND $rows AS r {match} CREATE (a)-[:RELATES {{type: r.t}}]->(b)", relates)

    def _many(self, statement: str, rows: Sequence[Any]) -> None:
        if rows:
            self._connection.execute(statement, {"rows": list(rows)})


def _add(waiting: list[tuple[str, str, int]], seen: set[tuple[str, str]], path: str, name: str, depth: int) -> None:
    if path and name and (path, name) not in seen and depth + 1 < _DEPTH:
        seen.add((path, name))
        waiting.append((path, name, depth + 1))


def _id(path: str, name: str) -> str:
    return f"{path}::{name}"


def _rows(found: Any) -> list[Item]:
    columns: Iterable[str] = found.get_column_names()
    names = list(columns)
    items: list[Item] = []
    while found.has_next() and len(items) < MOST_ROWS:
        row = dict(zip(names, found.get_next(), strict=True))
        text = ", ".join(f"{name}: {value}" for name, value in row.items())
        items.append({**row, "text": text})
    return items
