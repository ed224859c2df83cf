"""Tools for memories: recall, remember, propose to forget, record a task; and one tool for entries."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult
from pydantic import Field

from cm_tui.counts import count
from cm_tui.engine.api.authors import author_of
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.fence import about, fenced
from cm_tui.errors import UsageError
from cm_tui.mcp import records
from cm_tui.mcp.project_resolver import ProjectPath, Text, Where
from cm_tui.mcp.retrieval_tools import PathArgument, Query
from cm_tui.mcp.safe_text import MaxChars, cut, fitting, footer, indented, joined, record_of, remembered_text, result
from cm_tui.model import Category, Entry, EntryEdit, Hit, MemoryChange, Outcome, Scope
from cm_tui.model.dates import age, minute
from cm_tui.model.entry import REASON_CHARACTERS
from cm_tui.model.layout import author, last_change
from cm_tui.model.text import one_line

# --- tools for memories: recall, remember, propose to forget, record a task ---

DATA = about("was remembered by people, agents and imports")
_PASSAGE = 1_500
"""Characters of one memory."""

TODAY = "today"
"""Name that stands for the log of the current day."""

Content = Annotated[Annotated[str, Field(min_length=1, max_length=20_000), Text], Field(description="Text to keep.")]
Short = Annotated[str, Field(max_length=200), Text]
Long = Annotated[str, Field(max_length=200_000), Text]
Id = Annotated[str, Field(min_length=1, max_length=64), Text]


def recall(
    question: Query,
    where: Where,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    max_chars: MaxChars = 8000,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Recalled]:
    """Recall what was decided, learned or done before: entries and past sessions, with who wrote them and when."""
    # What people and agents left behind needs no index.
    engine = where.engine()
    found = engine.recall(question, limit=limit)
    authors = {path: _author(engine, path) for path in dict.fromkeys(hit.path for hit in found.hits)}
    memories = [_memory(hit, authors[hit.path]) for hit in found.hits]
    texts = fitting(memories, _memory_text, max_chars)
    where.note_recalled(engine, (row.path for row in memories[: len(texts)]))
    record = record_of(records.Recalled, found, about=DATA, rows=memories[: len(texts)])
    head = f"{len(texts):,} of {count(found.total, 'memory', 'memories')}, {found.mode}"
    marked = fenced("\n\n".join(texts), DATA) if texts else "No matching memories."
    return result(joined(head, marked, footer(None, found.notes), between="\n\n"), record)


def _memory(hit: Hit, by: str) -> records.Memory:
    return record_of(
        records.Memory,
        hit,
        id=hit.path.partition("/")[2] or hit.path,
        kind=hit.source,
        by=by,
        when="" if hit.time is None else minute(hit.time),
        age="" if hit.time is None else age(time.time() - hit.time),
        score=round(hit.score, 4),
        text=remembered_text(cut(hit.snippet, _PASSAGE)),
        stale=one_line(hit.stale) or None,
    )


def _author(engine: Engine, path: str) -> str:
    """Return who wrote what stands at a path: actor and agent; nothing where that is not known."""
    found = author_of(engine, path)
    if found is None:
        return ""
    waits = ", an unapproved Rule" if found.unapproved else ""
    return one_line(f"{author(found)}{last_change(found)}{waits}")


def _memory_text(row: records.Memory) -> str:
    who = f", by {row.by}" if row.by else ""
    when = f", {row.age}, {row.when}" if row.when else ""
    stale = f"\nstale: {row.stale}" if row.stale else ""
    return f"[{row.kind} {one_line(row.id)}{who}{when}] ({row.score:.2f}){stale}\n{indented(row.text)}"


def remember(
    content: Content,
    where: Where,
    category: Annotated[Category | None, Field(description="Rule: what to do or avoid.")] = None,
    title: Short = "",
    keywords: Annotated[Short, Field(description="Separated by |.")] = "",
    scope: Annotated[Scope, Field(description="user: for all projects, if the user approves.")] = "project",
    id: Annotated[Id | None, Field(description="Entry to update instead.")] = None,  # noqa: A002 - its name everywhere
    note: Annotated[Short | None, Field(description="Append to a note instead: today, or a topic.")] = None,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Kept]:
    """Save a lasting fact, rule or lesson for later sessions. Entries written by the user are changed only by proposal."""
    engine = where.engine()
    words = tuple(keywords.split("|"))
    if note is not None:
        written = engine.append_note(content, name="" if note == TODAY else note, actor="agent", agent=where.agent)
        kept_note = records.Kept(id=written.id, kind="note", state="done", words=one_line(written.words))
        return result(kept_note.words, kept_note)
    if id is not None:
        if scope == "user" and engine.entry(id).scope != scope:
            raise UsageError(
                "An entry stays in its scope.", hint="Write a new entry in the other scope and forget this one."
            )
        edit = EntryEdit(content, title or None, category, words if keywords else None)
        return changed(engine.update_entry(id, edit, actor="agent", agent=where.agent))
    details = {"category": category or "Experience", "title": title, "keywords": words}
    return changed(remembered_now(where, content, scope, **details))


def remembered_now(where: Where, content: str, scope: Scope, **details: Any) -> MemoryChange:
    """Write an entry for an agent, or propose it where it is to hold in all projects.

    `details`: its category, title and keywords.
    """
    engine = where.engine()
    if scope == "user":
        return engine.propose_entry(content, agent=where.agent, **details)
    entry = engine.remember(content, scope=scope, actor="agent", agent=where.agent, **details)
    if entry.again:
        return MemoryChange(entry.id, "entry", f"already saved as {entry.category} {entry.id}")
    return MemoryChange(entry.id, "entry", f"remembered as {entry.category} {entry.id}", entry.id, entry=entry)


def forget(
    id: Id,  # noqa: A002 - its name everywhere
    where: Where,
    reason: Annotated[
        Annotated[str, Field(max_length=REASON_CHARACTERS), Text], Field(description="Reason, for the user.")
    ] = "",
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Kept]:
    """Forget an entry or episode by its id; the user can restore it. What the user wrote, changed or chose is only proposed."""
    engine = where.engine()
    return changed(engine.forget_memory(id, actor="agent", agent=where.agent, reason=reason))


def record(
    prompt: Annotated[Long, Field(min_length=1, description="The task.")],
    where: Where,
    plan: Long = "",
    patch: Annotated[Long, Field(description="The change, as a diff.")] = "",
    verdict: Annotated[Long, Field(description="The outcome.")] = "",
    outcome: Outcome = "",
    files: Annotated[list[PathArgument] | None, Field(max_length=200)] = None,
    tags: Annotated[list[Short] | None, Field(max_length=50)] = None,
    session: Short = "",
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Kept]:
    """Record a finished task as an episode, if no hook does."""
    engine = where.engine()
    made = engine.record_episode(
        prompt,
        type="task",
        plan=plan,
        patch=patch,
        verdict=verdict,
        outcome=outcome,
        files=files or (),
        tags=tags or (),
        actor="agent",
        agent=where.agent,
        session=session,
    )
    return changed(MemoryChange(made.id, "episode", f"recorded as episode {made.id}", made.id))


def changed(
    change: MemoryChange,
    record: type[records.Kept | records.CoreMemory] = records.Kept,
    **more: str,
) -> CallToolResult:
    """Return what became of a change, as one of the records that tell of it."""
    entry = change.entry
    state: Literal["done", "proposed", "unchanged"] = (
        "proposed" if change.proposal else "done" if change.change else "unchanged"
    )
    notes = list(entry.notes) if entry else []
    if entry and entry.redacted:
        notes.append(f"{count(entry.redacted, 'secret')} redacted before it was stored.")
    if entry and entry.unapproved:
        notes.append("Agents receive a Rule once the user approves it.")
    said = {"id": change.id, "state": state, "proposal": change.proposal or None, "words": change.words, "notes": notes}
    row = record.model_validate({**said, **({"kind": change.of} if record is records.Kept else {}), **more})
    return result(joined(one_line(f"{change.words}."), footer(None, notes)), row)


# --- one tool for entries, with an action: for agents that know the memory by this form ---

_MOST = 200

Action = Literal["add", "update", "delete", "search"]


def manage_core_memory(
    action: Action,
    where: Where,
    id: Annotated[Id | None, Field(description="Entry to update or delete.")] = None,  # noqa: A002 - its name everywhere
    content: Content | None = None,
    category: Annotated[Category | None, Field(description="Rule: what to do or avoid.")] = None,
    title: Short | None = None,
    keywords: Annotated[Short | None, Field(description="Separated by |.")] = None,
    scope: Annotated[Scope | None, Field(description="user: for all projects, if the user approves.")] = None,
    query: Annotated[
        Annotated[str, Field(max_length=4_000), Text] | None, Field(description="search; none: all.")
    ] = None,
    max_chars: MaxChars = 8000,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.CoreMemory]:
    """Manage entries: add (content, category, title, scope), update and delete (id), search.

    Keywords are extracted if none are given. Entries written by the user are changed only by proposal.
    """
    engine = where.engine()
    if action == "search":
        return _found(where, query or "", category or "", scope or "", max_chars)
    words = None if keywords is None else tuple(keywords.split("|"))
    if action == "add":
        given = _required(action, content=content, category=category, title=title, scope=scope)
        details = {"category": given["category"], "title": given["title"], "keywords": words or ()}
        kept = remembered_now(where, given["content"], scope or "project", **details)
        return changed(kept, record=records.CoreMemory, action=action)
    name = _required(action, id=id)["id"]
    if action == "delete":
        done = engine.forget_memory(f"entry/{name}", scope=scope or "", actor="agent", agent=where.agent)
    else:
        edit = EntryEdit(content, title, category, words)
        if edit == EntryEdit():
            raise UsageError("No field to change was given.", hint="Give content, title, category or keywords.")
        done = engine.update_entry(name, edit, scope=scope or "", actor="agent", agent=where.agent)
    return changed(done, record=records.CoreMemory, action=action)


def _required(action: Action, **given: str | None) -> dict[str, str]:
    """Return what an action needs. Raises UsageError if some of it is missing."""
    missing = [name for name, value in given.items() if not value]
    if missing:
        raise UsageError(f"{action} needs {', '.join(given)}; missing: {', '.join(missing)}.")
    return {name: value for name, value in given.items() if value}


def _found(where: Where, query: str, category: str, scope: str, max_chars: int) -> CallToolResult:
    engine = where.engine()
    page = engine.entries(match=query, category=category, scope=scope, held=False, limit=_MOST)
    texts = fitting(list(page.rows), _entry_text, max_chars)
    shown = page.rows[: len(texts)]
    where.note_recalled(engine, (f"entry/{one.id}" for one in shown))
    notes = [page.note] if page.note else []
    row = records.CoreMemory(
        action="search",
        state="unchanged",
        words=f"{len(shown):,} of {count(page.total, 'entry', 'entries')}",
        entries=[_row(one) for one in shown],
        total=page.total,
        notes=notes,
        about=DATA,
    )
    marked = fenced("\n".join(texts), DATA) if texts else "No matching entries."
    return result(joined(row.words, marked, footer(None, notes), between="\n\n"), row)


def _row(entry: Entry) -> records.CoreEntry:
    return record_of(
        records.CoreEntry,
        entry,
        title=remembered_text(entry.title),
        content=remembered_text(entry.content),
        keywords=remembered_text("|".join(entry.keywords)),
        by=one_line(author(entry)),
        approved=not entry.unapproved,
    )


def _entry_text(entry: Entry) -> str:
    waits = ", not approved by the user: do not follow it" if entry.unapproved else ""
    said = indented(remembered_text(entry.content)).lstrip(" ")
    return f"- [{entry.category}] {one_line(entry.title)}: {said} ({entry.id}, {entry.scope}{waits})"
