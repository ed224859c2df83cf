"""Removing a journal, all that agents' sessions wrote down of a project, for good; and taking over another one's events."""

from __future__ import annotations

import shutil

from cm_tui.engine.platform.journal.archive import ARCHIVED, Archive
from cm_tui.engine.platform.journal.event import MOVED, Position, clean_line
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.journal.segment import sync_folder
from cm_tui.errors import StoreError

BESIDE = ("assemblies", "ingestion", "blobs")
"""Folders next to the events, of assembled and ingested data, which contain their words."""
EPISODE = "episode"
"""Kind of the event for one turn of a session."""


def count_episodes(journal: Journal) -> int:
    """Return the number of episodes in a journal, including hidden and archived ones.

    Raises StoreError if it cannot be read.
    """
    archive = Archive(journal)
    archived = sum(1 for number in archive.files() for _ in archive.read(number))
    return archived + sum(event.kind == EPISODE for event in journal.read())


def remove(journal: Journal) -> None:
    """Remove every event of a journal; concurrent writers begin a new one after it.

    Its folder and lock stay: another process may be waiting for them. After a crash, it can be run again. Raises
    StoreError if a file cannot be removed, or another process holds the journal.
    """
    if not journal.folder.is_dir():
        return
    with journal.held():
        try:
            for segment in journal.segments():
                journal.file(segment).unlink(missing_ok=True)
            archive = Archive(journal)
            for number in archive.files():
                archive.file(number).unlink(missing_ok=True)
            for made in BESIDE:
                shutil.rmtree(journal.folder / made, ignore_errors=True)
            sync_folder(journal.folder)
        except OSError as error:
            raise StoreError(f"Cannot remove {journal.folder}: {error}", hint="Check its permissions.") from error


# --- taking over the events of another journal ---

_OF_AN_ARCHIVE = frozenset({MOVED, ARCHIVED})
"""Kinds of events with places in an archive."""


def take_over(source: Journal, target: Journal, after: Position = START) -> Position:
    """Copy the events of a journal that another one lacks, unchanged; return the place behind the last one.

    `after`: only events behind this place, written since the others were copied. After a crash, run it again: copied
    events are recognised by their ids. Raises StoreError if one of them cannot be read or written.
    """
    known = {event.id for event in target.read(START)} if after == START else set()
    archive = Archive(source)
    files = archive.files() if after == START else []
    # Archived events are restored in their original form: the numbers of another archive's files would clash.
    archived = (one for number in files for episode, turn in archive.whole(number) for one in (*turn, episode))
    end = after
    for event in (*archived, *source.read(after)):
        end = event.position
        if event.kind not in _OF_AN_ARCHIVE and event.id not in known:
            fields = {"id": event.id, "time": event.time, "kind": event.kind, "head": event.head, "data": event.data}
            target.append_line(clean_line(fields))
            known.add(event.id)
    return end
