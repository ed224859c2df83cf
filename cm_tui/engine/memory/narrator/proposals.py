"""Proposals and their decisions: facts, agents' proposals, contradicted notes, the lifecycle of topics."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from cm_tui.config import Config
from cm_tui.engine.memory.episodes.changes import CONFIRMED
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.narrator import facts, lifecycle, line_changes, stale_facts, weighing
from cm_tui.engine.memory.narrator.agent_proposals import AgentProposals, candidate_of
from cm_tui.engine.memory.narrator.decisions import Decisions
from cm_tui.engine.memory.narrator.facts import FactProposal
from cm_tui.engine.memory.narrator.grouping import Embed
from cm_tui.engine.memory.narrator.known import ExistingFacts
from cm_tui.engine.memory.narrator.mining import quotes
from cm_tui.engine.memory.narrator.pass_run import drop_invisible
from cm_tui.engine.memory.narrator.phrasing import Phrasing
from cm_tui.engine.memory.narrator.reading import items_of
from cm_tui.engine.memory.narrator.tables import NarratorTables, Position
from cm_tui.engine.memory.narrator.topic_changes import preview
from cm_tui.engine.memory.narrator.topics import map_of
from cm_tui.engine.memory.recording.gate import why_not
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError
from cm_tui.model import Evidence, NarratedProposal, Topic

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
        sure = self._cached(
            "sure", key, lambda: facts.sure_facts(self._tables, least, parts.missing, self._code, checked)
        )
        key = (*key, sign)
        return key, self._cached("facts", key, lambda: _ordered(facts.proposals(sure, self._known, self._topics())))

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
