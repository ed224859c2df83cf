"""The archive of episodes: what goes there by age, is deleted from there, and is recalled on request."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cm_tui.config import Config
from cm_tui.counts import count
from cm_tui.engine.memory.episodes.edits import append_of_many
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_source import passages_of
from cm_tui.engine.memory.projection.turns import Turns
from cm_tui.engine.memory.projection.visibility import PURGED
from cm_tui.engine.platform.journal import archive
from cm_tui.engine.platform.journal.archive import ARCHIVED, Archive, Extent
from cm_tui.engine.platform.journal.erasure import alone
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking import passages
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.source import Changes
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.errors import NotFoundError, StoreError, UsageError
from cm_tui.model import EPISODES, RECALL, EpisodeFilter, PurgeReport, RetentionReport, RetentionRow, SearchResult
from cm_tui.state_file import reported

# --- retention: which episodes leave the journal by age, moving them to the archive, and deleting them from there ---

CONSOLIDATED_DAYS = 90.0
HIGH_VALUE_DAYS = 365.0
UNCONSOLIDATED_DAYS = 30.0
CAP_BYTES = 50_000_000
"""A larger journal halves the ages."""
_ROWS = 20
_USE = "use the archive next to"
_A_DAY = 86_400.0


class _Aged(NamedTuple):
    """An episode in the journal, with the data for retention."""

    id: str
    time: float
    bytes: int
    title: str
    is_high_value: bool
    settled: bool


class _Ages(NamedTuple):
    """Ages in days from which episodes go."""

    consolidated: float
    high_value: float
    unconsolidated: float
    older_than: float | None

    def reason(self, one: _Aged, now: float) -> str:
        """Return why an episode leaves; empty: it stays."""
        age = (now - one.time) / _A_DAY
        if one.is_high_value:
            return f"of high value, older than {self.high_value:g} days" if age > self.high_value else ""
        if one.settled and age > self.consolidated:
            return f"consolidated, older than {self.consolidated:g} days"
        if self.older_than is not None and age > self.older_than:
            return f"older than {self.older_than:g} days, as requested"
        return ""


def retention(episodes: Episodes, *, apply: bool, older_than: float | None) -> RetentionReport:
    """Report what leaves the journal by its age, and move it to the archive if requested.

    `older_than`: days; also all others that are older. Raises StoreError if the journal or the archive cannot be read
    or written.
    """
    if older_than is not None and older_than < 0:
        raise UsageError("An age cannot be below 0 days.")
    episodes.index.follow()
    journal, beside, now = episodes.journal, Archive(episodes.journal), time.time()
    with reported(journal.folder, _USE):
        size = archive.live_bytes(journal)
    halved = size > CAP_BYTES
    share = 0.5 if halved else 1.0
    ages = _Ages(CONSOLIDATED_DAYS * share, HIGH_VALUE_DAYS * share, UNCONSOLIDATED_DAYS * share, older_than)
    aged = _aged(episodes)
    going = [(one, reason) for one in aged if (reason := ages.reason(one, now))]
    gone = {one.id for one, _ in going}
    young = now - ages.unconsolidated * _A_DAY
    waiting = sum(not one.settled and not one.is_high_value and one.time < young and one.id not in gone for one in aged)
    if apply:
        with alone(journal), reported(journal.folder, _USE):
            _move(episodes, [one.id for one, _ in going])
    in_archive = episodes.tables.row("SELECT count(*) FROM episode WHERE segment <= 0")[0]
    with reported(journal.folder, _USE):
        size, archived_size = archive.live_bytes(journal), beside.size
    return RetentionReport(
        dry_run=not apply, journal_bytes=size, cap_bytes=CAP_BYTES, halved=halved, consolidated_days=ages.consolidated,
        high_value_days=ages.high_value, unconsolidated_days=ages.unconsolidated, archived=len(going),
        archived_bytes=sum(one.bytes for one, _ in going),
        rows=tuple(RetentionRow(one.id, one.time, one.title, reason, one.bytes) for one, reason in going[:_ROWS]),
        waiting=waiting, in_archive=in_archive, archive_bytes=archived_size, notes=tuple(_damaged(beside)),
    )  # fmt: skip


def purge(episodes: Episodes, names: Sequence[str], *, older_than: float | None, dry_run: bool) -> PurgeReport:
    """Delete episodes from the archive permanently.

    `names`: ids, or unique prefixes. `older_than`: days; also everything in the archive that is older. `dry_run`: only
    report what would be deleted. Raises NotFoundError if a name is not in the archive; UsageError if no name or age is
    given; StoreError if the archive cannot be written.
    """
    if not names and older_than is None:
        raise UsageError("Nothing to purge.", hint="Give ids, or --older-than DAYS.")
    ids = list(episodes.named_all(names, hidden=None)) if names else []
    episodes.index.follow()
    sql = "SELECT id, time, bytes FROM episode WHERE segment <= 0 ORDER BY time"
    rows = {id_: (at, size) for id_, at, size in episodes.tables.rows(sql)}
    for id_ in ids:
        if id_ not in rows:
            raise NotFoundError(
                f"{id_} is not in the archive.", hint="`cm episodes list --state archived` lists archived episodes."
            )
    if older_than is not None:
        ids += [id_ for id_, (at, _) in rows.items() if at < time.time() - older_than * _A_DAY and id_ not in ids]
    if ids and not dry_run:
        drop(episodes, ids)
    return PurgeReport(dry_run, tuple(ids), sum(rows[id_][1] for id_ in ids))


def drop(episodes: Episodes, ids: Sequence[str]) -> None:
    """Delete episodes from the archive; after a crash, the next deletion completes it.

    Raises StoreError if the archive cannot be written.
    """
    journal = episodes.journal
    with alone(journal), reported(journal.folder, _USE):
        # Episodes left in the journal by an interrupted move would outlive the deleted archive.
        _move(episodes, ())
        with journal.held():
            # Ids of their turns too: an older backup restores none of it.
            append_of_many(journal, PURGED, {"actor": "person"}, [*ids, *_of_turns(Archive(journal), frozenset(ids))])
        _keep_known(episodes)


def _of_turns(beside: Archive, ids: frozenset[str]) -> list[str]:
    """Return the ids of the events that episodes of the archive were made from."""
    whole = (one for number in beside.files() for one in beside.whole(number))
    return list(dict.fromkeys(said.id for episode, turn in whole if episode.id in ids for said in turn))


def drop_erased(episodes: Episodes) -> None:
    """Delete erased episodes from the archive; the caller blocks other erasures.

    Raises StoreError if the archive cannot be read or written.
    """
    with reported(episodes.journal.folder, _USE):
        _keep_known(episodes)


def _keep_known(episodes: Episodes) -> None:
    beside = Archive(episodes.journal)
    if beside.files():
        episodes.index.follow()
        beside.keep({row[0] for row in episodes.tables.rows("SELECT id FROM episode WHERE segment <= 0")})


def _move(episodes: Episodes, ids: Sequence[str]) -> None:
    """Move episodes to the archive: first a file of it, then its event in the journal, then the holes.

    An interrupted move is completed. The caller blocks other erasures.
    """
    journal, beside = episodes.journal, Archive(episodes.journal)
    wanted = {*ids, *archive.MOVING.names(journal)}
    if not wanted:
        return
    # Reading and compressing takes long: hooks write meanwhile, and what is there stays where it is.
    lines = list(_lines(journal, beside, wanted))
    archive.MOVING.note(journal, [episode.id for episode, _ in lines])
    if lines:
        number = beside.write(lines)
        with journal.held():
            append_of_many(journal, ARCHIVED, {"file": number}, [episode.id for episode, _ in lines])
            archive.hollow(journal, (line for episode, turn in lines for line in (episode, *turn)))
    archive.MOVING.forget(journal)
    episodes.index.follow()


def _lines(journal: Journal, beside: Archive, ids: set[str]) -> Iterator[tuple[Extent, Sequence[Extent]]]:
    """Yield the lines of episodes, each with those of its turn."""
    turns, at = Turns(), START
    said: dict[str, Event] = {}
    stopped: dict[str, list[Event]] = {}
    for event in journal.read():
        turn = turns.follow(event, at)
        at = event.position
        bare = event._replace(data={})
        if event.kind in {"hook.prompt", "hook.edit"}:
            said[event.id] = bare
        elif turn is not None:
            stopped[event.id] = [*(said.pop(one) for one in turn.events if one in said), bare]
        elif event.kind == episode_record.KIND:
            of_turn = stopped.pop(str(event.data.get("stop", "")), [])
            line = beside.extent(event) if event.id in ids else None
            if line is not None:
                yield line, [found for one in of_turn if (found := beside.extent(one)) is not None]


def _aged(episodes: Episodes) -> list[_Aged]:
    sql = (
        "SELECT id, time, bytes, coalesce(nullif(title, ''), prompt), pinned OR rating <> 0 OR evidence, settled FROM episode "
        "WHERE segment > 0 ORDER BY time, seq"
    )
    return [_Aged(*row) for row in episodes.tables.rows(sql)]


def _damaged(beside: Archive) -> Iterator[str]:
    for number in beside.files():
        try:
            beside.one(number, 0)
        except StoreError as error:
            yield error.message


# --- recall from the archive, on request: a word index selects archived episodes, which are read for the question alone ---

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
