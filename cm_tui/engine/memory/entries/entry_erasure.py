"""Erasing texts from entries permanently: a secret, or a whole entry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.entries.curation import DECIDED, PROPOSED
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_backup import WAITING
from cm_tui.engine.memory.entries.entry_file import Content, EntryFile, Ledger, writing
from cm_tui.engine.memory.entries.entry_record import digest, read_entry
from cm_tui.engine.memory.entries.entry_writing import APPROVED, CHANGED, REVERTED, changed_ids
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.redaction.redact import texts_of, with_texts
from cm_tui.files import damaged_copies
from cm_tui.model import Proposal

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
