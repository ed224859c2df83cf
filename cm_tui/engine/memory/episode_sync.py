"""Bringing the passages of episodes up to the journal, outside an index run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cm_tui.engine.memory import episode_source
from cm_tui.engine.search import passages
from cm_tui.engine.search.source import ReadText, SourceContext
from cm_tui.engine.store.database import Database
from cm_tui.engine.store.writer_lock import WriterLock
from cm_tui.model import Cancel

LATER = "What agents recorded last is searchable when the index run that is under way has ended."


def sync(db: Database, root: Path, read: ReadText, *, again: bool = False) -> bool:
    """Bring them up to the journal, after whoever writes to the store; False where the index is to be made again as a whole.

    Args:
        db: the store.
        root: whose journal it is.
        read: reads a file of the project.
        again: all of them, by the rules of today.
    """
    with WriterLock.of(db).batch(Cancel()):
        return _sync(db, root, read, again=again) is not None


def sync_before_question(db: Database, root: Path, read: ReadText) -> str:
    """Bring them up to the journal unless somebody writes to the store: a question waits for nobody.

    Returns:
        What has to be said with the answer.
    """
    source = episode_source.EpisodeSource(SourceContext(root, read))
    if db.get_meta("indexed_at") is None or not source.has_changed(db):
        return ""
    with WriterLock.of(db).batch_if_free() as is_held:
        if not is_held:
            return LATER
        return " ".join(_sync(db, root, read, again=False) or ())


def _sync(db: Database, root: Path, read: ReadText, *, again: bool) -> Sequence[str] | None:
    """What could not be looked at; None where the index is to be made again as a whole."""
    with db.generations.changing(), db.transaction():
        if not passages.is_current(db):
            return None
        if again:
            episode_source.read_again(db)
        return passages.sync(db, [episode_source.EpisodeSource(SourceContext(root, read))]).notes
