"""Checks before a decision: which proposal is named, and whether the options fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cm_tui.engine.memory.episodes.narrated_undo import DecisionBack
from cm_tui.engine.memory.narrator.facts import Made
from cm_tui.engine.memory.narrator.note_lines import said_by
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import NarratedDecision, NarratedProposal
from cm_tui.model.text import one_line

_REASON_CHARACTERS = 500
_SHOWN = 300
"""Characters of a text to show with another."""


def named(known: Mapping[str, Made], name: str) -> Made:
    """Return a proposal by its id or a prefix of it.

    Raises NotFoundError if no proposal has that name; UsageError if the name is ambiguous.
    """
    if name in known:
        return known[name]
    shown = name[:40].encode("ascii", "backslashreplace").decode()
    if len(name) == 1:
        raise UsageError(f"{shown!r} is too short for an id.", hint="`cm proposals list` lists them.")
    found = [made for id_, made in known.items() if name and id_.startswith(name)]
    if not found:
        raise NotFoundError(f"There is no proposal {shown}.", hint="`cm proposals list` lists them.")
    if len(found) > 1:
        ids = ", ".join(made.proposal.id for made in found[:5])
        raise UsageError(f"{shown!r} is more than one proposal: {ids}.", hint="Give more of its id.")
    return found[0]


def checked(names: Sequence[str], decision: NarratedDecision) -> NarratedDecision:
    """Return a decision with its reason in one line.

    Raises UsageError if no name is given, or the options conflict.
    """
    if not names:
        raise UsageError("No proposal is named.", hint="`cm proposals` lists them.")
    if decision.text is not None and len(names) > 1:
        raise UsageError("A text is for one proposal.", hint="Name one.")
    given = decision.text is not None or decision.target or decision.as_rule
    if decision.verdict != "approve" and given:
        raise UsageError("Only an approval takes a text, a note or a Rule.", hint="Approve it instead.")
    if decision.as_rule and decision.target:
        raise UsageError("A Rule is not in a note.", hint="Omit the note, or the Rule.")
    if decision.text is not None:
        said_by(decision.text)
    reason = " ".join(one_line(redact(decision.reason).text).split())
    return replace(decision, reason=reason[:_REASON_CHARACTERS])


def may_be(one: NarratedProposal) -> bool:
    """Return whether any policy may approve it: some decisions are always the user's."""
    return one.action == "add" and one.scope != "user" and one.relation != "contradicts" and not one.proposed_by


def conflict_words(back: DecisionBack) -> str:
    """Return the message for a later change of the written text."""
    one = back.conflicts[0]
    then = f"“{_short(one.yours)}” was written" if one.yours else "another text was written"
    return f"{one.id} was changed since: {then}, and “{_short(one.now)}” is there now; nothing was changed"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
