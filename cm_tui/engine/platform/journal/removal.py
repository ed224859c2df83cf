"""Removing a journal: all that agents' sessions wrote down of a project, for good."""

from __future__ import annotations

import shutil

from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.journal import Journal
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
