"""Proposals in events of the journal: their texts are separate from the decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast, get_args

from cm_tui.engine.memory.projection.narrated import STANDS_ON
from cm_tui.model import ConfidencePart, FactKind, NarratedAction, NarratedDecision, NarratedProposal, Relation, Verdict
from cm_tui.model.author import Author

_TEXTS = (
    "text", "why", "target", "heading", "other", "other_place", "old", "proposed_by", "phrased_by",
)  # fmt: skip
_LISTS = ("topics", "tags", "evidence_ids", "claims")
_COUNTS = ("support", "sessions")
_NUMBERS = ("first", "last", "confidence")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": get_args(FactKind), "action": get_args(NarratedAction), "relation": get_args(Relation),
    "scope": ("user", "project", "topic"),
}  # fmt: skip
_SAID = frozenset((*_TEXTS, *_LISTS, *_COUNTS, *_NUMBERS, *_CHOICES, "as_rule"))
_MOST = 1_000
"""Parts of a list, of an event that anybody may have written."""


def worded(change: str, proposal: NarratedProposal, decision: NarratedDecision, by: str) -> dict[str, Any]:
    """Return the event data with a proposal's text, and the decision.

    `proposal`: as decided on, with the user's text and note; `by`: `person`, or `policy NAME`.
    """
    return {
        "change": change,
        "proposal": proposal.id,
        "shown": shown_data(proposal),
        "verdict": decision.verdict,
        "as_rule": decision.as_rule,
        "reason": decision.reason,
        "by": by,
        STANDS_ON: list(proposal.evidence_ids),
    }


def decided(
    change: str,
    proposal: NarratedProposal,
    decision: NarratedDecision,
    by: str,
    writer: Author,
    done: Mapping[str, str],
) -> dict[str, Any]:
    """Return the event data of a decision, without any text of the proposal.

    `by`: `person`, or `policy NAME`; `writer`: who decided; `done`: what was written: `line`, `made`, or `entry`,
    `entry_scope`, `entry_digest`.
    """
    return {
        "change": change,
        "proposal": proposal.id,
        "verdict": decision.verdict,
        "by": by,
        "reason": decision.reason,
        "actor": writer.actor,
        "claims": list(proposal.claims),
        "ids": list(proposal.evidence_ids),
        "kind": proposal.kind,
        "action": proposal.action,
        "scope": proposal.scope,
        "target": proposal.target,
        **done,
    }


def shown_data(proposal: NarratedProposal) -> dict[str, Any]:
    """Return a proposal as JSON can hold it, without its state and without quotes."""
    said = {name: getattr(proposal, name) for name in _SAID}
    lists = {name: list(said[name]) for name in _LISTS}
    return {**said, **lists, "parts": [[one.name, one.value, one.words] for one in proposal.parts]}


def read_shown(id_: str, data: object) -> NarratedProposal | None:
    """Return the proposal in event data; None: invalid, as a journal may contain anything."""
    if not isinstance(data, Mapping):
        return None
    found: dict[str, Any] = {name: data[name] for name in _TEXTS if isinstance(data.get(name), str)}
    found |= {name: _texts(data.get(name)) for name in _LISTS}
    found |= {name: int(_number(data.get(name))) for name in _COUNTS}
    found |= {name: _number(data.get(name)) for name in _NUMBERS}
    found |= {name: data[name] for name, known in _CHOICES.items() if data.get(name) in known}
    if not found.keys() >= _NEEDED:
        return None
    parts = data.get("parts")
    return NarratedProposal(
        id=id_, state="waiting", digest="", as_rule=data.get("as_rule") is True,
        parts=tuple(_parts(parts)) if isinstance(parts, list) else (), **found,
    )  # fmt: skip


def read_worded(data: Mapping[str, Any]) -> tuple[NarratedProposal, NarratedDecision] | None:
    """Return the proposal and the decision in the data of an event; None: malformed."""
    name, verdict, reason = data.get("proposal"), data.get("verdict"), data.get("reason")
    shown = read_shown(name, data.get("shown")) if isinstance(name, str) else None
    if shown is None or not isinstance(verdict, str) or verdict not in get_args(Verdict):
        return None
    text = reason if isinstance(reason, str) else ""
    return shown, NarratedDecision(cast("Verdict", verdict), text, as_rule=data.get("as_rule") is True)


def without_words(id_: str, data: Mapping[str, Any]) -> NarratedProposal | None:
    """Return a decided proposal whose text is in no journal any more."""
    said = {**data, "relation": "new", **dict.fromkeys(("text", "why", "heading", "other", "other_place"), "")}
    said["evidence_ids"] = data.get("ids")
    return read_shown(id_, said)


# --- parts ---

_NEEDED = frozenset(("text", "target", "kind", "action", "relation", "scope")) | {
    one.name for one in fields(NarratedProposal) if one.name in ("why", "heading", "other", "other_place")
}


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else 0.0  # type: ignore[arg-type]


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value[:_MOST] if isinstance(one, str)) if isinstance(value, list) else ()


def _parts(value: list[Any]) -> list[ConfidencePart]:
    return [
        ConfidencePart(one[0], _number(one[1]), one[2])
        for one in value[:20]
        if isinstance(one, list) and len(one) == 3 and isinstance(one[0], str) and isinstance(one[2], str)
    ]
