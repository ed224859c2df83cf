"""Tools for proposals: list and propose. Only the user decides; no tool can."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from mcp_types import CallToolResult
from pydantic import Field

from cm_tui.engine.api.fence import fenced
from cm_tui.mcp import records
from cm_tui.mcp.memory_tools import DATA, Id, Short
from cm_tui.mcp.project_resolver import ProjectPath, Text, Where
from cm_tui.mcp.safe_text import (
    MaxChars,
    Offset,
    counted,
    cut,
    fitting,
    footer,
    joined,
    next_offset,
    record_of,
    remembered_text,
    result,
    short,
)  # fmt: skip
from cm_tui.model import NarratedFilter, NarratedProposal, NarratedState, Proposal, Scope
from cm_tui.model.layout import proposal_fields
from cm_tui.model.text import one_line

_STATES: tuple[NarratedState, ...] = get_args(NarratedState)
_EVIDENCE = 5
"""Ids of episodes that stand beside a proposal."""
_TEXT = 500

Line = Annotated[Annotated[str, Field(min_length=1, max_length=1_000), Text], Field(description="One line.")]


def proposals(
    where: Where,
    state: Annotated[Literal["waiting", "deferred", "approved", "rejected", "all"], Field()] = "waiting",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    offset: Offset = 0,
    max_chars: MaxChars = 8000,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Proposals]:
    """List proposed memories with the episodes that they are based on. Only the user decides."""
    # What people and agents left behind needs no index.
    engine = where.engine()
    states: tuple[NarratedState, ...] = _STATES if state == "all" else (state,)
    page = engine.narrated(NarratedFilter(states=states), limit=offset + limit)
    wishes = engine.proposals().rows if "waiting" in states else ()
    every: list[NarratedProposal | Proposal] = [*page.rows, *wishes]
    total = page.total + len(wishes)
    rows = [_row(one) for one in every[offset : offset + limit]]
    texts = fitting(rows, _line, max_chars)
    following = next_offset(len(texts), total, offset)
    notes = [page.note] if page.note else []
    record = records.Proposals(
        about=DATA, rows=rows[: len(texts)], total=total, offset=offset, next_offset=following, notes=notes
    )
    marked = fenced("\n".join(texts), DATA) if texts else ""
    head = counted(len(texts), total, offset, "proposal")
    return result(joined(head, marked, footer(following, notes), between="\n\n"), record)


def _row(one: NarratedProposal | Proposal) -> records.Proposed:
    """Return a proposal as it is returned, of the narrator or of an agent about an entry or an episode."""
    if isinstance(one, NarratedProposal):
        return record_of(
            records.Proposed,
            one,
            of="note",
            text=_safe(one.text),
            why=_safe(one.why),
            target=one_line(one.target),
            known=_safe(one.other) or None,
            confidence=round(one.confidence, 2),
            episodes=one.evidence_ids[:_EVIDENCE],
            by=one_line(one.proposed_by) or "narrator",
            reason=_safe(one.reason) or None,
        )
    fields = proposal_fields(one)
    by, text, why = fields.pop("proposed_by"), _safe(fields.pop("text")), _safe(fields.pop("why"))
    episodes = [one.target] if one.of == "episode" else []
    return record_of(
        records.Proposed, one, **fields, text=text, why=why, target=one_line(one.target), episodes=episodes,
        by=one_line(by), reason=None,
    )  # fmt: skip


def _safe(text: str) -> str:
    return remembered_text(cut(" ".join(text.split()), _TEXT))


def _line(row: records.Proposed) -> str:
    sure = "" if row.confidence is None else f" {row.confidence:.2f}, {row.relation}, {row.support}×/{row.sessions}"
    state = "" if row.state == "waiting" else f", {row.state}{f' ({row.reason})' if row.reason else ''}"
    seen = f" [{', '.join(row.episodes)}]" if row.episodes else ""
    why = f" — {short(row.why)}" if row.why else ""
    said = f"{row.id} {row.kind}{sure}, by {row.by}{state}: {short(row.text)} → {row.target}{why}{seen}"
    return one_line(said)


def propose(
    text: Line,
    where: Where,
    why: Annotated[Short, Field(description="Reason, one sentence, for the user.")] = "",
    scope: Annotated[Scope, Field(description="user: for all projects.")] = "project",
    topic: Annotated[Short, Field(description="Topic that it belongs to.")] = "",
    episodes: Annotated[list[Id] | None, Field(max_length=50, description="Ids of its evidence.")] = None,
    project: ProjectPath = None,
) -> Annotated[CallToolResult, records.Kept]:
    """Propose a line for the project's notes; the user approves, changes or rejects it."""
    made = where.engine().propose_fact(
        text, why=why, scope=scope, topic=topic, episodes=tuple(episodes or ()), agent=where.agent
    )
    words, state = _outcome(made)
    kept = records.Kept(
        id=made.target,
        kind="note",
        state=state,
        proposal=made.id if state == "proposed" else None,
        words=one_line(words),
    )
    return result(f"{kept.words}.", kept)


def _outcome(made: NarratedProposal) -> tuple[str, Literal["proposed", "unchanged"]]:
    """Return what became of an agent's proposal: a person may have decided on the same before."""
    if made.state == "rejected":
        return f"already rejected by the user{f': {made.reason}' if made.reason else ''}", "unchanged"
    if made.state == "approved":
        return f"already approved, as {made.id}", "unchanged"
    return f"proposed as {made.id}, for {made.target}: the user decides", "proposed"
