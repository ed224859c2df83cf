"""Entries in backups, merged into the current ones, and erased permanently."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.entries.curation import DECIDED, PROPOSED
from cm_tui.engine.memory.entries.entries import MOST_ENTRIES, Entries
from cm_tui.engine.memory.entries.entry_file import RULE, Content, EntryFile, Ledger, entry_in, writing
from cm_tui.engine.memory.entries.entry_record import digest, entry_data, read_entry
from cm_tui.engine.memory.entries.entry_writing import APPROVED, CHANGED, REVERTED, changed_ids
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.redact import redact_values, texts_of, with_texts
from cm_tui.files import damaged_copies
from cm_tui.model import Entry, Proposal, Scope
from cm_tui.model.author import Author

# --- entries in backups: redacted, and merged into the current ones ---

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


# --- erasing texts from entries permanently: a secret, or a whole entry ---

EVENTS = frozenset({APPROVED, CHANGED, REVERTED, PROPOSED, DECIDED, WAITING})
"""Kinds of events on entries."""


def entry_ids(event: Event) -> tuple[str, ...]:
    """Return the ids of the entries in an event; empty: none."""
    if event.kind not in EVENTS:
        return ()
    if event.kind not in {PROPOSED, DECIDED}:
        return changed_ids(event)
    return (name,) if (name := event.text("target")) else ()


def set_aside(entries: Entries) -> list[Path]:
    """Return the damaged and unfinished copies of the files of entries and proposals."""
    files = (*(one.path for one in entries.files.values()), entries.ledger.path)
    return [one for file in files for one in damaged_copies(file)]


def texts(entries: Entries) -> Iterator[tuple[Path, Iterator[str]]]:
    """Yield each file of entries with all its texts, including proposals.

    Raises CmError if one cannot be read.
    """
    for file in entries.files.values():
        yield file.path, texts_of(file.read().items)
    proposals = entries.ledger.read().proposals
    yield entries.ledger.path, (text for one in proposals for text in _texts_of_proposal(one))


def clean(entries: Entries, change: Callable[[str], str]) -> tuple[str, ...]:
    """Change the texts of all entries and proposals; return the changed files.

    Ledger data moves with an entry: an erasure makes no entry wait for trust. `change`: maps each text to its new one.
    Raises CmError if a file cannot be read or written.
    """
    changed: list[str] = []
    with writing():
        ledger = entries.ledger.read()
        proposals = [replace(one, **_changed_proposal(one, change)) for one in ledger.proposals]
        is_other = proposals != ledger.proposals
        ledger.proposals = proposals
        for file in entries.files.values():
            content = file.read()
            items = with_texts(content.items, change)
            if items != content.items:
                is_other |= _update_ledger(ledger, file, content.items, items)
                content.items = items
                # In the ledger before it is written: after a crash in between, no entry waits for trust.
                entries.ledger.write(ledger)
                _write(file, content, lambda items: with_texts(items, change))
                changed.append(str(file.path))
        if is_other:
            entries.ledger.write(ledger)
            changed.append(str(entries.ledger.path))
    return tuple(changed)


def drop(entries: Entries, ids: Collection[str], again: Collection[str] = ()) -> tuple[str, ...]:
    """Remove entries from their files, and proposals about them, without an event.

    The ledger keeps their ids, so that no backup restores them. `again`: names of an interrupted erasure; entries among
    them are removed, too. Raises CmError if a file cannot be read or written.
    """
    gone, changed = set(ids), list[str]()
    with writing():
        for scope, file in entries.files.items():
            content = file.read()
            dropped = [item for item in content.items if _id_of(item) in {*gone, *again}]
            # In the ledger before it is removed: after a crash in between, it is listed and erased again.
            ledger = entries.ledgers[scope].read()
            ledger.note_removed({*gone, *map(_id_of, dropped)})
            if ids or dropped:
                entries.ledgers[scope].write(ledger)
            if dropped:
                content.items = [item for item in content.items if item not in dropped]
                _write(file, content, lambda items: [item for item in items if _id_of(item) not in {*gone, *again}])
                changed.append(str(file.path))
        ledger = entries.ledger.read()
        kept_proposals = [one for one in ledger.proposals if one.target not in gone]
        if len(kept_proposals) < len(ledger.proposals):
            ledger.proposals = kept_proposals
            entries.ledger.write(ledger)
            changed.append(str(entries.ledger.path))
    return tuple(changed)


def _write(file: EntryFile, content: Content, without: Callable[[list[Any]], list[Any]]) -> None:
    """Write a file; another program's changes since it was read are kept, except for erased texts."""

    def redo(found: Content) -> None:
        found.items = without(found.items)

    file.write(content, redo)


def _id_of(item: object) -> str:
    found = item.get("id") if isinstance(item, dict) else None
    return found if isinstance(found, str) else ""


def _update_ledger(ledger: Ledger, file: EntryFile, before: list[Any], after: list[Any]) -> bool:
    """Move ledger data of entries to their new texts; return whether there was any."""
    found = False
    for old, new in zip(before, after, strict=True):
        was, now = read_entry(old, file.scope), read_entry(new, file.scope)
        if old == new or was is None or now is None:
            continue
        for known in (ledger.written, ledger.trusted, ledger.refused, ledger.approved, ledger.doubted):
            if digest(was) in known:
                known.append(digest(now))
                found = True
    return found


def _texts_of_proposal(proposal: Proposal) -> Iterator[str]:
    yield from (proposal.words, proposal.reason, proposal.agent, proposal.session)
    for entry in (proposal.before, proposal.after):
        if entry is not None:
            yield from (entry.title, entry.content, *entry.keywords)


def _changed_proposal(proposal: Proposal, change: Callable[[str], str]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: change(getattr(proposal, name)) for name in ("words", "reason", "agent", "session")}
    for name in ("before", "after"):
        entry = getattr(proposal, name)
        if entry is not None:
            words = tuple(map(change, entry.keywords))
            entry = replace(entry, title=change(entry.title), content=change(entry.content), keywords=words)
        fields[name] = entry
    return fields
