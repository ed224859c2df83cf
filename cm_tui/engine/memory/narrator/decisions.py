"""Decisions on proposals, from the events of the journal: the last one that is not undone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.narrator.decision_events import read_shown, without_words
from cm_tui.engine.memory.projection.narrated import DECIDED, WORDED
from cm_tui.model import NarratedProposal, NarratedState
from cm_tui.model.text import one_line

STATES: Mapping[str, NarratedState] = {"approve": "approved", "reject": "rejected", "defer": "deferred"}
"""State of a proposal by verdict."""
_POLICY = "policy "
_LONGEST_BY = 80
_ROWS = """
SELECT change, kind, time, data, undone FROM narrator_event WHERE kind IN (?, ?) ORDER BY event, kind DESC
"""
_STAMP = "SELECT count(*), coalesce(max(event), 0), count(*) FILTER (undone) FROM narrator_event"


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
    def is_by_policy(self) -> bool:
        """Return whether no person decided."""
        return self.by.startswith(_POLICY)

    @property
    def claims(self) -> frozenset[str]:
        """Return the digests of all wordings that it is about."""
        claims = self.data.get("claims")
        return frozenset(one for one in claims if isinstance(one, str)) if isinstance(claims, list) else frozenset()

    def laid_on(self, live: NarratedProposal | None) -> NarratedProposal | None:
        """Return the proposal as decided on, with its current counts.

        `live`: the current proposal; None: it would not be proposed now.
        """
        base = self.shown or live or without_words(self.proposal, self.data)
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


@dataclass(frozen=True)
class Open:
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

    def may_be_approved_unasked(self, proposal: NarratedProposal) -> bool:
        """Return whether the user has not undone a policy's approval of the same."""
        return self.taken_from_policies.isdisjoint(proposal.claims)

    def add(self, decision: Decision) -> None:
        """Take in a later decision."""
        self._end_deferral(decision)
        self.by_proposal[decision.proposal] = decision
        self.by_claim.update(dict.fromkeys(decision.claims, decision))

    def undo(self, decision: Decision) -> None:
        """Apply the undoing of a decision: proposals that it deferred wait again, too."""
        self._end_deferral(decision)
        if decision.is_by_policy:
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

    def stamp(self) -> tuple[int, ...]:
        """Return a change stamp of all decisions."""
        return tuple(self._tables.row(_STAMP))

    def now(self) -> Decided:
        """Return the current decisions; the object is shared and must not be changed."""
        stamp = self.stamp()
        with self._lock:
            if self._read is None or self._read[0] != stamp:
                self._read = stamp, _decided(self._tables.rows(_ROWS, [DECIDED, WORDED]))
            return self._read[1]


# --- parts ---


def _decided(rows: Iterable[Sequence[Any]]) -> Decided:
    found, words = Decided(), dict[str, Open]()
    told: set[str] = set()
    for change, kind, time, text, undone in rows:
        data = _data(text)
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


def _data(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(data: Mapping[str, Any], name: str) -> str:
    found = data.get(name)
    return found if isinstance(found, str) else ""
