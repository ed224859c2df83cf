"""`cm symbols`, `cm definitions`, `cm callers`, `cm callees`, `cm dependencies`, `cm importers`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from cm_tui.cli.options import At, Depth, Json, Project, ensure_history, open_fresh_engine
from cm_tui.cli.output import narrate, plain, print_page

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine
    from cm_tui.model import Edge, ImportEdge, Page, Symbol

T = TypeVar("T")
Name = Annotated[str, typer.Argument(help="A name, or any tail of a qualified one: run, App.run.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("symbols")(symbols)
    app.command("definitions")(definitions)
    app.command("callers")(callers)
    app.command("callees")(callees)
    app.command("dependencies")(dependencies)
    app.command("importers")(importers)


def symbols(
    file: Annotated[str | None, typer.Option("--file", help="Only those of this file.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="function, method, class, …")] = None,
    match: Annotated[str | None, typer.Option("--match", help="Fuzzy; best fit first.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many rows at most.")] = 1000,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List symbols by file, kind or fuzzy name."""
    with open_fresh_engine(project) as engine:
        page = engine.symbols(file=file, kind=kind, match=match, limit=limit)
    print_page(page, symbol_line, as_json=as_json, row=symbol_row)


def definitions(name: Name, at: At = None, project: Project = None, as_json: Json = False) -> None:
    """Show where a name is defined."""
    page = _asked(project, at, lambda engine: engine.definitions(name, at=at))
    print_page(page, symbol_line, as_json=as_json, row=symbol_row)


def callers(
    name: Name,
    depth: Depth = 1,
    at: At = None,
    unresolved: Annotated[
        bool, typer.Option("--unresolved", help="Instead, calls by that name that could not be resolved.")
    ] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show who calls a symbol: one row a call site, and how it was resolved."""
    page = _asked(project, at, lambda engine: engine.callers(name, depth=depth, at=at, unresolved=unresolved))
    print_page(page, _edge_line, as_json=as_json, more={"unresolved": page.unresolved})
    if page.unresolved and not unresolved:
        narrate("--unresolved lists those that could not be resolved")


def callees(name: Name, depth: Depth = 1, at: At = None, project: Project = None, as_json: Json = False) -> None:
    """Show what a symbol calls: one row a call site (`site` is the file of the call)."""
    page = _asked(project, at, lambda engine: engine.callees(name, depth=depth, at=at))
    print_page(page, _edge_line, as_json=as_json)


def dependencies(
    path: Annotated[str, typer.Argument(help="A file of the project.")],
    at: At = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show what a file imports."""
    page = _asked(project, at, lambda engine: engine.dependencies(path, at=at))
    print_page(page, _import_line, as_json=as_json)


def importers(
    target: Annotated[str, typer.Argument(help="A module as it is imported, or a file of the project.")],
    at: At = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show who imports a module or a file."""
    page = _asked(project, at, lambda engine: engine.importers(target, at=at))
    print_page(page, _import_line, as_json=as_json)


def _asked(project: Path | None, at: str | None, question: Callable[[Engine], Page[T]]) -> Page[T]:
    """Ask the engine; the history is read as far back first as a question about it needs."""
    with open_fresh_engine(project) as engine:
        if at is not None:
            ensure_history(engine, at)
        return question(engine)


def _edge_line(edge: Edge) -> str:
    candidates = _among(edge)
    steps = f"  depth {edge.depth}" if edge.depth > 1 else ""
    where = f"{edge.site}:{edge.line}"
    return f"{where}  {edge.kind} {edge.qualname}  {edge.reference}, {edge.resolution}{candidates}{steps}  {edge.text}"


def _among(edge: Edge) -> str:
    """What a call that is not resolved may mean: by name where it is one definition, else how many."""
    if len(edge.candidates) == 1:
        only = edge.candidates[0]
        return f" ({only.path} {only.qualname}, or not)"
    return f" among {len(edge.candidates)}" if edge.candidates else ""


def _import_line(edge: ImportEdge) -> str:
    return f"{edge.path}:{edge.line}  {edge.qualname} → {edge.target or 'outside the project'}"


def symbol_row(symbol: Symbol) -> dict[str, Any]:
    """Return a symbol as a row of JSON."""
    return {**plain(symbol), "line": symbol.line}


def symbol_line(symbol: Symbol) -> str:
    """Return a symbol as a line for people."""
    return f"{symbol.path}:{symbol.line}  {symbol.kind} {symbol.qualname}  {symbol.signature}"
