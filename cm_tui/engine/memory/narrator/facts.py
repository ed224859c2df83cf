"""Proposals from facts with sufficient confidence: their targets, and related known facts."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cm_tui.counts import count
from cm_tui.engine.memory.narrator import candidates, targets
from cm_tui.engine.memory.narrator.candidate import Candidate, Tally
from cm_tui.engine.memory.narrator.known import Known
from cm_tui.engine.memory.narrator.tables import NarratorTables
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import ConfidencePart, FactKind, NarratedProposal, Topic

if TYPE_CHECKING:
    from cm_tui.engine.memory.narrator.stale_facts import Code

_DONE: Mapping[FactKind, str] = {
    "command": "Run", "workflow": "Done in this order", "fix": "Helped", "statement": "Said", "decision": "Decided",
    "rejected": "Turned down", "correction": "Corrected", "cochange": "Changed together", "convention": "Done so",
}  # fmt: skip
_OTHERWISE: Mapping[FactKind, str] = {
    "command": "it failed in {}", "workflow": "one of them was run otherwise in {}", "fix": "the error came up otherwise in {}",
    "cochange": "one was changed without the others in {}", "convention": "it was done otherwise in {}",
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
        said = f"{episodes} {'says' if tally.opposed == 1 else 'say'} otherwise"
        words += f"; {_OTHERWISE[kind].format(episodes) if kind in _OTHERWISE else said}"
        words += f", the last on {_day(tally.last_opposed, year=True)}" if tally.last_opposed else ""
    return f"{words}."


def _when(first: float, last: float) -> str:
    begin, end = _day(first, year=True), _day(last, year=True)
    if begin == end:
        return f"on {end}"
    if begin[-4:] == end[-4:]:
        begin = begin[:-5]
    return f"between {begin} and {end}"


def _day(time: float, *, year: bool) -> str:
    try:
        day = dt.datetime.fromtimestamp(time).astimezone()
    except (OverflowError, OSError, ValueError):
        return "an unknown day"
    return f"{day.day} {day:%b}{f' {day.year}' if year else ''}"


_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_ID_LETTERS = 6
_RULES = frozenset({"statement", "correction", "rejected"})
"""Kinds of instructions."""
_RUN = frozenset({"command", "workflow", "fix"})
"""Kinds whose code is commands."""
_MOST_CHECKED = 20_000
_FRESH_S = 300.0
"""Facts are recomputed after so long."""
_Sure = tuple[Candidate, float, tuple[ConfidencePart, ...]]
"""A fact, how sure it is, and the parts that this is the product of."""


@dataclass(frozen=True, slots=True)
class Made:
    """A proposal, and the facts that it was made from."""

    proposal: NarratedProposal
    groups: tuple[int, ...] = ()
    """None: it was made from none."""


class Facts:
    """The facts of a project as proposals.

    `missing`: returns the first command in a text that the project no longer has; works without an index.
    """

    def __init__(self, tables: NarratorTables, known: Known, missing: Callable[[str], str] = lambda _: "") -> None:
        self._tables = tables
        self._known = known
        self._missing = missing
        self._sure: tuple[Any, list[_Sure]] | None = None
        self._checked: dict[tuple[str, str, int], str] = {}
        """Contradictions of facts by the code, by text and time."""
        self._stamp = ""

    def key(self, least: float, stamp: str) -> tuple[Any, ...]:
        """Return a change stamp of the selected and contradicted facts.

        `least`: minimum confidence; `stamp`: of the index with the results for names.
        """
        # Confidence decays with time, and changes in the project's files leave no other trace.
        return self._tables.position(), least, int(time.time() / _FRESH_S), stamp

    def made(self, least: float, stamp: str, topics: Sequence[Topic], code: Callable[[], Code | None]) -> list[Made]:
        """Return the facts with sufficient confidence that the code does not contradict, as proposals.

        `least`: minimum confidence. `stamp`: of the index behind `code`. `topics`: of the project and of its user.
        `code`: makes the lookup of names; None: the code is unknown.
        """
        key = self.key(least, stamp)
        if self._sure is None or self._sure[0] != key:
            self._sure = key, self._not_contradicted(list(self._sure_enough(least, time.time())), code(), stamp)
        _, sure = self._sure
        found: dict[str, Made] = {}
        standing = self._known.relations([one for one, _, _ in sure])
        for (one, confidence, parts), (relation, other, place) in zip(sure, standing, strict=True):
            target = targets.target_of(one, (), topics)
            group = candidates.key_of(one)
            proposal = NarratedProposal(
                id=_id_of(group, found), kind=one.kind, action="add", text=one.text, why=why(one.kind, one.tally),
                scope=target.scope, target=target.note_id, heading=target.heading, relation=relation, other=other,
                other_place=place, support=one.tally.support, sessions=one.tally.sessions, first=one.tally.first,
                last=one.tally.last, confidence=round(confidence, 4), parts=parts, state="waiting", digest="",
                as_rule=one.kind in _RULES, topics=(target.note_id,) if "/topics/" in target.note_id else (),
                tags=target.tags, evidence_ids=one.episodes, claims=one.claims,
            )  # fmt: skip
            found[proposal.id] = Made(proposal, (group,))
        return list(found.values())

    def _sure_enough(self, least: float, now: float) -> Iterator[_Sure]:
        for one in candidates.candidates(self._tables, least):
            sure, parts = candidates.how_sure(one.kind, one.tally, now)
            # Old recordings were redacted by earlier patterns.
            if sure >= least and redact(one.text).text == one.text:
                yield one, sure, parts

    def _not_contradicted(self, sure: list[_Sure], code: Code | None, stamp: str) -> list[_Sure]:
        """Drop facts that name removed things: they are history."""
        sure = [each for each in sure if each[0].kind not in _RUN or not self._missing(each[0].text)]
        if code is None:
            return sure
        if stamp != self._stamp or len(self._checked) > _MOST_CHECKED:
            self._checked, self._stamp = {}, stamp
        # Another thread may replace it when the index has changed.
        checked = self._checked
        new = {_key(one): one for one, _, _ in sure if _key(one) not in checked}
        checked.update(zip(new, code.contradictions(list(new.values())), strict=True))
        return [each for each in sure if not checked[_key(each[0])]]


def _key(one: Candidate) -> tuple[str, str, int]:
    return one.kind, one.text, int(one.tally.first)


def _id_of(group: int, taken: Mapping[str, object]) -> str:
    """Return the stable id of a fact; on a collision, the second one gets more letters."""
    letters, rest = "n", group
    while len(letters) <= _ID_LETTERS or letters in taken:
        rest, number = divmod(rest, len(_LETTERS))
        letters += _LETTERS[number]
    return letters
