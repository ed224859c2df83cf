"""Bringing the passages of episodes, entries and notes up to the journal and their files, outside an index run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from cm_tui.engine.memory import episode_source
from cm_tui.engine.memory.entry_source import EntrySource
from cm_tui.engine.memory.ingested_source import IngestedSource
from cm_tui.engine.memory.note_source import NoteSource
from cm_tui.engine.search import passages
from cm_tui.engine.search.passages import PassageDelta
from cm_tui.engine.search.source import MakeSource, ReadText, Source, SourceContext
from cm_tui.engine.store.database import Database
from cm_tui.engine.store.writer_lock import WriterLock
from cm_tui.model import Cancel

REMEMBERED: tuple[MakeSource, ...] = (episode_source.EpisodeSource, EntrySource, NoteSource, IngestedSource)
"""Sources that grow beside the files of a project."""
WAIT_S = 1.5
"""How long a question about what was remembered waits for it to become searchable."""
CHANGE_S = 0.3
"""How long a change of it waits for that: it is kept in the journal, which lists are made from."""
_PIECE = 200
"""Turns that become searchable in one transaction: who asks waits for no more than one such piece."""
LATER = "What was recorded last is searchable when the index run that is under way has ended."

PARTLY = "Only a part of what was recorded is searchable so far: ask again, or run `cm index`, for the rest of it."


def sync(db: Database, root: Path, read: ReadText, *, again: bool = False) -> bool:
    """Bring them up to the journal, after whoever writes to the store; False where the index is to be made again as a whole.

    Args:
        db: the store.
        root: whose journal it is.
        read: reads a file of the project.
        again: all of them, by the rules of today.
    """
    lock, sources = WriterLock.of(db), _sources(root, read)
    more = True
    while more:
        # What a user asks for goes between two pieces.
        with lock.batch(Cancel()):
            delta = _sync(db, sources, again=again)
        if delta is None:
            return False
        more, again = delta.more, False
    return True


def sync_if_free(db: Database, root: Path, read: ReadText) -> bool:
    """Bring them up to what is written down, unless somebody writes to the store; returns whether that was done."""
    return sync_before_question(db, root, read) != LATER


def sync_before_question(db: Database, root: Path, read: ReadText, *, wait: float = 0.0) -> str:
    """Bring them up to what is written down, unless somebody writes to the store for longer than a question can wait.

    Args:
        db: the store.
        root: whose journal it is.
        read: reads a file of the project.
        wait: seconds. Readers of history let go of the store at once when somebody waits, so that what was
            remembered a moment ago is in the answer; an index run that writes files does not.

    Returns:
        What has to be said with the answer.
    """
    changed = [one for one in _sources(root, read) if one.has_changed(db)]
    if not changed or db.is_read_only:
        return ""
    lock = WriterLock.of(db)
    with lock.question_within(wait) if wait else lock.batch_if_free() as is_held:
        if not is_held:
            return LATER
        until = time.monotonic() + wait
        delta = _sync(db, changed)
        notes = [] if delta is None else [*delta.notes]
        while delta is not None and delta.more and time.monotonic() < until:
            delta = _sync(db, changed)
        return " ".join([*notes, PARTLY] if delta is not None and delta.more else notes)


def _sources(root: Path, read: ReadText) -> list[Source]:
    context = SourceContext(root, read, most=_PIECE)
    return [make(context) for make in REMEMBERED]


def _sync(db: Database, sources: Sequence[Source], *, again: bool = False) -> PassageDelta | None:
    """What changed; None where the index is to be made again as a whole."""
    with db.generations.changing(), db.transaction():
        if not passages.is_current(db) and db.get_meta("indexed_at"):
            return None
        if again:
            episode_source.read_again(db)
        return passages.sync(db, sources)
