"""Effects of approval: a line of a note, a Rule, or a change of topics, each recorded as usual for its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_events import CHANGED as ENTRY_CHANGED
from cm_tui.engine.memory.entries.entry_events import ids_told
from cm_tui.engine.memory.entries.entry_record import digest
from cm_tui.engine.memory.entries.entry_text import changed_by
from cm_tui.engine.memory.entries.ledger import RULE
from cm_tui.engine.memory.episodes import narrated_undo
from cm_tui.engine.memory.episodes.narrated_undo import DecisionBack
from cm_tui.engine.memory.narrator import topic_changes
from cm_tui.engine.memory.narrator.decision_events import read_shown
from cm_tui.engine.memory.narrator.decisions import Decision, Open
from cm_tui.engine.memory.narrator.line_changes import ACTIONS, LineChanges
from cm_tui.engine.memory.notes.note_saves import CHANGED as NOTE_CHANGED
from cm_tui.engine.memory.notes.topic_events import CHANGED as TOPIC_CHANGED
from cm_tui.engine.memory.projection.narrated import STANDS_ON
from cm_tui.engine.platform.journal.event import Event
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import EPISODES, NarratedDecision, NarratedProposal, Scope
from cm_tui.model.author import Author

WRITES = frozenset({NOTE_CHANGED, ENTRY_CHANGED, TOPIC_CHANGED})
"""Kinds of events of these writes."""
_SOURCES = 20
"""Episodes that a Rule names."""


class Done(NamedTuple):
    """Result of a write.

    Attributes:
        words: for the user.
        data: for the event of the decision.
    """

    words: str
    data: Mapping[str, str]


def check(proposal: NarratedProposal, lines: LineChanges, decision: NarratedDecision) -> str:
    """Check that a proposal can be written; return the digest of its effect on the note, if it is about a line.

    `proposal`: in its final form; `decision`: how to write it. Raises UsageError if it is not a Rule; RefusedError if
    its target cannot be changed.
    """
    if decision.as_rule:
        if proposal.action != "add" or not (proposal.as_rule or decision.text is not None):
            raise UsageError(
                f"{proposal.id} is not an instruction, so it cannot be a Rule.",
                hint="Approve it as a line, or give the Rule: --text TEXT --as-rule.",
            )
        return ""
    if proposal.action not in ACTIONS:
        return ""
    look = lines.look(proposal)
    if look.problem:
        raise RefusedError(look.problem)
    return look.digest


def write(
    root: Path, lines: LineChanges, proposal: NarratedProposal, decision: NarratedDecision, writer: Author, change: str, *,
    shown: str = "", told: Sequence[Event] = (),
) -> Done:  # fmt: skip
    """Write a proposal; earlier writes of the same change are not repeated.

    `proposal`: in its final form. `decision`: how to write it. `writer`: who approved it. `shown`: digest of the
    expected effect; empty: any. Raises UsageError if its target was changed so that it does not apply; RefusedError if
    it may not be written; StoreError if it cannot be written.
    """
    more: dict[str, Any] = {"change": change, "narrated": proposal.id}
    if proposal.evidence_ids:
        more[STANDS_ON] = list(proposal.evidence_ids)
    if decision.as_rule:
        return _rule(Entries(root), proposal, writer, more, told)
    if proposal.action not in ACTIONS:
        done = topic_changes.apply(root, proposal, writer, more, shown)
        return Done(f"approved: {done.words}", {})
    is_begun = any(event.kind == NOTE_CHANGED for event in told)
    wrote = lines.write(proposal, shown, writer, more, is_begun=is_begun)
    return Done(f"approved: {wrote.words}", {"line": wrote.line, "made": wrote.made})


def topic_digest(root: Path, proposal: NarratedProposal) -> str:
    """Return what names what approving a proposal about topics would do now."""
    return topic_changes.preview(root, proposal).digest


def take_back(
    root: Path, decision: Decision, events: Sequence[Event], undone: Callable[[], Sequence[Event]]
) -> DecisionBack:
    """Undo what a decision wrote.

    `events`: all events of the same change that are still in the journal; `undone`: returns the events that wrote lines
    of undone decisions, the newest first. Raises UsageError if it cannot be undone; CmError if a note or a file of
    entries cannot be read or written.
    """
    shown = decision.shown
    words = {} if shown is None else {"said": shown.text, "back": shown.old}
    return narrated_undo.take_back(root, decision.data, events, words=words, undone=undone)


def begun(one: Open) -> tuple[NarratedProposal, NarratedDecision, str] | None:
    """Return the proposal, decision and author of a begun decision; None: its event is invalid."""
    shown = read_shown(one.proposal, one.data.get("shown"))
    if shown is None or one.data.get("verdict") != "approve":
        return None
    reason, by = one.data.get("reason"), one.data.get("by")
    is_rule = one.data.get("as_rule") is True
    decision = NarratedDecision("approve", reason if isinstance(reason, str) else "", as_rule=is_rule)
    return shown, decision, by if isinstance(by, str) else ""


# --- parts ---


def _rule(
    entries: Entries, proposal: NarratedProposal, writer: Author, more: Mapping[str, Any], told: Sequence[Event]
) -> Done:
    """Write a Rule that counts as approved: the narrator found it, and the user let it be written."""
    scope: Scope = "user" if proposal.scope == "user" else "project"
    draft = entries.draft(proposal.text, Author("narrator"), category=RULE, keywords=proposal.tags, scope=scope)
    sources = tuple(f"{EPISODES}/{id_}" for id_ in proposal.evidence_ids[:_SOURCES])
    made, notes = entries.add_new(
        changed_by(replace(draft, made_from=sources), writer), writer, approves=True, more=more
    )
    if made.again and made.unapproved:
        raise UsageError(
            f"The Rule {made.id} exists already, and waits for approval.", hint=f"`cm entries approve {made.id}`"
        )
    # A process that was killed later had written it.
    is_own = not made.again or any(made.id in ids_told(event) for event in told)
    words = f"wrote the Rule {made.id}" if is_own else f"the Rule {made.id} exists already"
    said = {"entry": made.id, "entry_scope": made.scope, "entry_digest": digest(made)}
    return Done("; ".join((f"approved: {words}", *notes)), said if is_own else {})
