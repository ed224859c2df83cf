"""Proposals from facts with sufficient confidence: their targets, and related known facts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cm_tui.counts import count
from cm_tui.engine.memory.narrator import confidence, targets, weighing
from cm_tui.engine.memory.narrator.confidence import Candidate, Tally, day_of
from cm_tui.engine.memory.narrator.known import ExistingFacts
from cm_tui.engine.memory.narrator.tables import NarratorTables, id_of
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import ConfidencePart, FactKind, NarratedProposal, Topic

if TYPE_CHECKING:
    from cm_tui.engine.memory.narrator.stale_facts import Code

_DONE: Mapping[FactKind, str] = {
    "command": "Run", "workflow": "Done in this order", "fix": "Helped", "statement": "Said", "decision": "Decided",
    "rejected": "Turned down", "correction": "Corrected", "cochange": "Changed together", "convention": "Done so",
}  # fmt: skip
_OTHERWISE: Mapping[FactKind, str] = {
    "command": "it failed in {}", "workflow": "one of them was run differently in {}", "fix": "the error occurred without it in {}",
    "cochange": "one was changed without the others in {}", "convention": "it was done differently in {}",
}  # fmt: skip
"""Words for contradictions of a habit."""


def why(kind: FactKind, tally: Tally) -> str:
    """Return the evidence of a fact, such as `Said in 3 sessions between 2 Mar and 9 Apr 2026`."""
    done = _DONE.get(kind, "Seen")
    where = count(tally.sessions, "session")
    if tally.support > tally.sessions:
        where = f"{count(tally.support, 'episode')} of {where}"
    words = f"{done} in {where} {_when(tally.first, tally.last)}"
    if tally.opposed:
        episodes = count(tally.opposed, "episode")
        said = f"{episodes} {'disagrees' if tally.opposed == 1 else 'disagree'}"
        words += f"; {_OTHERWISE[kind].format(episodes) if kind in _OTHERWISE else said}"
        words += f", the last on {day_of(tally.last_opposed)}" if tally.last_opposed else ""
    return f"{words}."


def _when(first: float, last: float) -> str:
    begin, end = day_of(first), day_of(last)
    if begin == end:
        return f"on {end}"
    if begin[-4:] == end[-4:]:
        begin = begin[:-5]
    return f"between {begin} and {end}"


_RULES = frozenset({"statement", "correction", "rejected"})
"""Kinds of instructions."""
_RUN = frozenset({"command", "workflow", "fix"})
"""Kinds whose code is commands."""
Sure = tuple[Candidate, float, tuple[ConfidencePart, ...]]
"""A fact, how sure it is, and the parts that this is the product of."""


@dataclass(frozen=True, slots=True)
class FactProposal:
    """A proposal, and the facts that it was made from."""

    proposal: NarratedProposal
    groups: tuple[int, ...] = ()
    """None: it was made from none."""


def sure_facts(
    tables: NarratorTables,
    least: float,
    missing: Callable[[str], str],
    code: Callable[[], Code | None],
    checked: dict[Any, str],
) -> list[Sure]:
    """Return the facts with sufficient confidence that the code does not contradict: those are history.

    `least`: minimum confidence. `missing`: returns the first command in a text that the project no longer has; works
    without an index. `code`: makes the lookup of names, if any is new; None: the code is unknown. `checked`: results so far.
    """
    found: list[Sure] = []
    for one in weighing.candidates(tables, least):
        sure, parts = confidence.of(one.kind, one.tally, time.time())
        is_there = one.kind not in _RUN or not missing(one.text)
        # Old recordings were redacted by earlier patterns.
        if sure >= least and is_there and redact(one.text).text == one.text:
            found.append((one, sure, parts))
    new = {_key(one): one for one, _, _ in found if _key(one) not in checked}
    if new and (lookup := code()) is not None:
        checked.update(zip(new, lookup.contradictions(list(new.values())), strict=True))
    return [each for each in found if not checked.get(_key(each[0]))]


def proposals(sure: Sequence[Sure], known: ExistingFacts, topics: Sequence[Topic]) -> list[FactProposal]:
    """Return facts as proposals. `topics`: of the project and of its user."""
    found: dict[str, FactProposal] = {}
    standing = known.relations([one for one, _, _ in sure])
    for (one, value, parts), (relation, other, place) in zip(sure, standing, strict=True):
        target = targets.target_of(one, topics)
        group = weighing.key_of(one)
        proposal = NarratedProposal(
            id=id_of(group, taken=found), kind=one.kind, action="add", text=one.text, why=why(one.kind, one.tally),
            scope=target.scope, target=target.note_id, heading=target.heading, relation=relation, other=other,
            other_place=place, support=one.tally.support, sessions=one.tally.sessions, first=one.tally.first,
            last=one.tally.last, confidence=round(value, 4), parts=parts,
            as_rule=one.kind in _RULES, topics=(target.note_id,) if "/topics/" in target.note_id else (),
            tags=target.tags, evidence_ids=one.episodes, claims=one.claims,
        )  # fmt: skip
        found[proposal.id] = FactProposal(proposal, (group,))
    return list(found.values())


def _key(one: Candidate) -> tuple[str, str, int]:
    return one.kind, one.text, int(one.tally.first)
