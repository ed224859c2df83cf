"""Completion of paths and symbols in resources and prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError
from cm_tui.mcp.background import run_in_thread
from cm_tui.mcp.project_resolver import ProjectResolver, plain_text
from cm_tui.mcp.safe_text import clean

SHOWN = 100
"""As many values as one answer may hold."""

Reference = PromptReference | ResourceTemplateReference
Completer = Callable[[Reference, CompletionArgument, CompletionContext | None], Awaitable[Completion | None]]


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
    page = engine.symbols(match=typed or None, limit=SHOWN)
    return _completion(list(dict.fromkeys(row.qualname for row in page.rows)), page.total)


def _completion(values: list[str], total: int) -> Completion:
    return Completion(values=[clean(v) for v in values[:SHOWN]], total=total, has_more=total > len(values[:SHOWN]))
