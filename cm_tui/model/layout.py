"""Records as text: the parts that the command line, tools and the application show alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cm_tui.model.dates import day, local_minute

if TYPE_CHECKING:
    from cm_tui.model import CommitPoint, Entry, Forgetting, Proposal


def commit_line(commit: CommitPoint) -> str:
    """Return a commit as `#17 2024-05-01 0a1b2c3d4e Ada  Subject`; off the mainline its place comes last."""
    words = f"{day(commit.time)} {commit.sha[:10]} {commit.author}  {commit.subject}"
    return f"{words} ({commit.place})" if commit.ahead else f"{commit.place} {words}"


def author(record: Any) -> str:
    """Return who wrote something: actor and agent, as in `agent codex`."""
    return f"{record.actor} {record.agent}".strip()


def last_change(record: Any) -> str:
    """Return `, changed by person`; empty when it is unchanged since it was written."""
    return f", changed by {record.changed_by} {record.changed_agent}".rstrip() if record.changed_by else ""


def forgotten(by: Forgetting) -> str:
    """Return who forgot something, when and why."""
    who = {"person": "you", "import": "the import"}.get(by.actor) or f"{by.actor} {by.agent}".rstrip()
    when = f" at {local_minute(by.time)}" if by.time else ""
    return f"forgotten by {who}{when}{f': {by.reason}' if by.reason else ''}"


def entry_marks(entry: Entry) -> list[str]:
    """Return what sets an entry apart, each in a word or two."""
    marks = {
        "pinned": entry.pinned, "never recalled": entry.never_recall, "held": entry.held, "not approved": entry.unapproved,
        "user": entry.scope == "user",
    }  # fmt: skip
    return [mark for mark, is_so in marks.items() if is_so]


def proposal_fields(one: Proposal) -> dict[str, Any]:
    """Return an agent's proposal about an entry or an episode by the names of the narrator's proposals."""
    entry = one.after
    return {
        "action": one.kind,
        "text": entry.content if entry is not None else one.words,
        "why": one.reason,
        "scope": entry.scope if entry is not None else "project",
        "state": "waiting",
        "confidence": None,
        "proposed_by": one.agent or "an agent",
    }
