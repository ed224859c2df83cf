"""Tools that keep the index up to date."""

from __future__ import annotations

from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field

from cm_tui.counts import count
from cm_tui.engine.api.engine import Engine
from cm_tui.mcp import records
from cm_tui.mcp.background import follow, run_in_thread
from cm_tui.mcp.project_resolver import ProjectPath, Request, Text, Where
from cm_tui.mcp.retrieval_tools import PathArgument
from cm_tui.mcp.safe_text import footer, joined, record_of, result
from cm_tui.model import IndexPlan, IndexSummary
from cm_tui.model.text import one_line

SHOWN = 50
"""Paths of each kind of change that are named."""


async def ingest(
    where: Where,
    ctx: Request,
    confirmed: Annotated[bool, Field(description="Run it; without, only report the plan.")] = False,
    full: Annotated[bool, Field(description="Parse every file again.")] = False,
    since: Annotated[
        Annotated[str, Field(max_length=200), Text] | None, Field(description="Commit that the plan is compared with.")
    ] = None,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Work]:
    """Index the project, or bring its index up to the working tree; only what changed is read.

    The first run takes seconds to minutes.
    """
    engine = await run_in_thread(where.engine)
    if not confirmed:
        plan = await run_in_thread(lambda: engine.plan(full=full, since=since))
        planned = record_of(records.Work, plan, done=False, root=str(engine.root), changes=changes_of(plan))
        return result(_plan_text(engine, plan), planned)
    try:
        summary = await follow(lambda cancel: engine.index(full=full, since=since, cancel=cancel), ctx)
    finally:
        where.projects.forget(engine)
    return result(_summary_text(engine, summary), _worked(engine, summary))


async def reingest(
    path: Annotated[
        PathArgument | Annotated[list[PathArgument], Field(min_length=1, max_length=200)],
        Field(description="File or files that were written, moved or deleted."),
    ],
    where: Where,
    ctx: Request,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Work]:
    """Index single files again, right after editing them; many in one call."""
    engine = await run_in_thread(where.indexed)
    paths = [path] if isinstance(path, str) else path
    try:
        summary = await follow(lambda cancel: engine.index(paths=paths, cancel=cancel), ctx)
    finally:
        where.projects.forget(engine)
    return result(_summary_text(engine, summary), _worked(engine, summary))


def changes_of(plan: IndexPlan) -> records.Changes:
    """Paths that differ, by what became of them."""
    names = ("added", "modified", "removed", "renamed")
    lists: dict[str, tuple[Any, ...]] = {name: getattr(plan, name) for name in names}
    shown: dict[str, Any] = {name: rows[:SHOWN] for name, rows in lists.items()}
    return records.Changes(counts={name: len(rows) for name, rows in lists.items()}, **shown)


def counts_text(head: str, changes: records.Changes) -> str:
    """How many paths of each kind."""
    counts = [f"{count:,} {name}" for name, count in changes.counts.items() if count]
    return f"{head}{', '.join(counts) or 'no file differs'}."


def paths_text(changes: records.Changes) -> str:
    """The paths themselves, a line each."""
    lines = [
        f"{name} {path}"
        for name, paths in (("added", changes.added), ("modified", changes.modified), ("removed", changes.removed))
        for path in paths
    ]
    lines += [f"renamed {old} → {new}" for old, new in changes.renamed]
    left = sum(changes.counts.values()) - len(lines)
    return joined(*map(one_line, lines), f"… and {count(left, 'more path')}" if left else "")


def _plan_text(engine: Engine, plan: IndexPlan) -> str:
    what = "read all of" if plan.full else "bring up to date"
    changes = changes_of(plan)
    return joined(
        f"Nothing was done. It would {what} {engine.root}: {count(plan.files, 'file')}, about {plan.estimated_seconds:.1f} s.",
        counts_text("Differs from the index: ", changes),
        "Call again with confirmed=true to do it.",
        footer(None, plan.notes),
    )


def _worked(engine: Engine, summary: IndexSummary) -> records.Work:
    seconds = round(sum(summary.seconds.values()), 3)
    return record_of(records.Work, summary, done=True, root=str(engine.root), seconds=seconds)


def _summary_text(engine: Engine, summary: IndexSummary) -> str:
    return joined(
        f"{count(summary.changed, 'file')} changed in the index of {engine.root} ({sum(summary.seconds.values()):.1f} s): now "
        f"{count(summary.files, 'file')}, {count(summary.symbols, 'symbol')}, {count(summary.passages, 'passage')}; search: {summary.mode}.",
        footer(None, summary.notes),
    )
