"""Proposals made of facts that are sure enough: where each would be written, and what stands beside it already."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cm_tui.engine.narrator import candidates, targets
from cm_tui.engine.narrator.candidate import Candidate
from cm_tui.engine.narrator.known import Known
from cm_tui.engine.narrator.proposal_words import why
from cm_tui.engine.narrator.tables import NarratorTables
from cm_tui.engine.redaction.redact import redact
from cm_tui.model import ConfidencePart, NarratedProposal, Topic

if TYPE_CHECKING:
    from cm_tui.engine.narrator.stale_facts import Code

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_ID_LETTERS = 6
_RULES = frozenset({"statement", "correction", "rejected"})
"""Kinds that say what is to be done or left."""
_RUN = frozenset({"command", "workflow", "fix"})
"""Kinds whose code is commands."""
_MOST_CHECKED = 20_000
_FRESH_S = 300.0
"""Facts are looked at anew after so long."""
_Sure = tuple[Candidate, float, tuple[ConfidencePart, ...]]
"""A fact, how sure it is, and the parts that this is the product of."""


@dataclass(frozen=True, slots=True)
class Made:
    """A proposal, and the facts that it was made from."""

    proposal: NarratedProposal
    groups: tuple[int, ...] = ()
    """None: it was made from none."""


class Facts:
    """What the facts of a project come to.

    Args:
        tables: what was seen.
        known: what is written down.
        missing: gives the first command of a text that the project no longer has; no index is needed for that.
    """

    def __init__(self, tables: NarratorTables, known: Known, missing: Callable[[str], str] = lambda _: "") -> None:
        self._tables = tables
        self._known = known
        self._missing = missing
        self._sure: tuple[Any, list[_Sure]] | None = None
        self._checked: dict[tuple[str, str, int], str] = {}
        """What the code says against facts, by what they say and since when."""
        self._stamp = ""

    def key(self, least: float, stamp: str) -> tuple[Any, ...]:
        """Return what differs when other facts are sure enough, or are contradicted.

        Args:
            least: confidence.
            stamp: of the index that tells what became of names.
        """
        # How sure a fact is grows old with it, and what the files of the project say leaves no other trace.
        return self._tables.position(), least, int(time.time() / _FRESH_S), stamp

    def made(self, least: float, stamp: str, topics: Sequence[Topic], code: Callable[[], Code | None]) -> list[Made]:
        """Return the facts that are sure enough, and that the code does not contradict, as proposals.

        Args:
            least: confidence.
            stamp: of the index that `code` tells of.
            topics: of the project and of its user.
            code: makes what tells what became of names; None: nothing is known of the code.
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
            # What was recorded long ago was redacted by the patterns of then.
            if sure >= least and redact(one.text).text == one.text:
                yield one, sure, parts

    def _not_contradicted(self, sure: list[_Sure], code: Code | None, stamp: str) -> list[_Sure]:
        """Leave out facts that name what is gone: they are history."""
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
    """Return the id of a fact, the same whenever it is made; of two that would have one, the other has more letters."""
    letters, rest = "n", group
    while len(letters) <= _ID_LETTERS or letters in taken:
        rest, number = divmod(rest, len(_LETTERS))
        letters += _LETTERS[number]
    return letters
