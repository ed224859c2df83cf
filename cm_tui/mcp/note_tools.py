"""Tools for notes: found by meaning and words, and read."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from cm_tui.counts import count
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.fence import fenced
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.mcp import records
from cm_tui.mcp.project_resolver import ProjectPath, Where, notes_on_index
from cm_tui.mcp.retrieval_tools import MEMORY, ROOM, PathArgument, Query, narrowed, of_stale, passage, read_lines
from cm_tui.mcp.safe_text import fitting, footer, joined, record_of, remembered_text, result
from cm_tui.model import Hit
from cm_tui.model.ids import plain_id
from cm_tui.model.note import NOTES
from cm_tui.model.text import one_line

_VALUES = ("kv://", "json://")
"""Layers whose values an agent may read by reference; all else it has tools of its own for."""


def search(
    query: Query,
    where: Where,
    max_results: Annotated[int, Field(ge=1, le=50)] = 6,
    min_score: Annotated[float, Field(ge=0, le=1, description="Least score, from 0 to 1.")] = 0.35,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Remembered]:
    """Search notes: day logs, topics, MEMORY.md, instructions; short snippets to cite.

    Read more of one with memory_get.
    """
    # What people and agents left behind needs no index.
    engine = where.engine()
    state = where.projects.state(engine)
    found = engine.search_notes(query, limit=max_results, min_score=min_score)
    told = (state.fallback,) if state.fallback and state.fallback not in found.notes else ()
    notes = [*found.notes, *told]
    rows = [_note_row(hit) for hit in found.hits]
    where.note_recalled(engine, (hit.path for hit in found.hits))
    record = records.Remembered(
        mode=found.mode,
        rows=rows,
        total=found.total,
        notes=notes,
        provider=state.model,
        fallback=found.mode != "hybrid" or bool(state.fallback),
        filters=list(found.filters) or None,
    )
    texts = [
        f"Source: {one_line(row.path)}#L{row.start_line}-L{row.end_line} ({row.score:.2f})\n{row.snippet}"
        for row in rows
    ]
    head = one_line(f"{len(rows):,} of {count(found.total, 'candidate')}, {found.mode}{narrowed(found)}")
    marked = fenced("\n\n".join(texts), MEMORY) if texts else "No matching notes."
    return result(joined(head, marked, footer(None, notes), between="\n\n"), record)


def _note_row(hit: Hit) -> records.Passage:
    """A passage of a note, by the note's own id, without characters that only a model sees."""
    row = passage(hit, chars=700)
    return row.model_copy(update={"path": plain_id(hit.path), "snippet": remembered_text(row.snippet)})


def get(
    path: PathArgument,
    where: Where,
    start: Annotated[int, Field(ge=1, validation_alias="from", description="First line.")] = 1,
    lines: Annotated[int, Field(ge=1, le=2000)] = 200,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Lines]:
    """Read lines of a note, a file, or a value by kv://KEY or json://NAME; anything outside the project and its notes is refused."""
    engine = where.engine()
    state = where.projects.state(engine)
    if path.startswith(_VALUES):
        record = _value_lines(engine, path, start, lines)
        return result(joined(_head(record), fenced(record.text, MEMORY), _more(record), between="\n\n"), record)
    try:
        record = read_lines(where.indexed(), path, start, lines)
    except NotFoundError as error:
        record = _note_lines(engine, path, start, lines, error)
        where.note_recalled(engine, [f"{NOTES}/{record.path}"])
    notes = [] if engine.uses_daemon or not state.indexed else notes_on_index(state)
    return result(joined(_head(record), record.text, _more(record), of_stale(record), footer(None, notes)), record)


def _head(record: records.Lines) -> str:
    return one_line(f"{record.path}:{record.start_line}-{record.end_line}")


def _more(record: records.Lines) -> str:
    return f"More: from={record.next_line}." if record.next_line else ""


def _value_lines(engine: Engine, reference: str, start: int, lines: int) -> records.Lines:
    """Lines of a value that the project keeps.

    Raises NotFoundError if there is no such value, or it has no such line; CmError if it cannot be read.
    """
    every = remembered_text(engine.read_memory(reference).text).split("\n")
    if start > len(every):
        raise NotFoundError(f"{reference} has no line {start}.", hint=f"It ends at line {len(every)}.")
    shown = fitting(every[start - 1 : start - 1 + lines], str, ROOM)
    following = start + len(shown)
    return records.Lines(
        path=reference,
        start_line=start,
        end_line=following - 1,
        language="json" if reference.startswith("json://") else "text",
        text="\n".join(shown),
        stale=False,
        next_line=following if following <= len(every) else None,
    )


def _note_lines(engine: Engine, path: str, start: int, lines: int, error: NotFoundError) -> records.Lines:
    """Lines of a note.

    Raises NotFoundError: the error of before, where there is no such note either; CmError if the note cannot be read.
    """
    try:
        found = engine.note(path, start=start, lines=lines)
    except (NotFoundError, UsageError):
        raise error from None
    return record_of(
        records.Lines,
        found,
        path=found.note.id,
        language="markdown",
        text=remembered_text(found.text)[:ROOM],
        stale=False,
    )
