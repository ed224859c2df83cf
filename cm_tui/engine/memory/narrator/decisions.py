"""Decisions on proposals, from the events of the journal: the last one that is not undone.

The text of a proposal and the decision on it are separate events.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, cast, get_args

from pydantic import TypeAdapter, ValidationError

from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.projection.narrated import DECIDED, STANDS_ON, WORDED
from cm_tui.model import NarratedDecision, NarratedProposal, NarratedState, Verdict
from cm_tui.model.author import Author
from cm_tui.model.text import one_line

STATES: Mapping[str, NarratedState] = {"approve": "approved", "reject": "rejected", "defer": "deferred"}
"""State of a proposal by verdict."""
_POLICY = "policy "
_LONGEST_BY = 80
_ROWS = """
SELECT change, kind, time, data, undone FROM narrator_event WHERE kind IN (?, ?) ORDER BY event, kind DESC
"""
_MOST = 1_000
"""Items of a list in an event."""
_STAMP = "SELECT count(*), coalesce(max(event), 0), count(*) FILTER (undone) FROM narrator_event"
_SHOWN = (
    "kind", "action", "text", "why", "scope", "target", "heading", "relation", "other", "other_place", "support",
    "sessions", "first", "last", "confidence", "parts", "as_rule", "old", "topics", "tags", "evidence_ids", "proposed_by",
    "claims", "phrased_by",
)  # fmt: skip
"""Fields of a proposal that an event contains: no state, and no quotes."""
_PART = ("name", "value", "words")


@dataclass(frozen=True)
class Decision:
    """The decision on one proposal."""

    change: str
    proposal: str
    """Its id."""
    state: NarratedState
    time: float
    data: Mapping[str, Any]
    """Of the event that decided."""
    shown: NarratedProposal | None
    """As it was decided on; None: its words are in no journal any more."""

    @property
    def by(self) -> str:
        """Return who decided: `person`, or `policy NAME`."""
        return one_line(_text(self.data, "by"))[:_LONGEST_BY] or "person"

    @property
    def claims(self) -> frozenset[str]:
        """Return the digests of all wordings that it is about."""
        claims = self.data.get("claims")
        return frozenset(one for one in claims if isinstance(one, str)) if isinstance(claims, list) else frozenset()

    def applied_to(self, live: NarratedProposal | None) -> NarratedProposal | None:
        """Return the proposal as decided on, with its current counts.

        `live`: the current proposal; None: it would not be proposed now.
        """
        # Without words in any journal, the decision alone tells what it was about.
        without_words = {**self.data, "text": "", "evidence_ids": self.data.get("ids", ())}
        base = self.shown or live or read_shown(self.proposal, without_words)
        if base is None:
            return None
        if live is not None:
            base = replace(
                base, support=live.support, sessions=live.sessions, first=live.first, last=live.last,
                confidence=live.confidence, parts=live.parts, evidence_ids=live.evidence_ids or base.evidence_ids,
            )  # fmt: skip
        return replace(
            base, id=self.proposal, state=self.state, reason=_text(self.data, "reason"), decided=self.time,
            decided_by=self.by, change=self.change if self.state == "approved" else "", digest="", problem="",
        )  # fmt: skip


class Open(NamedTuple):
    """A decision that was begun: its process was killed, or is still at work."""

    change: str
    proposal: str
    data: Mapping[str, Any]
    """Of the event that has the words."""


@dataclass
class Decided:
    """All decisions of a project that count."""

    by_proposal: dict[str, Decision] = field(default_factory=dict)
    by_claim: dict[str, Decision] = field(default_factory=dict)
    open: list[Open] = field(default_factory=list)
    taken_from_policies: set[str] = field(default_factory=set)
    """Digests of claims that a policy approved and the user undid."""

    def of(self, proposal: NarratedProposal) -> Decision | None:
        """Return the decision on a proposal in any wording; None: none, or deferred and there is new evidence."""
        named = [self.by_proposal.get(proposal.id), *(self.by_claim.get(claim) for claim in proposal.claims)]
        found = max((one for one in named if one is not None), key=lambda one: one.time, default=None)
        if found is not None and found.state == "deferred" and proposal.last > found.time:
            return None
        return found

    def add(self, decision: Decision) -> None:
        """Take in a later decision."""
        self._end_deferral(decision)
        self.by_proposal[decision.proposal] = decision
        self.by_claim.update(dict.fromkeys(decision.claims, decision))

    def undo(self, decision: Decision) -> None:
        """Apply the undoing of a decision: proposals that it deferred wait again, too."""
        self._end_deferral(decision)
        if decision.by.startswith(_POLICY):
            self.taken_from_policies |= decision.claims

    def _end_deferral(self, decision: Decision) -> None:
        earlier = [self.by_proposal.get(decision.proposal), *(self.by_claim.get(one) for one in decision.claims)]
        for one in earlier:
            if one is not None and one.state == "deferred":
                self.by_proposal.pop(one.proposal, None)
                for claim in one.claims:
                    if self.by_claim.get(claim) is one:
                        del self.by_claim[claim]


class Decisions:
    """The decisions of a project, from the tables of episodes. `tables`: up to date with the journal."""

    def __init__(self, tables: EpisodeTables) -> None:
        self._tables = tables
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, ...], Decided] | None = None
        self._state: tuple[Any, ...] | None = None
        """State of the tables when these were read."""

    def now(self) -> Decided:
        """Return the current decisions; the object is shared and must not be changed."""
        state = self._tables.state()
        with self._lock:
            if self._read is None or self._state != state:
                stamp = self._tables.row(_STAMP)
                if self._read is None or self._read[0] != stamp:
                    self._read = stamp, _decided(self._tables.rows(_ROWS, [DECIDED, WORDED]))
                self._state = state
            return self._read[1]


def _decided(rows: Iterable[Sequence[Any]]) -> Decided:
    found, words = Decided(), dict[str, Open]()
    told: set[str] = set()
    for change, kind, time, text, undone in rows:
        data = object_in(text)
        name = _text(data, "proposal")
        if kind == WORDED:
            words[change] = Open(change, name, data)
            if undone:
                told.add(change)
            continue
        told.add(change)
        state = STATES.get(_text(data, "verdict"))
        if state is None or not name:
            continue
        shown = read_shown(name, words[change].data.get("shown")) if change in words else None
        one = Decision(change, name, state, float(time), data, shown)
        (found.undo if undone else found.add)(one)
    found.open = [one for change, one in words.items() if change not in told]
    return found


# --- events ---


def worded(change: str, proposal: NarratedProposal, decision: NarratedDecision, by: str) -> dict[str, Any]:
    """Return the event data with a proposal's text, and the decision.

    `proposal`: as decided on, with the user's text and note; `by`: `person`, or `policy NAME`.
    """
    shown = {name: getattr(proposal, name) for name in _SHOWN}
    shown["parts"] = [(one.name, one.value, one.words) for one in proposal.parts]
    return {
        "change": change, "proposal": proposal.id, "shown": shown, "verdict": decision.verdict,
        "as_rule": decision.as_rule, "reason": decision.reason, "by": by, STANDS_ON: list(proposal.evidence_ids),
    }  # fmt: skip


def decided(
    change: str, proposal: NarratedProposal, decision: NarratedDecision, by: str, writer: Author, done: Mapping[str, str]
) -> dict[str, Any]:  # fmt: skip
    """Return the event data of a decision, without any text of the proposal.

    `by`: `person`, or `policy NAME`; `writer`: who decided; `done`: what was written: `line`, `made`, or `entry`,
    `entry_scope`, `entry_digest`.
    """
    return {
        "change": change, "proposal": proposal.id, "verdict": decision.verdict, "by": by, "reason": decision.reason,
        "actor": writer.actor, "claims": list(proposal.claims), "ids": list(proposal.evidence_ids),
        "kind": proposal.kind, "action": proposal.action, "scope": proposal.scope, "target": proposal.target, **done,
    }  # fmt: skip


def read_worded(name: str, data: Mapping[str, Any]) -> tuple[NarratedProposal, NarratedDecision, str] | None:
    """Return the proposal, the decision and who decided, from the event with the text; None: malformed."""
    shown, verdict = read_shown(name, data.get("shown")), data.get("verdict")
    if shown is None or verdict not in get_args(Verdict):
        return None
    decision = NarratedDecision(cast("Verdict", verdict), _text(data, "reason"), as_rule=data.get("as_rule") is True)
    return shown, decision, _text(data, "by")


def read_shown(id_: str, data: object) -> NarratedProposal | None:
    """Return the proposal in event data without its malformed parts; None: it has no text, target, kind or action."""
    if not isinstance(data, Mapping):
        return None
    found = {"id": id_, **{name: data[name] for name in _SHOWN if name in data and _is_bounded(data[name])}}
    if isinstance(parts := found.get("parts"), list):
        found["parts"] = [dict(zip(_PART, one, strict=False)) for one in parts if isinstance(one, list)]
    for _ in range(2):
        try:
            return _adapter().validate_json(json.dumps(found), strict=True)
        except ValidationError as error:
            wrong = {one["loc"][:2] for one in error.errors()}
        for name in {str(place[0]) for place in wrong}:
            value = found.pop(name, None)
            if isinstance(value, list) and (name,) not in wrong:
                found[name] = [one for at, one in enumerate(value) if (name, at) not in wrong]
    return None


def _is_bounded(value: object) -> bool:
    """Return whether a value is no number or list of absurd size: anyone may have written the event."""
    return not (isinstance(value, int | float) and not abs(value) < 1e15) and not (
        isinstance(value, list) and len(value) > _MOST
    )


def object_in(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is; empty: it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@cache
def _adapter() -> TypeAdapter[NarratedProposal]:
    return TypeAdapter(NarratedProposal)


def _text(data: Mapping[str, Any], name: str) -> str:
    found = data.get(name)
    return found if isinstance(found, str) else ""
