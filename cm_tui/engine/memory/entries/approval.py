"""Approval of Rules: agents receive an agent's Rule only after the user approved it."""

from __future__ import annotations

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_events import APPROVED
from cm_tui.engine.memory.entries.entry_file import writing
from cm_tui.engine.memory.entries.entry_names import checked_scope
from cm_tui.engine.memory.entries.entry_record import digest, says_the_same
from cm_tui.engine.memory.entries.ledger import RULE
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import Entry


def approve(entries: Entries, shown: Entry) -> str:
    """Record that the user approved a Rule as shown; return the id of the event.

    Raises UsageError if it is not a Rule, or is approved already; NotFoundError if it no longer exists; RefusedError if
    it was changed since, or came with the repository and waits for trust; StoreError if it cannot be written.
    """
    with writing():
        now = entries.named(shown.id, shown.scope)
        if now.category != RULE:
            raise UsageError(f"The entry {now.id} is no Rule.", hint="Only Rules need approval.")
        if now.held:
            raise RefusedError(f"The entry {now.id} came with the repository.", hint="`cm trust` decides on it.")
        if not says_the_same(now, shown):
            raise RefusedError(f"The Rule {now.id} was changed since.", hint="Read it again, and repeat it.")
        if not now.unapproved:
            raise UsageError(f"The Rule {now.id} is approved already.")
        ledger = entries.ledgers[now.scope].read()
        ledger.note_approval(digest(now), is_approved=True)
        entries.ledgers[now.scope].write(ledger)
    said = {"id": now.id, "scope": now.scope, "digest": digest(now), "actor": "person"}
    return Journal.of(entries.root).append(APPROVED, said).id


def take_back(entries: Entries, event: Event, *, dry_run: bool) -> str:
    """Revoke an approval; return the id of the Rule.

    Raises UsageError if the event is not an approval; StoreError if it cannot be written.
    """
    said, id_, scope = (event.data.get(name) for name in ("digest", "id", "scope"))
    if not (isinstance(said, str) and isinstance(id_, str) and isinstance(scope, str)):
        raise UsageError(f"The event {event.id} is not an approval.")
    of_scope = checked_scope(scope) or "project"
    with writing():
        ledger = entries.ledgers[of_scope].read()
        if said in ledger.approved and not dry_run:
            ledger.approved.remove(said)
            entries.ledgers[of_scope].write(ledger)
    return id_
