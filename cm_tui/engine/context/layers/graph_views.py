"""Named views of the knowledge graph: calls, imports, files changed together, and pipelines' extracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cm_tui.counts import count
from cm_tui.engine.context.definitions.lint import wrong_view
from cm_tui.engine.context.layers import cypher
from cm_tui.engine.context.layers.ports import Item, MemoryPorts
from cm_tui.engine.memory.projection.ingested import KnowledgeGraph
from cm_tui.errors import UsageError
from cm_tui.model import Edge, ImportEdge, Symbol

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
