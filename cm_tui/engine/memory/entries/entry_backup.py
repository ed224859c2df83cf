"""Entries in backups: redacted, and merged into the current ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.entries.entries import MOST_ENTRIES, Entries
from cm_tui.engine.memory.entries.entry_file import RULE, Content, entry_in, writing
from cm_tui.engine.memory.entries.entry_record import digest, entry_data
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.redact import redact_values
from cm_tui.model import Entry, Scope
from cm_tui.model.author import Author

RESTORED = "entry.restored"
"""Kind of the event that lists entries from a backup."""
WAITING = "entry.waiting"
"""Kind of the event that holds an entry of a backup until a checkout takes it."""


def entries_of(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the visible entries of a project as records; untrusted ones are skipped.

    Raises CmError if a file cannot be read.
    """
    for one in Entries(root).all().shown:
        clean: dict[str, Any] = redact_values(entry_data(one))
        yield clean


class Merged(NamedTuple):
    """Result of restoring entries."""

    added: int
    others: int
    """Existing ones with that id and another text."""
    gone: int
    """Forgotten or erased here; not restored."""
    too_many: int = 0
    """For which a file has no room."""


def merge(root: Path, found: Sequence[Any]) -> Merged:
    """Add the entries of a backup that are missing here; existing, forgotten and erased ones stay as they are.

    `root`: of the checkout that takes the entries of the scope `project`. `found`: the records in the backup; invalid
    ones are skipped. Raises CmError if a file cannot be read or written.
    """
    wanted = _read(found)
    scopes: tuple[Scope, ...] = ("project", "user")
    done = [_merge_scope(Entries(root), scope, [one for one in wanted if one.scope == scope]) for scope in scopes]
    return Merged(*map(sum, zip(*done, strict=True)))


def missing(root: Path, found: Sequence[Any]) -> list[Entry]:
    """Return the entries of a backup that are not there. Raises CmError if a file cannot be read."""
    entries = Entries(root)
    there = {
        scope: file.read().entries.keys() | entries.ledgers[scope].read().gone for scope, file in entries.files.items()
    }
    return list({(one.scope, one.id): one for one in _read(found) if one.id not in there[one.scope]}.values())


def store_waiting(journal: Journal, found: Sequence[Any]) -> int:
    """Store entries of a backup in a journal until a checkout takes them; return how many are new.

    Raises StoreError if the journal cannot be read or written.
    """
    new = not_waiting(journal, found)
    journal.append_all(WAITING, [({"id": one.id, "entry": entry_data(one)}, None) for one in new])
    return len(new)


def not_waiting(journal: Journal, found: Sequence[Any]) -> list[Entry]:
    """Return the entries of a backup that a journal lacks.

    Raises StoreError if the journal cannot be read.
    """
    known = {one.id for one in waiting(journal)} | _restored_ids(journal)
    return list({one.id: one for one in _read(found) if one.id not in known}.values())


def waiting(journal: Journal) -> list[Entry]:
    """Return the entries that wait in a journal for a checkout.

    Raises StoreError if the journal cannot be read.
    """
    taken = _restored_ids(journal)
    found = [event.data.get("entry") for event in journal.read() if event.kind == WAITING]
    return [one for one in _read(found) if one.id not in taken]


def take_waiting(root: Path) -> int:
    """Add waiting entries to a checkout's; return how many.

    Raises CmError if a file cannot be read or written.
    """
    found = waiting(Journal.of(root))
    return merge(root, [entry_data(one) for one in found]).added if found else 0


def _restored_ids(journal: Journal) -> set[str]:
    """Return the ids of entries restored before: those forgotten since are not restored again."""
    return {id_ for event in journal.read() if event.kind == RESTORED for id_ in event.texts("ids")}


def _doubt(entries: Entries, scope: Scope, new: Sequence[Entry]) -> None:
    """Mark the Rules of a backup as not approved, whatever author they name."""
    ledger = entries.ledgers[scope].read()
    approved = ledger.digest_sets().approved
    rules = [digest(one) for one in new if one.category == RULE and digest(one) not in approved]
    for one in rules:
        ledger.note_approval(one, is_approved=False)
    if rules:
        entries.ledgers[scope].write(ledger)


def _read(found: Sequence[Any]) -> list[Entry]:
    return [one for data in found if (one := entry_in(redact_values(data))) is not None]


def _content(entry: Entry) -> tuple[object, ...]:
    """Return the content of an entry, without its authors."""
    return entry.category, entry.title, entry.content, entry.keywords


def _merge_scope(entries: Entries, scope: Scope, found: Sequence[Entry]) -> Merged:
    with writing():
        content = entries.files[scope].read_complete()
        entries.files[scope].refuse_unwritable(content)
        ledger = entries.ledger.read()
        standing = entries.ledgers[scope].read().digest_sets()
        gone = set(entries.ledgers[scope].read().gone) - content.entries.keys()
        wanted = [one for one in found if one.id not in gone]
        left_out = len(found) - len(wanted)
        others = sum(one.id in content.entries and _content(content.entries[one.id]) != _content(one) for one in wanted)
        new = {one.id: one for one in wanted if one.id not in content.entries}
        if len(content.items) + len(new) > MOST_ENTRIES or not wanted:
            return Merged(0, others, left_out, len(new))
        for one in wanted:
            # A file that came with a clone of it is the person's own again.
            ledger.note_written(digest(one))
        entries.ledger.write(ledger)
        _doubt(entries, scope, [one for one in new.values() if digest(one) not in standing.written])
        if new:

            def add(content: Content) -> None:
                there = content.entries.keys()
                content.items = [*content.items, *(entry_data(one) for id_, one in new.items() if id_ not in there)]

            add(content)
            entries.files[scope].write(content, add)
            # After the file: what waits in the journal counts as taken from here on.
            said = {"scope": scope, "ids": list(new), "actor": Author().actor}
            Journal.of(entries.root).append(RESTORED, said)
    return Merged(len(new), others, left_out)
