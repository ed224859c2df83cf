"""Proposals and their decisions: facts, agents' proposals, contradicted notes, the lifecycle of topics."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any

from cm_tui.engine.memory.narrator import candidates
from cm_tui.engine.memory.narrator.agent_proposals import AgentProposals, candidate_of
from cm_tui.engine.memory.narrator.decisions import Decided, Decisions
from cm_tui.engine.memory.narrator.facts import Facts, Made
from cm_tui.engine.memory.narrator.known import Known
from cm_tui.engine.memory.narrator.line_changes import ACTIONS, LineChanges
from cm_tui.engine.memory.narrator.looking import quotes
from cm_tui.engine.memory.narrator.parts import Parts
from cm_tui.engine.memory.narrator.pass_run import let_go
from cm_tui.engine.memory.narrator.phrasing import Phrasing
from cm_tui.engine.memory.narrator.reading import items_of
from cm_tui.engine.memory.narrator.tables import NarratorTables
from cm_tui.engine.memory.narrator.topic_changes import preview
from cm_tui.engine.memory.narrator.upkeep import Upkeep
from cm_tui.engine.memory.recording.gate import why_not
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import Evidence, NarratedFilter, NarratedProposal, Topic

_EVIDENCE = 8
"""Episodes that a proposal shows, with quotes."""
_LOOK_S = 60.0
"""Lines that the code contradicts are looked for again after so long, as the code may have changed."""
_PATIENCE_S = 1.0


class Proposals:
    """The proposals of one project. `parts`: what the narrator is based on."""

    def __init__(self, parts: Parts, tables: NarratorTables) -> None:
        self._parts = parts
        self._tables = tables
        self._known = Known(parts.root, tables)
        self._facts = Facts(tables, self._known, parts.missing)
        self._upkeep = Upkeep(parts)
        self.decisions = Decisions(parts.episodes.tables)
        self.lines = LineChanges(parts.root)
        self.phrasing = Phrasing(tables, parts.config, self._evidence_of, partial(why_not, parts.root))
        self.agents = AgentProposals(
            parts.root, parts.episodes, self._topics, self._is_decided, lambda: [made.proposal for made in self.all()]
        )
        self.note = ""
        """Message on what could not be checked for the last result."""
        self._let_go_at = ""
        self._plain: tuple[Any, list[Made]] | None = None
        self._live: tuple[Any, list[Made]] | None = None

    # --- including decided ones ---

    def all(self) -> list[Made]:
        """Return proposals and decided ones: the surest first, then the last decision first."""
        live, decided = self.live(), self.decisions.now()
        waiting, done, laid = list[Made](), list[Made](), set[str]()
        for made in live:
            decision = decided.of(made.proposal)
            if decision is None:
                waiting.append(made)
            elif decision.change not in laid and (one := decision.laid_on(made.proposal)) is not None:
                laid.add(decision.change)
                done.append(replace(made, proposal=one))
        taken = {made.proposal.id for made in (*waiting, *done)}
        for decision in decided.by_proposal.values():
            if decision.change not in laid and decision.proposal not in taken:
                one = decision.laid_on(None)
                done += [Made(one)] if one is not None else []
        done.sort(key=lambda made: (-(made.proposal.decided or 0.0), made.proposal.id))
        return [*self._looked_at(waiting), *done]

    def waiting(self) -> list[NarratedProposal]:
        """Return those that wait for the user, the surest first."""
        return [made.proposal for made in self.all() if made.proposal.state == "waiting"]

    def unphrased(self) -> list[NarratedProposal]:
        """Return the facts that wait, in the words of the miners."""
        decided = self.decisions.now()
        return [made.proposal for made in self._of_facts() if decided.of(made.proposal) is None]

    def live(self) -> list[Made]:
        """Return all current proposals, decided or not, the surest first."""
        plain = self._of_facts()
        key = (
            self._plain and self._plain[0], self.phrasing.stamp(), self.decisions.stamp(), self._tables.state(),
            int(time.time() / _LOOK_S),
        )  # fmt: skip
        if self._live is None or self._live[0] != key:
            found, decided = [*self._phrased(plain), *self._of_agents()], self.decisions.now()
            waiting = [made.proposal for made in found if decided.of(made.proposal) is None]
            upkeep, self.note = self._upkeep.all(waiting, self._known.follow(_PATIENCE_S))
            found += map(Made, upkeep)
            self._live = key, sorted(found, key=lambda made: order(made.proposal))
        return self._live[1]

    def whole(self, made: Made) -> NarratedProposal:
        """Return a proposal with its evidence and, if it can still be decided, the current effect of approving it."""
        one = replace(made.proposal, evidence=self.evidence(made))
        if one.state in ("approved", "rejected"):
            return one
        if one.action in ACTIONS:
            look = self.lines.look(one)
            return replace(one, diff=look.diff, problem=look.problem, digest=look.digest)
        seen = preview(self._parts.root, one)
        return replace(one, diff=seen.diff, problem=seen.problem, digest=seen.digest)

    def evidence(self, made: Made, most: int = _EVIDENCE) -> tuple[Evidence, ...]:
        """Return the newest episodes of a proposal's evidence, with their current words from the journal."""
        if not made.groups:
            found = self.agents.evidence(made.proposal, most)
            # The miners' wordings take no quotes of agents.
            return found if made.proposal.proposed_by else tuple(replace(one, quote="") for one in found)
        seen = [candidates.seen_in(self._tables, group) for group in made.groups]
        facts = frozenset(fact for some, _ in seen for fact in some)
        seqs = list(dict.fromkeys(seq for _, some in seen for seq in some[:most]))
        items = sorted(items_of(self._tables, seqs), key=lambda item: -item.time)[:most]
        said = quotes(self._parts.episodes.journal.folder, items, facts)
        sql = "SELECT seq, session, actor FROM episode WHERE seq IN (SELECT unnest(?::INTEGER[]))"
        about = {row[0]: row[1:] for row in self._tables.rows(sql, [[item.seq for item in items]])}
        shown = []
        for item in items:
            session, actor = about.get(item.seq, ("", "agent"))
            shown.append(Evidence(item.at.id, item.time, session, actor, redact(said.get(item.seq, "")).text))
        return tuple(shown)

    # --- parts ---

    def _of_facts(self) -> list[Made]:
        least = self._parts.config().narrator.min_confidence
        self._let_go()
        stamp = self._parts.db.get_meta("indexed_at") or ""
        key = self._facts.key(least, stamp), self._known.follow(_PATIENCE_S)
        if self._plain is None or self._plain[0] != key:
            made = self._facts.made(least, stamp, self._topics(), self._upkeep.code)
            self._plain = key, sorted(made, key=lambda one: order(one.proposal))
        return self._plain[1]

    def _phrased(self, plain: Sequence[Made]) -> list[Made]:
        said = [made.proposal for made in plain]
        groups = {made.proposal.id: made.groups for made in plain}
        others = self.phrasing.taken_in(said)
        return [
            Made(one, tuple(group for id_ in (one.id, *others.get(one.id, ())) for group in groups.get(id_, ())))
            for one in self.phrasing.applied(said)
        ]

    def _of_agents(self) -> list[Made]:
        found = self.agents.all()
        standing = self._known.relations([candidate_of(one) for one in found])
        return [
            Made(replace(one, relation=relation, other=other, other_place=place))
            for one, (relation, other, place) in zip(found, standing, strict=True)
        ]

    def _looked_at(self, waiting: Sequence[Made]) -> list[Made]:
        """Return proposals with what approving them would do now, named."""
        looks = self.lines.looks([made.proposal for made in waiting if made.proposal.action in ACTIONS])
        return [
            replace(made, proposal=replace(made.proposal, digest=look.digest, problem=look.problem))
            if (look := looks.get(made.proposal.id)) is not None
            else made
            for made in waiting
        ]

    def _let_go(self) -> None:
        """Remove episodes forgotten since the last pass from the evidence."""
        if self._parts.episodes.follow():
            return
        state = self._tables.state()
        if state not in (self._tables.position().state, self._let_go_at):
            let_go(self._tables, self._parts.embed)
            self._let_go_at = state

    def _evidence_of(self, proposal: NarratedProposal) -> tuple[Evidence, ...]:
        made = next((one for one in self._of_facts() if one.proposal.id == proposal.id), None)
        return () if made is None else self.evidence(made)

    def _is_decided(self, proposal: NarratedProposal) -> bool:
        decided: Decided = self.decisions.now()
        return decided.of(proposal) is not None

    def _topics(self) -> Sequence[Topic]:
        from cm_tui.engine.memory.narrator.topics import map_of

        return map_of(self._parts.root, retired=False).topics


def order(proposal: NarratedProposal) -> tuple[Any, ...]:
    """Return the sort key of proposals: the surest first, known facts last."""
    return (proposal.relation == "redundant", -proposal.confidence, -proposal.support, proposal.id)


def said_digests(proposals: Iterable[NarratedProposal]) -> dict[str, str]:
    """Return the digests of proposals by id, independent of the places of their notes."""
    fields = {one.id: (one.action, one.text, one.scope, one.target, one.heading, one.old) for one in proposals}
    return {
        id_: blake2b(json.dumps(said).encode("utf-8", "replace"), digest_size=4).hexdigest()
        for id_, said in fields.items()
    }


def fits(proposal: NarratedProposal, where: NarratedFilter) -> bool:
    """Return whether a proposal matches all filters."""
    if where.states and proposal.state not in where.states:
        return False
    if where.kinds and proposal.kind not in where.kinds:
        return False
    if where.policy is not None and proposal.decided_by.startswith("policy ") != where.policy:
        return False
    text = f"{proposal.text}\n{proposal.reason}\n{proposal.target}\n{proposal.heading}".lower()
    return all(word in text for word in where.text.lower().split())
