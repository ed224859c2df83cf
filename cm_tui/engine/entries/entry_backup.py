"""Entries on their way to another machine: without secrets, and merged into those that are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cm_tui.engine.entries.entries import MOST_ENTRIES, Entries
from cm_tui.engine.entries.entry_file import writing
from cm_tui.engine.entries.entry_record import digest, entry_data
from cm_tui.engine.entries.entry_text import Author
from cm_tui.engine.entries.ledger import entry_in
from cm_tui.engine.journal import Journal
from cm_tui.engine.redaction.values import redact_values
from cm_tui.model import Entry, Scope

RESTORED = "entry.restored"
"""Kind of the event that says which entries came out of a backup."""


def entries_of(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries that a project sees, as a file has them; those that wait for trust stay behind.

    Raises:
        CmError: a file cannot be read.
    """
    for one in Entries(root).all().shown:
        clean: dict[str, Any] = redact_values(entry_data(one))
        yield clean


def merge(root: Path, found: Sequence[Any]) -> tuple[int, int]:
    """Add entries of a backup that are not there; what is there stays as it is.

    Args:
        root: of the checkout whose file takes those of the scope `project`.
        found: what the backup has; what is no entry is left out.

    Returns:
        How many were added, and how many are there by that id and say something else.

    Raises:
        CmError: a file cannot be read or written.
    """
    wanted = [one for data in found if (one := entry_in(redact_values(data))) is not None]
    scopes: tuple[Scope, ...] = ("project", "user")
    done = [_merge_scope(Entries(root), scope, [one for one in wanted if one.scope == scope]) for scope in scopes]
    return sum(added for added, _ in done), sum(others for _, others in done)


def _merge_scope(entries: Entries, scope: Scope, wanted: Sequence[Entry]) -> tuple[int, int]:
    with writing():
        content = entries.files[scope].read()
        ledger = entries.ledger.read()
        others = sum(one.id in content.entries and digest(content.entries[one.id]) != digest(one) for one in wanted)
        new = {one.id: one for one in wanted if one.id not in content.entries}
        if len(content.items) + len(new) > MOST_ENTRIES or not wanted:
            return 0, others + len(new)
        for one in wanted:
            # A file that came with a clone of it is the person's own again.
            ledger.note_written(digest(one))
        entries.ledger.write(ledger)
        if new:
            author = Author()
            said = {"scope": scope, "ids": list(new), "actor": author.actor}
            Journal.of(entries.root).append(RESTORED, said)
            content.items = [*content.items, *map(entry_data, new.values())]
            entries.files[scope].write(content)
    return len(new), others
