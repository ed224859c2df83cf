"""Agents' proposals for changes that only the user may make: the user accepts or declines."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_file import writing
from cm_tui.engine.memory.entries.entry_record import (
    PROPOSAL_LETTER,
    entry_data,
    first_line,
    has_same_content,
    new_id,
    storable,
)
from cm_tui.engine.memory.entries.ledger import Ledger
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import RefusedError
from cm_tui.model import Entry, Proposal
from cm_tui.model.author import Author
from cm_tui.model.entry import REASON_CHARACTERS
from cm_tui.model.ids import ambiguous, id_named

PROPOSED = "memory.proposed"
"""Kind of the event for an agent's proposal."""
DECIDED = "memory.decided"
"""Kind of the event for the decision on a proposal."""


class Proposals:
    """Proposals of agents in a project."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def all(self) -> tuple[Proposal, ...]:
        """Return the waiting ones, the oldest first. Raises StoreError if they cannot be read."""
        return tuple(self._entries.ledger.read().proposals)

    def add_change(self, before: Entry, after: Entry | None, author: Author, reason: str) -> Proposal:
        """Propose to change an entry, or (without `after`) to forget it.

        Raises UsageError: too many wait already; StoreError if it cannot be written.
        """
        kind, plain = "change" if after else "forget", replace(before, held=False)
        return self._add(author, reason, before.title, kind=kind, target=before.id, before=plain, after=after)

    def add_writing(self, new: Entry, author: Author, reason: str) -> Proposal:
        """Propose to write down an entry, which gets its id here.

        Raises UsageError: too many wait already; StoreError if it cannot be written.
        """
        taken = {one.id for one in self._entries.all().entries}
        after = replace(new, id=new_id(taken))
        return self._add(author, reason, after.title, kind="write", target=after.id, after=after)

    def written_already(self, new: Entry) -> Entry | None:
        """Return the entry with the same text in the same scope.

        Raises StoreError if the entries cannot be read.
        """
        said = (new.scope, new.category, new.title, new.content)
        shown = self._entries.all().shown
        return next((one for one in shown if (one.scope, one.category, one.title, one.content) == said), None)

    def add_forgetting(self, episode: str, words: str, author: Author, reason: str) -> Proposal:
        """Propose to forget an episode.

        Raises UsageError: too many wait already; StoreError if it cannot be written.
        """
        return self._add(author, reason, words, kind="forget", of="episode", target=episode)

    def named(self, name: str) -> Proposal:
        """Return a proposal by its id, a prefix of it, or the id of the entry that it would change.

        Raises NotFoundError if no proposal has that name; UsageError if the name is ambiguous.
        """
        waiting = self.all()
        known = dict.fromkeys(id_ for one in waiting for id_ in (one.id, one.target))
        wanted = id_named(name.lower(), known, "proposal", "`cm forget --proposed` lists them.")
        found = [one for one in waiting if wanted in (one.id, one.target)]
        if len(found) > 1:
            raise ambiguous(name, "proposal", (one.id for one in found))
        return found[0]

    def check(self, proposal: Proposal) -> None:
        """Check that a proposal's entry is unchanged since.

        Raises RefusedError if it was changed; the message has both texts.
        """
        if proposal.of != "entry":
            return
        now = self._entries.all().entries
        current = next((one for one in now if one.id == proposal.target), None)
        if not has_same_content(None if current is None else replace(current, held=False), proposal.before):
            was = _shown(proposal.before)
            raise RefusedError(
                f"The entry {proposal.target} has changed since {proposal.agent or 'an agent'} proposed this. "
                f"Before: {was}. Now: {_shown(current)}.",
                hint=f"Change it yourself, or decline the proposal: `cm forget --decline {proposal.id}`.",
            )

    def close(self, proposal: Proposal, *, accepted: bool) -> None:
        """Remove a proposal, as the user decided. Raises StoreError if it cannot be written."""
        with writing():
            ledger = self._entries.ledger.read()
            ledger.proposals = [one for one in ledger.proposals if one.id != proposal.id]
            self._entries.ledger.write(ledger)
        said = {"proposal": proposal.id, "target": proposal.target, "accepted": accepted, "actor": "person"}
        Journal.of(self._entries.root).append(DECIDED, said)

    def _add(self, author: Author, reason: str, words: str, **said: Any) -> Proposal:
        with writing():
            ledger: Ledger = self._entries.ledger.read()
            wanted = Proposal(
                id=new_id((one.id for one in ledger.proposals), PROPOSAL_LETTER),
                words=first_line(redact(storable(words)).text),
                reason=redact(storable(reason)).text[:REASON_CHARACTERS],
                agent=author.agent,
                session=author.session,
                time=time.time(),
                **{"of": "entry", **said},
            )
            made = ledger.propose(wanted)
            if made is wanted:
                self._entries.ledger.write(ledger)
        if made is wanted:
            Journal.of(self._entries.root).append(PROPOSED, _event_data(made))
        return made


def _event_data(proposal: Proposal) -> dict[str, Any]:
    same = {name: getattr(proposal, name) for name in ("kind", "of", "target", "reason", "agent", "session")}
    return {"proposal": proposal.id, **same, "after": proposal.after and entry_data(proposal.after), "actor": "agent"}


def _shown(entry: Entry | None) -> str:
    return "removed" if entry is None else f"“{first_line(entry.content, 200)}”"
