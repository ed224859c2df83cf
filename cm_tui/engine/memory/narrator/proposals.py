"""Proposals and their decisions: facts with sufficient confidence, agents' proposals, contradicted notes, the lifecycle of topics."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cm_tui.config import Config
from cm_tui.counts import count
from cm_tui.engine.memory.episodes.changes import CONFIRMED
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.narrator import confidence, lifecycle, line_changes, stale_facts, targets, weighing
from cm_tui.engine.memory.narrator.agent_proposals import AgentProposals, candidate_of
from cm_tui.engine.memory.narrator.confidence import Candidate, Tally, day_of
from cm_tui.engine.memory.narrator.decisions import Decisions
from cm_tui.engine.memory.narrator.grouping import Embed
from cm_tui.engine.memory.narrator.known import ExistingFacts
from cm_tui.engine.memory.narrator.mining import items_of, quotes
from cm_tui.engine.memory.narrator.pass_run import drop_invisible
from cm_tui.engine.memory.narrator.phrasing import Phrasing
from cm_tui.engine.memory.narrator.tables import NarratorTables, Position, id_of
from cm_tui.engine.memory.narrator.topic_changes import preview
from cm_tui.engine.memory.narrator.topics import map_of
from cm_tui.engine.memory.recording.gate import why_not
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError
from cm_tui.model import ConfidencePart, Evidence, FactKind, NarratedProposal, Topic

if TYPE_CHECKING:
    from cm_tui.engine.memory.narrator.stale_facts import Code


# --- proposals from facts with sufficient confidence: their targets, and related known facts ---

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


# --- proposals and their decisions: facts, agents' proposals, contradicted notes, the lifecycle of topics ---

_EVIDENCE = 8
"""Episodes that a proposal shows, with quotes."""
_STALE_S, _FACTS_S, _TOPICS_S = 60.0, 300.0, 3_600.0
"""Results are recomputed after so long: files change without a trace, and confidence decays."""
T = TypeVar("T")


@dataclass(frozen=True)
class Parts:
    """Dependencies of the narrator."""

    root: Path
    db: Database
    episodes: Episodes
    config: Callable[[], Config]
    """The current settings."""
    embed: Embed
    on_written: Callable[[], object]
    """Called after notes or entries were changed: searches are to see it at once."""
    code: Callable[[], stale_facts.Code | None] = lambda: None
    """Returns the lookup for names of the code; None: the code is unknown."""
    missing: Callable[[str], str] = lambda _: ""
    """Returns the first command in backticks of a text that the project no longer has; empty: none."""


class Proposals:
    """The proposals of one project. `parts`: what the narrator is based on."""

    def __init__(self, parts: Parts, tables: NarratorTables) -> None:
        self._parts = parts
        self._tables = tables
        self._known = ExistingFacts(parts.root)
        self.decisions = Decisions(parts.episodes.tables)
        self.phrasing = Phrasing(tables, parts.config, self._evidence_of, partial(why_not, parts.root))
        self.agents = AgentProposals(
            parts.root, parts.episodes, self._topics, lambda one: self.decisions.now().of(one) is not None,
            lambda: [made.proposal for made in self.all()],
        )  # fmt: skip
        self.note = ""
        """Message on what could not be checked for the last result."""
        self.has_looked = False
        """Whether a pass was made before the last result."""
        self._let_go_at = ""
        self._computed: dict[str, tuple[Any, Any]] = {}
        """Results by name, each with what it depends on."""

    # --- including decided ones ---

    def all(self) -> list[FactProposal]:
        """Return proposals and decided ones: the surest first, then the last decision first."""
        live, decided = self.live(), self.decisions.now()
        waiting, done, laid = list[FactProposal](), list[FactProposal](), set[str]()
        for made in live:
            decision = decided.of(made.proposal)
            if decision is None:
                waiting.append(made)
            elif decision.change not in laid and (one := decision.applied_to(made.proposal)) is not None:
                laid.add(decision.change)
                done.append(replace(made, proposal=one))
        taken = {made.proposal.id for made in (*waiting, *done)}
        for decision in decided.by_proposal.values():
            if decision.change not in laid and decision.proposal not in taken:
                one = decision.applied_to(None)
                done += [FactProposal(one)] if one is not None else []
        done.sort(key=lambda made: (-(made.proposal.decided or 0.0), made.proposal.id))
        return [*self._with_preview(waiting), *done]

    def waiting(self) -> list[NarratedProposal]:
        """Return those that wait for the user, the surest first."""
        return [made.proposal for made in self.all() if made.proposal.state == "waiting"]

    def unphrased(self) -> list[NarratedProposal]:
        """Return the facts that wait, in the words of the miners."""
        decided = self.decisions.now()
        return [made.proposal for made in self._of_facts()[1] if decided.of(made.proposal) is None]

    def live(self) -> list[FactProposal]:
        """Return all current proposals, decided or not, the surest first."""
        facts_key, plain = self._of_facts()
        key = (facts_key, self.phrasing.stamp(), self._tables.state(), _turn(_STALE_S))
        return self._cached("live", key, lambda: self._live(plain, facts_key[-1]))

    def withdrawn(self, known: Collection[str]) -> Collection[str]:
        """Return the ids of earlier proposals that no longer exist. `known`: ids of those that do."""
        return self._tables.proposed_before().difference(known)

    def whole(self, made: FactProposal) -> NarratedProposal:
        """Return a proposal with its evidence and, if it can still be decided, the current effect of approving it."""
        one = replace(made.proposal, evidence=self.evidence(made))
        if one.state in ("approved", "rejected"):
            return one
        look = preview(self._parts.root, one)
        return replace(one, diff=look.diff, problem=look.problem, digest=look.digest)

    def evidence(self, made: FactProposal, most: int = _EVIDENCE) -> tuple[Evidence, ...]:
        """Return the newest episodes of a proposal's evidence, with their current words from the journal."""
        if not made.groups:
            found = self.agents.evidence(made.proposal, most)
            # The miners' wordings take no quotes of agents.
            return found if made.proposal.proposed_by else tuple(replace(one, quote="") for one in found)
        seen = [weighing.occurrences_of(self._tables, group) for group in made.groups]
        wordings = frozenset(fact for some, _ in seen for fact in some)
        seqs = list(dict.fromkeys(seq for _, some in seen for seq in some[:most]))
        items = sorted(items_of(self._tables, seqs), key=lambda item: -item.time)[:most]
        said = quotes(self._parts.episodes.journal.folder, items, wordings)
        sql = "SELECT seq, session, actor FROM episode WHERE seq IN (SELECT unnest(?::INTEGER[]))"
        about = {row[0]: row[1:] for row in self._tables.rows(sql, [[item.seq for item in items]])}
        shown = []
        for item in items:
            session, actor = about.get(item.seq, ("", "agent"))
            shown.append(Evidence(item.at.id, item.time, session, actor, redact(said.get(item.seq, "")).text))
        return tuple(shown)

    # --- parts ---

    def _cached(self, name: str, key: Any, make: Callable[[], T]) -> T:
        """Return a result, computed again only if what it depends on has changed."""
        found = self._computed.get(name)
        if found is None or found[0] != key:
            self._computed[name] = found = (key, make())
        result: T = found[1]
        return result

    def _of_facts(self) -> tuple[tuple[Any, ...], list[FactProposal]]:
        """Return what the facts depend on, and the facts as proposals, the surest first."""
        position = self._drop_forgotten()
        self.has_looked = bool(position.state)
        parts, least = self._parts, self._parts.config().narrator.min_confidence
        indexed, sign = parts.db.get_meta("indexed_at"), self._known.follow()
        key: tuple[Any, ...] = (position, least, indexed, _turn(_FACTS_S))
        checked = self._cached("checked", indexed, dict[Any, str])
        sure = self._cached("sure", key, lambda: sure_facts(self._tables, least, parts.missing, self._code, checked))
        key = (*key, sign)
        return key, self._cached("facts", key, lambda: _ordered(proposals(sure, self._known, self._topics())))

    def _live(self, plain: Sequence[FactProposal], sign: Any) -> list[FactProposal]:
        found = [*self._phrased(plain), *self._of_agents()]
        confirmed = self._tables.rows(
            "SELECT count(*), max(event) FROM change WHERE kind = ? AND NOT undone", [CONFIRMED]
        )
        key = (sign, self._parts.db.get_meta("indexed_at"), confirmed, _turn(_STALE_S))
        stale, self.note = self._cached("stale", key, self._stale)
        topics = self._cached("topics", (sign, _turn(_TOPICS_S)), lambda: lifecycle.proposals(self._parts.root))
        return _ordered([*found, *map(FactProposal, (*stale, *topics))])

    def _stale(self) -> tuple[list[NarratedProposal], str]:
        """Return lines of notes that the code contradicts, and a message where they are unknown."""
        try:
            code = self._parts.code()
            return ([] if code is None else stale_facts.proposals(self._parts.root, code)), ""
        except CmError as error:
            return [], f"Lines of notes were not checked against the code: {error.message}"

    def _code(self) -> stale_facts.Code | None:
        # Problems of the history are reported with the stale lines.
        with suppress(CmError):
            return self._parts.code()
        return None

    def _phrased(self, plain: Sequence[FactProposal]) -> list[FactProposal]:
        groups = {made.proposal.id: made.groups for made in plain}
        return [
            FactProposal(one, tuple(group for id_ in (one.id, *others) for group in groups.get(id_, ())))
            for one, others in self.phrasing.applied([made.proposal for made in plain])
        ]

    def _of_agents(self) -> list[FactProposal]:
        found = self.agents.all()
        standing = self._known.relations([candidate_of(one) for one in found])
        return [
            FactProposal(replace(one, relation=relation, other=other, other_place=place))
            for one, (relation, other, place) in zip(found, standing, strict=True)
        ]

    def _with_preview(self, waiting: Sequence[FactProposal]) -> list[FactProposal]:
        """Return proposals with what approving them would do now, named."""
        looks = line_changes.looks(self._parts.root, [made.proposal for made in waiting if made.proposal.is_line])
        return [
            replace(made, proposal=replace(made.proposal, digest=look.digest, problem=look.problem))
            if (look := looks.get(made.proposal.id)) is not None
            else made
            for made in waiting
        ]

    def _drop_forgotten(self) -> Position:
        """Remove episodes forgotten since the last pass from the evidence; return how far episodes were looked at."""
        is_part, position = self._parts.episodes.follow(), self._tables.position()
        state = "" if is_part else self._tables.state()
        if is_part or state in (position.state, self._let_go_at):
            return position
        drop_invisible(self._tables, self._parts.embed)
        self._let_go_at = state
        return self._tables.position()

    def _evidence_of(self, proposal: NarratedProposal) -> tuple[Evidence, ...]:
        made = next((one for one in self._of_facts()[1] if one.proposal.id == proposal.id), None)
        return () if made is None else self.evidence(made)

    def _topics(self) -> Sequence[Topic]:
        return map_of(self._parts.root).topics


def _turn(seconds: float) -> int:
    """Return the number of the current interval."""
    return int(time.time() / seconds)


def _ordered(found: Iterable[FactProposal]) -> list[FactProposal]:
    """Return proposals, the surest first, known facts last."""

    def order(made: FactProposal) -> tuple[Any, ...]:
        one = made.proposal
        return (one.relation == "redundant", -one.confidence, -one.support, one.id)

    return sorted(found, key=order)


def proposal_digests(proposals: Iterable[NarratedProposal]) -> dict[str, str]:
    """Return the digests of proposals by id, independent of the places of their notes."""
    fields = {one.id: (one.action, one.text, one.scope, one.target, one.heading, one.old) for one in proposals}
    return {
        id_: blake2b(json.dumps(said).encode("utf-8", "replace"), digest_size=4).hexdigest()
        for id_, said in fields.items()
    }
