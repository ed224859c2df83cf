"""Resources: the project at a glance, files with lines, and symbols."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import MCPServer, ResourceSecurity
from pydantic import Field

from cm_tui.counts import count
from cm_tui.engine.api.clean_source import clean_source
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import NotFoundError
from cm_tui.mcp.graph_tools import caller_line, symbol_line
from cm_tui.mcp.project_resolver import ProjectResolver, Request, Text, notes_on_index, projects_of
from cm_tui.mcp.retrieval_tools import read_lines
from cm_tui.mcp.safe_text import clean, joined
from cm_tui.model import ProjectStatus

OVERVIEW = "cm://project"
OVERVIEW_OF = "cm://project{?project}"
FILE = "cm://file/{+path}{?start,end,project}"
SYMBOL = "cm://symbol/{+qualname}{?project}"

# Which paths a project may read is the engine's to say: it refuses what leads outside, and takes absolute paths within.
_OWN_CHECKS = ResourceSecurity(exempt_params=frozenset({"project", "path", "qualname"}))

Line = Annotated[int, Field(ge=1)]
Given = Annotated[str, Field(min_length=1, max_length=4096), Text]


def register(server: MCPServer[ProjectResolver], projects: ProjectResolver) -> None:
    """Add every resource."""

    def default_overview() -> str:
        """The default project and its index at a glance."""
        return _overview(projects, None)

    server.resource(OVERVIEW, name="project", title="The project", mime_type="text/markdown")(default_overview)
    server.resource(OVERVIEW_OF, name="project_of", title="Another project", mime_type="text/markdown",
                    security=_OWN_CHECKS)(project_overview)  # fmt: skip
    server.resource(FILE, name="file", title="Lines of a file", security=_OWN_CHECKS)(file_lines)
    server.resource(SYMBOL, name="symbol", title="A symbol's source", mime_type="text/markdown",
                    security=_OWN_CHECKS)(symbol_source)  # fmt: skip


def project_overview(ctx: Request, project: Given | None = None) -> str:
    """A project and its index at a glance."""
    return _overview(projects_of(ctx), project)


def _overview(projects: ProjectResolver, project: str | None) -> str:
    engine = projects.engine(project)
    return clean(overview(engine, projects.indexed(engine)))


def file_lines(
    path: Given, ctx: Request, start: Line = 1, end: Line | None = None, project: Given | None = None
) -> str:
    """Lines of a file of the project, all of them when none are named."""
    projects = projects_of(ctx)
    engine = projects.engine(project)
    projects.indexed(engine)
    if end is not None and end < start:
        raise NotFoundError(f"There are no lines {start} to {end}.", hint="Give `end` at or after `start`.")
    return clean(clean_source(engine.source, path, start, end).text)


def symbol_source(qualname: Given, ctx: Request, project: Given | None = None) -> str:
    """Every definition of a name, with its source."""
    projects = projects_of(ctx)
    engine = projects.engine(project)
    projects.indexed(engine)
    return clean(symbol_text(engine, qualname))


def overview(engine: Engine, state: ProjectStatus) -> str:
    """The project as Markdown."""
    languages = ", ".join(f"{name} {count:,}" for name, count in state.languages.items())
    facts = [
        f"# {state.name}",
        f"- root: {engine.root}",
        f"- git: {state.branch or 'no branch'} at {(state.head or 'no commit')[:12]}" if state.git else "- no git",
        f"- index: {count(state.files, 'file')}, {count(state.symbols, 'symbol')}, {count(state.references, 'reference')}",
        f"- languages: {languages}",
        f"- search: {state.mode}; {state.embedded:,} of {count(state.passages, 'passage')} with a vector ({state.model})",
        f"- skipped: {count(sum(state.skipped.values()), 'file')}; {state.errors:,} not read in full",
    ]
    return joined(*facts, *(f"- note: {note}" for note in (*state.notes, *notes_on_index(state))))


SHOWN = 5
"""Definitions of one name that are shown with their source."""


def symbol_text(engine: Engine, name: str) -> str:
    """Definitions of a name with their source, and the honest count."""
    page = engine.definitions(name)
    parts = [f"{min(len(page.rows), SHOWN)} of {count(page.total, 'definition')} of {name}"]
    for symbol in page.rows[:SHOWN]:
        lines = read_lines(engine, symbol.path, symbol.start_line, symbol.end_line - symbol.start_line + 1)
        parts.append(f"## {symbol_line(symbol)}\n\n{_fenced(lines.text, symbol.language)}")
    parts += [symbol_line(symbol) for symbol in page.rows[SHOWN : SHOWN * 10]]
    return "\n\n".join(parts)


def callers_text(engine: Engine, name: str, limit: int = 20) -> str:
    """Who calls it, and how many there are in all."""
    page = engine.callers(name)
    rows = page.rows[:limit]
    return joined(f"{len(rows)} of {page.total} calls", *(caller_line(edge) for edge in rows), page.note)


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
