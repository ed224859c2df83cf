"""Layers of the code: files and symbols by reference, and named views of the knowledge graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from cm_tui.counts import count
from cm_tui.engine.context.definitions.lint import wrong_view
from cm_tui.engine.context.layers import cypher
from cm_tui.engine.context.layers.ports import Item, MemoryPorts, Reading, Reference
from cm_tui.engine.context.packs.clean_source import clean_source
from cm_tui.engine.memory.projection.ingested import KnowledgeGraph
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Edge, ImportEdge, Symbol
from cm_tui.model.text import fenced_source

# --- files and symbols of the project, by reference ---

_LINES = re.compile(r"L?(\d{1,9})(?:-L?(\d{1,9}))?")
_MOST = 3
"""Definitions of one name that are shown."""


def file(ports: MemoryPorts, reference: Reference) -> Reading:
    """Return lines of a file; `#L10-L20` selects them.

    Raises:
        UsageError: the lines are invalid.
        NotFoundError: there is no such file.
        CmError: it is outside the project, or cannot be read.
    """
    start, end = lines_of(reference.fragment)
    found = clean_source(ports.source, reference.path, start, end)
    item = {"text": fenced_source(found.text.rstrip("\n")), "path": reference.path, "line": start}
    where = f"{reference.path}:{start}-{end}" if end else reference.path
    return Reading((item,), where)


def lines_of(fragment: str) -> tuple[int, int | None]:
    """Return the first and the last line that a fragment names; all where it is empty.

    Raises:
        UsageError: it names none.
    """
    if not fragment:
        return 1, None
    found = _LINES.fullmatch(fragment)
    if found is None or int(found[1]) < 1 or (found[2] and int(found[2]) < int(found[1])):
        raise UsageError(f"Not a line range: #{fragment[:40]}.", hint="Examples: #L10, #L10-L20.")
    return int(found[1]), int(found[2] or found[1])


def symbol(ports: MemoryPorts, reference: Reference) -> Reading:
    """Return the whole source of a symbol; of an ambiguous name, the first three.

    Raises:
        NotFoundError: no such symbol.
        CmError: it cannot be read.
    """
    path, separator, name = reference.path.rpartition("::")
    found = [one for one in ports.definitions(name).rows if not separator or one.path == path]
    if not found:
        known = {one.name for one in ports.symbols(limit=5_000).rows}
        near = get_close_matches(name.rpartition(".")[2], known, 1)
        raise NotFoundError(
            f"Symbol not found: {reference.path[:80]!r}.", hint=f"Did you mean {near[0]}?" if near else ""
        )
    items = tuple(_source(ports, one) for one in found[:_MOST])
    notes = (f"{count(len(found), 'symbol')} of this name; the first {_MOST} are shown.",) if len(found) > _MOST else ()
    return Reading(items, f"{found[0].kind} {found[0].qualname}", notes=notes)


def _source(ports: MemoryPorts, one: Symbol) -> dict[str, object]:
    part = clean_source(ports.source, one.path, one.start_line, one.end_line)
    head = f"{one.path}:{one.start_line}-{one.end_line} {one.kind} {one.qualname}"
    text = fenced_source(part.text.rstrip("\n"))
    return {"text": f"{head}\n{text}", "path": one.path, "name": one.qualname, "line": one.start_line}


# --- named views of the knowledge graph: calls, imports, files changed together, and pipelines' extracts ---

MOST = 50
"""Default number of rows of a view."""
_LEAST_TOGETHER = 2


class GraphViews:
    """The views of one project.

    Args:
        ports: the engine.
        knowledge: what pipelines extracted.
    """

    def __init__(self, ports: MemoryPorts, knowledge: KnowledgeGraph) -> None:
        self._ports = ports
        self._knowledge = knowledge
        self._views: Mapping[str, Callable[[Mapping[str, str]], Iterable[Item]]] = {
            "callers": self._callers,
            "callees": self._callees,
            "neighbours": lambda params: [*self._callers(params), *self._callees(params)],
            "symbols": self._symbols,
            "dependencies": self._dependencies,
            "dependents": self._importers,
            "importers": self._importers,
            "cochange": self._cochange,
            "entities": self._entities,
            "relations": self._relations,
            "cypher": lambda params: cypher.run(self._ports, self._knowledge, params["query"]),
        }

    def read(self, view: str, params: Mapping[str, str], limit: int = MOST) -> list[Item]:
        """Return the rows of a view.

        Raises:
            UsageError: there is no such view, or a parameter is wrong.
            CmError: it cannot be read.
        """
        message, hint = wrong_view(view, params)
        if message:
            raise UsageError(f"{message[0].upper()}{message[1:]}.", hint=hint)
        return list(self._views[view](params))[:limit]

    def _callers(self, params: Mapping[str, str]) -> Iterable[Item]:
        for edge in self._ports.callers(params["name"]).rows:
            yield _edge(edge, f"{edge.qualname or edge.path} calls {edge.target or params['name']}", edge.site)

    def _callees(self, params: Mapping[str, str]) -> Iterable[Item]:
        for edge in self._ports.callees(params["name"]).rows:
            yield _edge(edge, f"{edge.target or params['name']} calls {edge.qualname}", edge.path or edge.site)

    def _symbols(self, params: Mapping[str, str]) -> Iterable[Item]:
        for one in self._ports.symbols(file=params["path"], limit=1000).rows:
            yield symbol_item(one)

    def _dependencies(self, params: Mapping[str, str]) -> Iterable[Item]:
        return (_import(one, one.target or one.path) for one in self._ports.dependencies(params["path"]).rows)

    def _importers(self, params: Mapping[str, str]) -> Iterable[Item]:
        return (_import(one, one.path) for one in self._ports.importers(params["path"]).rows)

    def _cochange(self, params: Mapping[str, str]) -> Iterable[Item]:
        for path, together, alone in self._ports.changed_together(params["path"], MOST):
            if together >= _LEAST_TOGETHER:
                times = f"{count(together, 'commit')}, of {alone:,} that changed it"
                text = f"{path} changed with {params['path']} in {times}"
                yield {"text": text, "path": path, "together": together, "score": together / max(alone, together)}

    def _entities(self, params: Mapping[str, str]) -> Iterable[Item]:
        for one in self._knowledge.entities(params.get("type", "")):
            yield {"text": f"{one.name} ({one.type})" if one.type else one.name, "name": one.name, "type": one.type}

    def _relations(self, params: Mapping[str, str]) -> Iterable[Item]:
        for one in self._knowledge.relations(params.get("entity", ""), params.get("type", "")):
            text = f"{one.source} {one.type} {one.target}"
            yield {"text": text, "from": one.source, "type": one.type, "to": one.target}


def _import(one: ImportEdge, path: str) -> Item:
    text = f"{one.path}:{one.line} imports {one.target or one.module}"
    return {"text": text, "path": path, "module": one.module, "line": one.line}


def _edge(edge: Edge, text: str, path: str) -> Item:
    return {
        "text": f"{edge.site}:{edge.line} {text}", "path": path, "name": edge.qualname, "kind": edge.kind,
        "line": edge.line, "resolution": edge.resolution,
    }  # fmt: skip


def symbol_item(one: Symbol) -> Item:
    """Return a symbol as an item."""
    return {
        "text": f"{one.path}:{one.start_line} {one.kind} {one.signature or one.qualname}", "path": one.path,
        "name": one.qualname, "kind": one.kind, "line": one.start_line, "signature": one.signature,
    }  # fmt: skip
