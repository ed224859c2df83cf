"""The narrator of one project: a pass over its episodes, and lists of proposals."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial

from cm_tui.engine.memory.narrator.agent_proposals import AgentProposal
from cm_tui.engine.memory.narrator.deciding import Deciding
from cm_tui.engine.memory.narrator.pass_run import Pass
from cm_tui.engine.memory.narrator.proposals import Parts, Proposals, proposal_digests
from cm_tui.engine.memory.narrator.tables import NarratorTables
from cm_tui.model import Cancel, ModelCost, NarratedFilter, NarratedProposal, NarratorReport, Page, Progress

_REPORTED = 20
_NOT_YET = "No sessions were analysed yet: run `cm narrate`."


class Narrator:
    """Finds lessons of sessions, proposes them, and writes what the user approves.

    `parts`: what it is based on.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tables = NarratorTables(parts.episodes.tables)
        self.proposals = Proposals(parts, self._tables)
        self.deciding = Deciding(parts, self.proposals)

    def narrate(self, since: float | None, cancel: Cancel, *, dry_run: bool) -> Iterator[Progress]:
        """Read new episodes and propose their lessons; proposals that a policy names are approved."""
        began = time.monotonic()
        self._parts.episodes.index.follow(partial(_may_continue, cancel))
        cancel.check()
        with NarratorTables.trial(self._parts.episodes.tables) if dry_run else nullcontext(self._tables) as tables:
            run = Pass(tables, self._parts.episodes.journal.folder, self._parts.embed)
            yield from run.run(cancel)
            yield Progress("propose", 0, 1)
            proposals = Proposals(self._parts, tables) if dry_run else self.proposals
            cost = ModelCost()
            if not dry_run:
                self.deciding.complete()
                if self._parts.config().narrator.model.enabled:
                    yield Progress("model", 0, 1)
                cost = proposals.phrasing.run(proposals.unphrased(), cancel)
            else:
                cost = proposals.phrasing.estimate(proposals.unphrased())
            told = tables.told()
            new = [one for one in proposals.waiting() if one.id not in told and (since is None or one.last >= since)]
            approved = () if dry_run else self.deciding.auto_approve()
            rows = [made.proposal for made in proposals.all()]
            now = proposal_digests(one for one in rows if one.state == "waiting")
            tables.store_proposals(now)
        report = NarratorReport(
            dry_run, run.episodes, run.observations, len(new),
            changed=sum(told.get(id_, digest) != digest for id_, digest in now.items()),
            withdrawn=len(told.keys() - {one.id for one in rows}), waiting=len(now), approved=approved,
            seconds=round(time.monotonic() - began, 2), cost=cost,
            notes=(*run.notes, *((proposals.note,) if proposals.note else ())), proposals=tuple(new[:_REPORTED]),
        )  # fmt: skip
        yield Progress("done", 1, 1, narrated=report)

    def page(self, where: NarratedFilter, limit: int) -> Page[NarratedProposal]:
        """Return proposals, the surest first; of decided ones, the last decision first."""
        found = [made.proposal for made in self.proposals.all() if fits(made.proposal, where)]
        note = self.proposals.note if self.proposals.has_looked else _NOT_YET
        return Page(tuple(found[:limit]), len(found), note)

    def one(self, name: str) -> NarratedProposal:
        """Return a proposal with its diff and its evidence."""
        return self.proposals.whole(self.deciding.named(name))

    def propose(self, wish: AgentProposal) -> NarratedProposal:
        """Propose something as an agent does."""
        made = self.proposals.agents.propose(wish)
        return next((one.proposal for one in self.proposals.all() if one.proposal.id == made.id), made)

    def cost(self) -> ModelCost:
        """Return the next pass's estimated use of the language model."""
        return self.proposals.phrasing.estimate(self.proposals.unphrased())


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


def _may_continue(cancel: Cancel) -> bool:
    """Return whether to go on, after letting waiting requests run first."""
    if cancel.is_set:
        return False
    cancel.check()
    return True
