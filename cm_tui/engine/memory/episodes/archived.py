"""Recall from the archive, on request: a word index selects archived episodes, which are read for the question alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cm_tui.config import Config
from cm_tui.counts import count
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.projection.episode_source import passages_of
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking import passages
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.source import Changes
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.model import EPISODES, RECALL, EpisodeFilter, SearchResult

MOST = 200
"""Most episodes to read for a question: those with most of its rarest words, newer ones first."""


class _Chosen:
    """A source of some episodes."""

    name = EPISODES

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events

    def has_changed(self, _: Database) -> bool:
        """Return whether there is anything to read: all of it, once."""
        return True

    def changes(self, _: Database, *, rebuild: bool) -> Changes:
        """Return the passages of all of them."""
        del rebuild
        return Changes([], [passage for event in self._events for passage in passages_of(event)])


def recall(
    episodes: Episodes, question: str, *, where: EpisodeFilter, limit: int, config: Config, root: Path
) -> SearchResult:
    """Return matches in archived sessions, by the profile `recall` and by words alone.

    `where`: a filter; its state is ignored. `limit`: the most hits. `config`: the settings, with changes to profiles.
    Raises StoreError if the journal or the archive cannot be read.
    """
    words = Query(question).terms_in(wording_of(EPISODES))
    found = episodes.archived_with(words, where)
    events = list(_read(Archive(episodes.journal), found[:MOST]))
    # In memory only: purged episodes must not stay on disk.
    db = Database(episodes.journal.folder, in_memory=True)
    try:
        with db.transaction():
            passages.sync(db, [_Chosen(events)])
        searcher = Searcher(db, None, config, root=root)
        try:
            result = searcher.search(question, profile=RECALL, mode="keyword", limit=limit)
        finally:
            searcher.close()
    finally:
        db.close()
    if len(found) <= MOST:
        return result
    note = f"Only {MOST} of {count(len(found), 'archived episode')} with a word of the query were read."
    return replace(result, notes=(*result.notes, note))


def _read(archive: Archive, wanted: Sequence[tuple[int, int]]) -> Iterator[Event]:
    """Yield the episodes at some places, file by file: each is read once."""
    chosen = set(wanted)
    for number in dict.fromkeys(file for file, _ in wanted):
        yield from (event for place, event in archive.read(number) if (number, place) in chosen)
