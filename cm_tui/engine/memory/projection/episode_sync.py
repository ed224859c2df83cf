"""Updating the passages of episodes, entries and notes from the journal and files, outside an index run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from cm_tui.engine.memory.projection import episode_source
from cm_tui.engine.memory.projection.entry_source import EntrySource
from cm_tui.engine.memory.projection.ingested import IngestedSource
from cm_tui.engine.memory.projection.note_source import NoteSource
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.engine.search.ranking import passages
from cm_tui.engine.search.ranking.passages import PassageDelta
from cm_tui.engine.search.ranking.source import MakeSource, ReadText, Source, SourceContext
from cm_tui.errors import CmError, StoreError
from cm_tui.model import Cancel

REMEMBERED: tuple[MakeSource, ...] = (episode_source.EpisodeSource, EntrySource, NoteSource, IngestedSource)
"""Sources that grow independently of a project's files."""
WAIT_S = 1.5
"""How long a question about the memory waits for this update."""
CHANGE_S = 0.3
"""How long a change waits for this update; lists come from the journal, and show it anyway."""
_PIECE = 200
"""Turns per transaction: a request waits for one such piece at most."""
LATER = "The latest episodes become searchable when the current index run ends."
UNWRITTEN = "The latest memories cannot be searched yet: "
"""Begins the note where the store cannot be written, such as on a full disk."""
PARTLY = "Only part of the memory is searchable so far: ask again, or run `cm index`, for the rest."


def sync(db: Database, root: Path, read: ReadText, *, again: bool = False) -> bool:
    """Update them from the journal, after any other writer; False where the whole index must be rebuilt.

    `again`: read all of them again, by the current rules.
    """
    lock, sources = WriterLock.of(db), _sources(root, read)
    more = True
    while more:
        # The user's requests run between two pieces.
        with lock.batch(Cancel()):
            delta = _sync(db, sources, again=again)
        if delta is None:
            return False
        more, again = delta.more, False
    return True


def is_late(note: str) -> bool:
    """Return whether the note of an update means that it could not be done."""
    return note == LATER or note.startswith(UNWRITTEN)


def sync_before_question(db: Database, root: Path, read: ReadText, *, wait: float = 0.0) -> str:
    """Update them from the journal, unless another process writes for longer than a request can wait.

    `wait`: seconds. Readers of history release the store at once for a waiting request, so that it sees what was
    remembered a moment ago; an index run that writes files does not. Returns a message for the response, also where the
    store cannot be written: what was remembered is in the journal and in the user's files, and is read from there again.
    """
    try:
        journal = folder_of(root)
    except CmError:
        journal = None  # each source reports it
    changed = [one for one in _sources(root, read, journal) if one.has_changed(db)]
    if not changed or db.is_read_only:
        return ""
    lock = WriterLock.of(db)
    with lock.question_within(wait) if wait else lock.batch_if_free() as is_held:
        if not is_held:
            return LATER
        until = time.monotonic() + wait
        try:
            delta = _sync(db, changed)
            notes = [] if delta is None else [*delta.notes]
            while delta is not None and delta.more and time.monotonic() < until:
                delta = _sync(db, changed)
        except StoreError as error:
            return f"{UNWRITTEN}{error.one_line}"
        return " ".join([*notes, PARTLY] if delta is not None and delta.more else notes)


def _sources(root: Path, read: ReadText, journal: Path | None = None) -> list[Source]:
    context = SourceContext(root, read, most=_PIECE, journal=journal)
    return [make(context) for make in REMEMBERED]


def _sync(db: Database, sources: Sequence[Source], *, again: bool = False) -> PassageDelta | None:
    """The changes; None: the whole index must be rebuilt."""
    with db.generations.changing(), db.transaction():
        if not passages.is_current(db) and db.get_meta("indexed_at"):
            return None
        if again:
            episode_source.mark_outdated(db)
        return passages.sync(db, sources)
