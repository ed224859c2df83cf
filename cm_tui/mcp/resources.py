"""Resources and prompts, and the completion of their arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from mcp.server.mcpserver import MCPServer, ResourceSecurity
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference
from pydantic import Field

from cm_tui.counts import count
from cm_tui.engine.api.clean_source import clean_source
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.fence import about, fenced
from cm_tui.errors import CmError, NotFoundError
from cm_tui.mcp.background import run_in_thread
from cm_tui.mcp.graph_tools import caller_line, symbol_line
from cm_tui.mcp.project_resolver import (
    ProjectResolver,
    Request,
    Text,
    agent_name,
    notes_on_index,
    plain_text,
    projects_of,
)
from cm_tui.mcp.retrieval_tools import read_lines
from cm_tui.mcp.safe_text import clean, joined, remembered_text
from cm_tui.model import ProjectStatus
from cm_tui.model.text import fenced_source, one_line

OVERVIEW = "cm://project"
OVERVIEW_OF = "cm://project{?project}"
FILE = "cm://file/{+path}{?start,end,project}"
SYMBOL = "cm://symbol/{+qualname}{?project}"
# Which paths a project may read is the engine's to say: it refuses what leads outside, and takes absolute paths within.
_OWN_CHECKS = ResourceSecurity(exempt_params=frozenset({"project", "path", "qualname"}))
Line = Annotated[int, Field(ge=1)]
Given = Annotated[str, Field(min_length=1, max_length=4096), Text]
PromptArgument = Annotated[str, Field(min_length=1, max_length=4000), Text]
PromptProject = Annotated[
    Annotated[str, Field(max_length=4096), Text] | None, Field(description="Absolute path of the project.")
]
MATERIAL = about("was found in the project's files")
COMPLETIONS = 100
"""As many values as one answer may hold."""
Reference = PromptReference | ResourceTemplateReference
Completer = Callable[[Reference, CompletionArgument, CompletionContext | None], Awaitable[Completion | None]]


def register(server: MCPServer[ProjectResolver], projects: ProjectResolver) -> None:
    """Add every resource, every prompt, and the completion of their arguments."""

    def default_overview() -> str:
        """The default project and its index at a glance."""
        return _overview(projects, None)

    server.resource(OVERVIEW, name="project", title="The project", mime_type="text/markdown")(default_overview)
    server.resource(OVERVIEW_OF, name="project_of", title="Another project", mime_type="text/markdown",
                    security=_OWN_CHECKS)(project_overview)  # fmt: skip
    server.resource(FILE, name="file", title="Lines of a file", security=_OWN_CHECKS)(file_lines)
    server.resource(SYMBOL, name="symbol", title="A symbol's source", mime_type="text/markdown",
                    security=_OWN_CHECKS)(symbol_source)  # fmt: skip
    server.prompt("explain_symbol", "Explain a symbol")(explain_symbol)
    server.prompt("context_for_task", "Context for a task")(context_for_task)
    server.completion()(completions(projects))  # type: ignore[no-untyped-call] # the SDK leaves it unannotated


def project_overview(ctx: Request, project: Given | None = None) -> str:
    """A project and its index at a glance."""
    return _overview(projects_of(ctx), project)


def _indexed(projects: ProjectResolver, project: str | None) -> Engine:
    """Return the engine of an indexed project. Raises NotIndexedError if it has no index yet."""
    engine = projects.engine(project)
    projects.check_indexed(engine)
    return engine


def _overview(projects: ProjectResolver, project: str | None) -> str:
    engine = _indexed(projects, project)
    return clean(overview(engine, projects.state(engine)))


def file_lines(
    path: Given, ctx: Request, start: Line = 1, end: Line | None = None, project: Given | None = None
) -> str:
    """Lines of a file of the project, all of them when none are named."""
    engine = _indexed(projects_of(ctx), project)
    if end is not None and end < start:
        raise NotFoundError(f"Invalid lines: {start} to {end}.", hint="Give `end` at or after `start`.")
    return clean(clean_source(engine.source, path, start, end).text)


def symbol_source(qualname: Given, ctx: Request, project: Given | None = None) -> str:
    """Every definition of a name, with its source."""
    engine = _indexed(projects_of(ctx), project)
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
CALLERS = 20
"""Calls that are listed."""


def symbol_text(engine: Engine, name: str) -> str:
    """Definitions of a name with their source, and the honest count."""
    page = engine.definitions(name)
    parts = [f"{min(len(page.rows), SHOWN)} of {count(page.total, 'definition')} of {name}"]
    for symbol in page.rows[:SHOWN]:
        lines = read_lines(engine, symbol.path, symbol.start_line, symbol.end_line - symbol.start_line + 1)
        parts.append(f"## {symbol_line(symbol)}\n\n{fenced_source(lines.text, symbol.language)}")
    parts += [symbol_line(symbol) for symbol in page.rows[SHOWN : SHOWN * 10]]
    return "\n\n".join(parts)


def callers_text(engine: Engine, name: str) -> str:
    """Who calls it, and how many there are in all."""
    page = engine.callers(name)
    rows = page.rows[:CALLERS]
    return joined(f"{len(rows)} of {page.total} calls", *(caller_line(edge) for edge in rows), page.note)


def explain_symbol(
    symbol: Annotated[PromptArgument, Field(description="Name, or any tail of a qualified one.")],
    ctx: Request,
    project: PromptProject = None,
) -> str:
    """Explain a symbol from its source and its callers."""
    engine = _indexed(projects_of(ctx), project)
    return clean(
        f"Explain {symbol}: what it does, what it relies on, who depends on it, and what to watch for when changing it. "
        f"Name places as path:line.\n\n{MATERIAL}\n\n{symbol_text(engine, symbol)}\n\n{callers_text(engine, symbol)}"
    )


def context_for_task(
    task: Annotated[PromptArgument, Field(description="The task.")],
    ctx: Request,
    budget: Annotated[int, Field(ge=100, le=50_000, description="Maximum tokens of source.")] = 4000,
    project: PromptProject = None,
) -> str:
    """Start a task with the relevant source and memory of the project."""
    engine = _indexed(projects_of(ctx), project)
    agent = agent_name(ctx)
    made = engine.assemble(task, budget=budget, agent=agent)
    engine.note_recalled(made.recalled, actor="agent", agent=agent)
    notes = "".join(f"\nnote: {one_line(note)}" for note in made.notes)
    return clean(f"{task}\n\n{fenced(remembered_text(made.text), MATERIAL)}{notes}")


def completions(projects: ProjectResolver) -> Completer:
    """What completes arguments for these projects."""

    async def complete(
        _: Reference, argument: CompletionArgument, context: CompletionContext | None
    ) -> Completion | None:
        known = (context.arguments if context else None) or {}
        ways: dict[str, Callable[[Engine, str], Completion]] = {"path": paths, "qualname": symbols, "symbol": symbols}
        way = ways.get(argument.name)
        if way is None:
            return None
        try:
            typed = plain_text(argument.value[:500])
            return await run_in_thread(lambda: way(projects.engine(known.get("project")), typed))
        except (CmError, ValueError):
            # The user is still typing: no completions instead of an error.
            return None

    return complete


def paths(engine: Engine, typed: str) -> Completion:
    """Files whose path starts with what was typed, then those that hold it."""
    names = [entry.path for entry in engine.files().rows]
    lowered = typed.lower()
    found = sorted((n for n in names if lowered in n.lower()), key=lambda n: (not n.lower().startswith(lowered), n))
    return _completion(found, len(found))


def symbols(engine: Engine, typed: str) -> Completion:
    """Symbols that fit what was typed, the best first."""
    page = engine.symbols(match=typed or None, limit=COMPLETIONS)
    return _completion(list(dict.fromkeys(row.qualname for row in page.rows)), page.total)


def _completion(values: list[str], total: int) -> Completion:
    return Completion(
        values=[clean(v) for v in values[:COMPLETIONS]], total=total, has_more=total > len(values[:COMPLETIONS])
    )
