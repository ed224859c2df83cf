"""Tools for the index: keep it up to date, past revisions, drift."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from mcp_types import CallToolResult
from pydantic import Field

from cm_tui.counts import count
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import NotFoundError
from cm_tui.mcp import records
from cm_tui.mcp.background import follow, run_in_thread
from cm_tui.mcp.graph_tools import Limit, Name, Unresolved, call_row, caller_line, symbol_line, symbol_row
from cm_tui.mcp.project_resolver import ProjectPath, Request, Text, Where, notes_on_index
from cm_tui.mcp.retrieval_tools import PathArgument
from cm_tui.mcp.safe_text import MaxChars, Offset, View, counted, footer, joined, listed, next_offset, record_of, result
from cm_tui.model import FileEntry, IndexPlan, IndexSummary, Page, ResolvedRevision
from cm_tui.model.history import Change
from cm_tui.model.text import one_line

# --- tools that keep the index up to date ---

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


# --- tools for past revisions and for drift of the index ---

T = TypeVar("T")

HISTORY_WAIT_S = 20.0
"""How long an agent waits while the past is read; what was read is kept."""

Sha = Annotated[
    Annotated[str, Field(min_length=1, max_length=200), Text],
    Field(description="Commit, branch or tag; or a date, for the state before it."),
]
Ordinal = Annotated[
    Annotated[int, Field(ge=1, le=1_000_000_000)] | None,
    Field(description="First-parent count of that commit, if known; the sha takes precedence."),
]
_STATES: dict[Change, Literal["tombstoned", "drifted", "unindexed"]] = {
    "removed": "tombstoned", "changed": "drifted", "signature": "drifted", "moved": "drifted", "added": "unindexed",
}  # fmt: skip


def at_sha(
    sha: Sha,
    where: Where,
    sha_ord: Ordinal = None,
    label: Annotated[Literal["Symbol", "File"], Field(description="Kind of rows.")] = "Symbol",
    file: Annotated[
        Annotated[str, Field(max_length=4096), Text] | None, Field(description="Only symbols of this file.")
    ] = None,
    match: Annotated[
        Annotated[str, Field(max_length=200), Text] | None, Field(description="Only symbols matching this.")
    ] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    max_chars: MaxChars = 8000,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.StateAt]:
    """Symbols or files that existed at a past commit, including removed ones."""
    engine = where.indexed()
    _read_history_to(engine, sha)
    if label == "File":
        files = replace(engine.files_at(sha), note="")
        return _listed_at(FILES_AT, files, where, sha, sha_ord, limit, offset, max_chars)
    symbols = replace(engine.symbols_at(sha, file=file, match=match, limit=offset + limit), note="")
    return _listed_at(SYMBOLS_AT, symbols, where, sha, sha_ord, limit, offset, max_chars)


def callers_at_sha(
    symbol: Name,
    sha: Sha,
    where: Where,
    sha_ord: Ordinal = None,
    depth: Annotated[int, Field(ge=1, le=3, description="Maximum call depth.")] = 1,
    limit: Limit = 50,
    offset: Offset = 0,
    max_chars: MaxChars = 8000,
    unresolved: Unresolved = False,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.CallsAt]:
    """Who called a symbol at a past commit. What called it before it was removed?"""
    engine = where.indexed()
    _read_history_to(engine, sha)
    page = engine.callers(symbol, depth=depth, at=sha, unresolved=unresolved)
    return _listed_at(CALLERS_AT, page, where, sha, sha_ord, limit, offset, max_chars, unresolved=page.unresolved)


def _listed_at(
    view: View[T], page: Page[T], where: Where, sha: str, ordinal: int | None, limit: int, offset: int, room: int,
    **more: int,
) -> CallToolResult:  # fmt: skip
    """Return a part of a list of the past, with its revision; resolved last, when its missing files are known."""
    engine = where.indexed()
    place = engine.resolve(sha)
    own = replace(page, note=page.note.removesuffix(place.said).rstrip("; "))
    moment = _moment(place)
    more_fields = {"moment": moment, "generation": None, **more}
    return listed(view, own, limit, offset, room, _revision_notes(place, ordinal), more_fields, at=_title(moment))


def drift(
    where: Where,
    head_sha: Annotated[
        Annotated[str, Field(max_length=200), Text] | None,
        Field(description="Compare the index with this commit instead of with the working tree."),
    ] = None,
    limit: Annotated[int, Field(ge=1, le=500, description="Maximum symbols.")] = 50,
    offset: Offset = 0,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Drift]:
    """Differences between index and working tree: changed paths, and symbols no longer confirmed.

    tombstoned: gone since it was indexed, or at that commit; drifted: its lines differ; unindexed: not in the index.
    """
    engine = where.indexed()
    state, plan = where.projects.state(engine), engine.plan()
    changes = changes_of(plan)
    rows, total, current, place = _rows(engine, head_sha, offset + limit)
    rows = rows[offset:]
    following = next_offset(len(rows), total, offset)
    record = records.Drift(
        current=current, head=state.head, indexed_head=state.indexed_head, changes=changes, rows=rows, total=total,
        offset=offset, next_offset=following,
        notes=[*(_revision_notes(place, None) if place else ()), *plan.notes, *notes_on_index(state)],
    )  # fmt: skip
    lines = [one_line(f"{row.status} {row.path} {row.kind} {row.qualname}: {row.why}") for row in rows]
    symbols = joined(counted(len(lines), total, offset, "unconfirmed symbol"), *lines) if total else ""
    behind = any(changes.counts.values())
    if behind:
        head = counts_text("The index is behind: ", changes)
    elif place is not None:
        head = one_line(f"Compared with {_title(_moment(place))}:") + ("" if total else " nothing differs.")
    else:
        head = "The index reflects the working tree."
    return result(joined(head, paths_text(changes), symbols, footer(following, record.notes)), record)


def _read_history_to(engine: Engine, sha: str) -> ResolvedRevision:
    """The revision of a name; history is read as far back first, as long as that does not take too long.

    The files of one off the mainline are read by the question about it. Raises NotFoundError if there is no such
    revision, or reading has not come so far yet.
    """
    place = engine.resolve(sha)
    if place.known or place.moment.ahead or not place.sha or engine.history().vacuumed:
        return place
    until = time.monotonic() + HISTORY_WAIT_S
    for step in engine.backfill(since=f"#{place.moment.ordinal}"):
        if time.monotonic() > until:
            raise NotFoundError(f"{sha} is not read yet: {step.message}.", hint="Repeat the request to continue.")
    return engine.resolve(sha)


def _rows(
    engine: Engine, head_sha: str | None, limit: int
) -> tuple[list[records.DriftedSymbol], int, bool, ResolvedRevision | None]:
    """Symbols that are not confirmed, how many there are, whether the index is current, and the revision compared with."""
    if head_sha is None or _is_head(engine, head_sha):
        found = engine.drift(limit=limit)
        rows = [
            records.DriftedSymbol(path=row.path, qualname=row.symbol, kind=row.kind, status=row.state, why=row.why)
            for row in found.rows
        ]
        return rows, found.total, found.current, None
    place = _read_history_to(engine, head_sha)
    page = engine.changes("HEAD", head_sha, limit=limit)
    at = head_sha if place.exact else f"#{place.moment.ordinal}, the nearest to {head_sha}"
    rows = [
        record_of(
            records.DriftedSymbol, one.before or one.symbol, status=_STATES[one.change], why=f"{one.change} at {at}"
        )
        for one in page.rows
    ]
    return rows, page.total, not page.total, place


def _is_head(engine: Engine, sha: str) -> bool:
    try:
        return engine.resolve(sha).sha == engine.status().head
    except NotFoundError:
        if not engine.status().git:
            return True
        raise


def _revision_notes(place: ResolvedRevision, ordinal: int | None) -> list[str]:
    notes = [place.said] if place.said else []
    if ordinal is not None and ordinal != place.moment.ordinal:
        notes.append(f"sha_ord {ordinal} is another commit; {place.asked} is #{place.moment.ordinal}, which is used.")
    return notes


def _moment(place: ResolvedRevision) -> records.Moment:
    return record_of(records.Moment, place.moment, sha_ord=place.moment.ordinal)


def _title(moment: records.Moment) -> str:
    place = f"#{moment.sha_ord}" if not moment.ahead else f"off the mainline after #{moment.sha_ord}"
    return one_line(f"{place} {moment.sha[:10]} {moment.subject}")


def _file_line(file: FileEntry) -> str:
    return f"{file.path} {file.language} {count(file.lines, 'line')} {count(file.symbols, 'symbol')}"


FILES_AT = View("file", _file_line, partial(record_of, records.FileRow), records.StateAt)
SYMBOLS_AT = View("symbol", symbol_line, symbol_row, records.StateAt)
CALLERS_AT = View("call", caller_line, call_row, records.CallsAt)
