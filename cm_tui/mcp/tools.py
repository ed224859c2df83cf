"""The tools, with what a client may know of each, in sets: an agent gets no more than it needs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ConfigDict

from cm_tui.errors import UsageError
from cm_tui.mcp import assembly_tools, graph_tools, index_tools, memory_tools, narrator_tools, retrieval_tools


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: what it is called, what does it, and which sets it is in."""

    name: str
    title: str
    function: Callable[..., Any]
    sets: frozenset[str]
    reads: bool = True

    @functools.cache  # noqa: B019 - they are constants; their schemas take longer to make than all else of a server
    def tool(self) -> Tool:
        """The tool as the SDK registers it, with lean and strict schemas."""
        annotations = ToolAnnotations(
            read_only_hint=self.reads, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
        doc = " ".join((self.function.__doc__ or "").split())
        tool = Tool.from_function(self.function, self.name, self.title, doc, annotations=annotations)
        model = tool.fn_metadata.arg_model
        # An argument that is misspelt must not be ignored in silence.
        model.model_config = ConfigDict(**{**model.model_config, "extra": "forbid"})
        model.model_rebuild(force=True)
        tool.parameters = lean(model.model_json_schema(by_alias=True))
        output = tool.fn_metadata.output_schema
        tool.fn_metadata.output_schema = lean(output, ("description", "default")) if output is not None else None
        return tool


def _kind(name: str, title: str, function: Callable[..., Any], sets: str, *, reads: bool = True) -> ToolSpec:
    return ToolSpec(name, title, function, frozenset(sets.split()), reads)


TOOLS = (
    _kind("codememory_retrieve", "Find code", retrieval_tools.retrieve, "core"),
    _kind("context_assemble", "Context for a task", assembly_tools.assemble, "core"),
    _kind("codememory_definitions", "Definitions", graph_tools.definitions, "core graph"),
    _kind("codememory_callers", "Callers", graph_tools.callers, "core graph"),
    _kind("codememory_callees", "Callees", graph_tools.callees, "graph"),
    _kind("codememory_dependencies", "Imports of a file", graph_tools.dependencies, "graph"),
    _kind("codememory_importers", "Importers", graph_tools.importers, "graph"),
    _kind("codememory_assembly_members", "Members of a .NET type", graph_tools.assembly_members, "graph"),
    _kind("codememory_ingest", "Index the project", index_tools.ingest, "core", reads=False),
    _kind("codememory_reingest", "Index files again", index_tools.reingest, "core", reads=False),
    _kind("codememory_drift", "Drift", index_tools.drift, "temporal"),
    _kind("codememory_at_sha", "Code at a commit", index_tools.at_sha, "temporal"),
    _kind("codememory_callers_at_sha", "Callers at a commit", index_tools.callers_at_sha, "temporal"),
    _kind("recall", "Recall", memory_tools.recall, "core memory"),
    _kind("remember", "Remember", memory_tools.remember, "core memory", reads=False),
    _kind("forget", "Forget", memory_tools.forget, "memory", reads=False),
    _kind("manage_core_memory", "Entries", memory_tools.manage_core_memory, "memory", reads=False),
    _kind("codememory_record", "Record a task", memory_tools.record, "memory", reads=False),
    _kind("memory_search", "Search memory", retrieval_tools.search, "memory"),
    _kind("memory_get", "Read memory", retrieval_tools.get, "memory"),
    _kind("working_memory", "Working memory", assembly_tools.working_memory, "memory", reads=False),
    _kind("codememory_proposals", "Proposals", narrator_tools.proposals, "memory"),
    _kind("codememory_propose", "Propose", narrator_tools.propose, "memory", reads=False),
)

SETS = ("core", "graph", "temporal", "memory", "all")

DEFAULT_SET = "core"
"""What an agent needs in any project, for few tokens."""


def choose(words: Collection[str]) -> tuple[ToolSpec, ...]:
    """The tools of the sets, or single tools by their names, in the order of the list.

    Raises UsageError if there is no set and no tool of that name, or nothing is named.
    """
    names = {kind.name for kind in TOOLS}
    unknown = sorted(set(words) - {*SETS, *names})
    if unknown or not words:
        what = f"Unknown set of tools: {', '.join(unknown)}." if unknown else "No tools given."
        raise UsageError(what, hint=f"Use {', '.join(SETS)}, or the name of a tool.")
    return tuple(kind for kind in TOOLS if {"all"} & set(words) or {kind.name, *kind.sets} & set(words))


def lean(schema: Any, without: tuple[str, ...] = ()) -> Any:
    """A schema without what only costs tokens: titles, null where leaving out says the same, other words to drop."""
    if isinstance(schema, list):
        return [lean(item, without) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            result[key] = {name: lean(item, without) for name, item in value.items()}
        elif key in without or key == "title" or (key == "default" and value is None):
            continue
        elif key == "anyOf" and {"type": "null"} in value and len(value) == 2:
            result.update(lean(next(item for item in value if item != {"type": "null"}), without))
        else:
            result[key] = lean(value, without)
    return result
