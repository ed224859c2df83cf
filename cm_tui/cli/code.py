"""`cm symbols`, `cm definitions`, `cm callers`, `cm callees`, `cm dependencies`, `cm importers`, `cm members`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from cm_tui import model
from cm_tui.cli.declare import Positive
from cm_tui.cli.options import At, Depth, Limit, ensure_history, open_fresh_engine
from cm_tui.cli.output import narrate, plain, print_page

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

T = TypeVar("T")
Name = Annotated[str, typer.Argument(help="A name, or any tail of a qualified one: run, App.run.")]


def symbols(
    *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: Positive = 1000
) -> None:
    """List symbols by file, kind or fuzzy name.

    Args:
        file: Only those of this file.
        kind: function, method, class, …
        match: Fuzzy; best fit first.
        limit (--limit, -n): How many rows at most.
    """
    with open_fresh_engine() as engine:
        page = engine.symbols(file=file, kind=kind, match=match, limit=limit)
    print_page(page, symbol_line, row=symbol_row)


def definitions(name: Name, *, at: At = None, limit: Limit = None) -> None:
    """Show where a name is defined."""
    page = _query(at, limit, lambda engine: engine.definitions(name, at=at))
    print_page(page, symbol_line, row=symbol_row)


def callers(name: Name, *, depth: Depth = 1, at: At = None, limit: Limit = None, unresolved: bool = False) -> None:
    """Show who calls a symbol: one row a call site, and how it was resolved.

    Args:
        unresolved: Instead, calls by that name that could not be resolved.
    """
    page = _query(at, limit, lambda engine: engine.callers(name, depth=depth, at=at, unresolved=unresolved))
    print_page(page, _edge_line, more={"unresolved": page.unresolved})
    if page.unresolved and not unresolved:
        narrate("--unresolved lists unresolved calls")


def callees(name: Name, *, depth: Depth = 1, at: At = None, limit: Limit = None) -> None:
    """Show what a symbol calls: one row a call site (`site` is the file of the call)."""
    page = _query(at, limit, lambda engine: engine.callees(name, depth=depth, at=at))
    print_page(page, _edge_line)


def dependencies(path: str, *, at: At = None, limit: Limit = None) -> None:
    """Show what a file imports.

    Args:
        path: A file of the project.
    """
    page = _query(at, limit, lambda engine: engine.dependencies(path, at=at))
    print_page(page, _import_line)


def importers(target: str, *, at: At = None, limit: Limit = None) -> None:
    """Show who imports a module or a file.

    Args:
        target: A module as it is imported, or a file of the project.
    """
    page = _query(at, limit, lambda engine: engine.importers(target, at=at))
    print_page(page, _import_line)


def members(type_name: str, *, limit: Limit = None) -> None:
    """Show the members of a .NET type that referenced assemblies define.

    Args:
        type_name: A name, or any tail of a qualified one: JsonConvert, Newtonsoft.Json.JsonConvert.
    """
    page = _query(None, limit, lambda engine: engine.assembly_members(type_name))
    print_page(page, lambda symbol: f"{symbol.kind} {symbol.signature}", row=symbol_row)


def _query(at: str | None, limit: int | None, question: Callable[[Engine], model.Page[T]]) -> model.Page[T]:
    """Ask the engine, and return the first rows; the history is read as far back first as the question needs."""
    with open_fresh_engine() as engine:
        if at is not None:
            ensure_history(engine, at)
        page = question(engine)
    return replace(page, rows=page.rows[:limit])


def _edge_line(edge: model.Edge) -> str:
    candidates = _among(edge)
    steps = f"  depth {edge.depth}" if edge.depth > 1 else ""
    where = f"{edge.site}:{edge.line}"
    return f"{where}  {edge.kind} {edge.qualname}  {edge.reference}, {edge.resolution}{candidates}{steps}  {edge.text}"


def _among(edge: model.Edge) -> str:
    """What a call that is not resolved may mean: by name where it is one definition, else how many."""
    if len(edge.candidates) == 1:
        only = edge.candidates[0]
        return f" ({only.path} {only.qualname}, or not)"
    return f" among {len(edge.candidates)}" if edge.candidates else ""


def _import_line(edge: model.ImportEdge) -> str:
    return f"{edge.path}:{edge.line}  {edge.qualname} → {edge.target or 'outside the project'}"


def symbol_row(symbol: model.Symbol) -> dict[str, Any]:
    """Return a symbol as a row of JSON."""
    return {**plain(symbol), "line": symbol.line}


def symbol_line(symbol: model.Symbol) -> str:
    """Return a symbol as a line for people."""
    return f"{symbol.path}:{symbol.line}  {symbol.kind} {symbol.qualname}  {symbol.signature}"
