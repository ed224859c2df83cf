"""Tools that follow the graph: definitions, calls and imports."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from cm_tui.mcp import records
from cm_tui.mcp.project_resolver import ProjectPath, Text, Where
from cm_tui.mcp.retrieval_tools import PathArgument
from cm_tui.mcp.safe_text import MaxChars, Offset, View, joined, listed, record_of, short
from cm_tui.model import Edge, ImportEdge, Symbol

Name = Annotated[
    str, Field(min_length=1, max_length=500, description="Name, or any tail of a qualified one: Cart.total."), Text
]
Depth = Annotated[int, Field(ge=1, le=3, description="Maximum call depth.")]
Limit = Annotated[int, Field(ge=1, le=500)]
Unresolved = Annotated[bool, Field(description="Instead: unresolved calls of that name.")]


def definitions(
    symbol: Name, where: Where, limit: Limit = 50, offset: Offset = 0, max_chars: MaxChars = 8000,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Symbols]:  # fmt: skip
    """Where a name is defined: path:start-end, kind, signature. Distinguishes symbols of the same name."""
    return listed(DEFINITIONS, where.indexed().definitions(symbol), limit, offset, max_chars)


def callers(
    symbol: Name, where: Where, depth: Depth = 1, limit: Limit = 50, offset: Offset = 0, max_chars: MaxChars = 8000,
    unresolved: Unresolved = False, project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Calls]:  # fmt: skip
    """Who calls a symbol: each call site with its line and how it was resolved. What breaks if it changes?

    Ambiguous calls are listed as such, never guessed; unresolved ones are counted.
    """
    page = where.indexed().callers(symbol, depth=depth, unresolved=unresolved)
    return listed(CALLERS, page, limit, offset, max_chars, more={"unresolved": page.unresolved})


def callees(
    symbol: Name, where: Where, depth: Depth = 1, limit: Limit = 50, offset: Offset = 0, max_chars: MaxChars = 8000,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Calls]:  # fmt: skip
    """What a symbol calls: each call with its line and the definition that it reaches."""
    return listed(CALLEES, where.indexed().callees(symbol, depth=depth), limit, offset, max_chars)


def dependencies(
    path: PathArgument, where: Where, limit: Limit = 100, offset: Offset = 0, max_chars: MaxChars = 8000,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Imports]:  # fmt: skip
    """What a file imports, and which file of the project each import brings in."""
    return listed(IMPORTS, where.indexed().dependencies(path), limit, offset, max_chars)


def importers(
    target: Annotated[str, Field(min_length=1, max_length=4096, description="Module, package or file."), Text],
    where: Where, limit: Limit = 100, offset: Offset = 0, max_chars: MaxChars = 8000, project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Imports]:  # fmt: skip
    """Which files import a module, a package or a file."""
    return listed(IMPORTS, where.indexed().importers(target), limit, offset, max_chars)


def assembly_members(
    type_name: Annotated[str, Field(min_length=1, max_length=500, description="Name, or any tail of a qualified one."), Text],
    where: Where, limit: Limit = 100, offset: Offset = 0, max_chars: MaxChars = 8000, project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Symbols]:  # fmt: skip
    """Members of a .NET type that a referenced assembly defines (package, framework): kind and signature."""
    return listed(MEMBERS, where.indexed().assembly_members(type_name), limit, offset, max_chars)


# --- rows ---


def symbol_line(symbol: Symbol) -> str:
    """`path:start-end kind qualname signature`."""
    place = f"{symbol.path}:{symbol.start_line}-{symbol.end_line}"
    return joined(place, symbol.kind, symbol.qualname, short(symbol.signature), between=" ")


def symbol_row(symbol: Symbol) -> records.SymbolRow:
    """A definition as it is returned."""
    return record_of(records.SymbolRow, symbol, signature=short(symbol.signature), doc=short(symbol.doc) or None)


def caller_line(edge: Edge) -> str:
    """Where the call stands, who makes it, and its line of source."""
    return f"{_place(edge)} {edge.kind} {edge.qualname or '(module)'}{_reached(edge)}: {short(edge.text)}"


def callee_line(edge: Edge) -> str:
    """Where the call stands, what it reaches, and its line of source."""
    target = f" ({edge.path}:{edge.start_line})" if edge.path else " (outside the project)"
    target = "" if edge.candidates else target
    return f"{_place(edge)} → {edge.kind} {edge.qualname}{target}{_reached(edge)}: {short(edge.text)}"


def _place(edge: Edge) -> str:
    return f"{edge.site}:{edge.line}"


def _reached(edge: Edge) -> str:
    steps = f", step {edge.depth} via {edge.target}" if edge.depth > 1 else ""
    named = ", ".join(_candidates(edge))
    among = f" among {named}" if len(edge.candidates) > 1 else f": {named}, or not" if named else ""
    return f" [{edge.resolution}{among}{steps}]"


def _candidates(edge: Edge) -> list[str]:
    named = [f"{key.path} {key.qualname}" for key in edge.candidates[:4]]
    return [*named, f"{len(edge.candidates) - 4} more"] if len(edge.candidates) > 4 else named


def call_row(edge: Edge) -> records.Call:
    """A call as it is returned."""
    candidates = [records.Candidate(path=key.path, qualname=key.qualname) for key in edge.candidates[:20]]
    return record_of(
        records.Call, edge, text=short(edge.text), path=edge.path or None, candidates=candidates or None,
        via=edge.target if edge.depth > 1 else None,
    )  # fmt: skip


def import_line(edge: ImportEdge) -> str:
    """`path:line name → file`."""
    alias = f" as {edge.alias}" if edge.alias else ""
    return f"{edge.path}:{edge.line} {edge.qualname}{alias} → {edge.target or 'outside the project'}"


def import_row(edge: ImportEdge) -> records.Import:
    """An import as it is returned."""
    return records.Import(path=edge.path, line=edge.line, name=edge.qualname, target=edge.target)


DEFINITIONS = View("definition", symbol_line, symbol_row, records.Symbols)
MEMBERS = View("member", lambda symbol: f"{symbol.kind} {short(symbol.signature)}", symbol_row, records.Symbols)
CALLERS = View("call", caller_line, call_row, records.Calls)
CALLEES = View("call", callee_line, call_row, records.Calls)
IMPORTS = View("import", import_line, import_row, records.Imports)
