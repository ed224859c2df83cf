"""Selecting episodes to mine, and reading them from the journal, each with the previous one in its session.

The result of mining a turn only depends on the visible episodes: neither on their order of arrival nor on what was
mined before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cm_tui.engine.memory.narrator.tables import VISIBLE, NarratorTables
from cm_tui.engine.memory.narrator.turn import Turn
from cm_tui.engine.memory.projection.episode_record import KIND, EpisodeRecord
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.event import Event, Position, as_event, parse_line
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreError

OLD_S = 30 * 86_400.0
"""Episodes that are older and were not consolidated are looked at first."""
_KEY = "(md5_number_lower(CASE WHEN session = '' THEN id ELSE agent || '/' || session END) >> 1)::BIGINT"
_BEFORE = "coalesce(b.id, ''), coalesce(b.segment, 0), coalesce(b.place, 0), coalesce(b.bytes, 0)"
_DUE = f"""
WITH seen AS MATERIALIZED (SELECT seq, agent, session FROM episode WHERE {VISIBLE}),
gone AS MATERIALIZED (SELECT session FROM narrator_turn ANTI JOIN seen USING (seq)),
visible AS MATERIALIZED (
    SELECT seq, id, time, segment, place, bytes, settled, {_KEY} AS session FROM episode
    WHERE {VISIBLE} AND ((agent, session) IN (SELECT (agent, session) FROM seen ANTI JOIN narrator_turn USING (seq))
        OR (EXISTS (FROM gone) AND {_KEY} IN (FROM gone)))
),
changed AS (SELECT session FROM visible ANTI JOIN narrator_turn USING (seq) UNION FROM gone),
chain AS (
    SELECT v.*, coalesce(lag(seq) OVER (PARTITION BY session ORDER BY time, id), 0)::INTEGER AS earlier,
        min(time) OVER (PARTITION BY session) AS begun
    FROM visible v SEMI JOIN changed USING (session)
)
SELECT c.seq, c.session, c.time, c.earlier, c.id, c.segment, c.place, c.bytes, {_BEFORE}
FROM chain c LEFT JOIN narrator_turn t ON t.seq = c.seq LEFT JOIN visible b ON b.seq = c.earlier
WHERE t.seq IS NULL OR t.earlier <> c.earlier
ORDER BY c.settled OR c.time > ?, c.begun, c.session, c.time, c.id
"""  # noqa: S608 - our own words
_LOOKED_AT = f"""
SELECT t.seq, t.session, t.time, t.earlier, e.id, e.segment, e.place, e.bytes, {_BEFORE}
FROM narrator_turn t JOIN episode e ON e.seq = t.seq LEFT JOIN episode b ON b.seq = t.earlier
WHERE t.seq IN (SELECT unnest(?::INTEGER[])) AND e.state IN ('shown', 'archived')
"""  # noqa: S608 - our own words
_GONE = f"SELECT seq FROM narrator_turn ANTI JOIN (SELECT seq FROM episode WHERE {VISIBLE}) USING (seq)"  # noqa: S608 - our own words


class Place(NamedTuple):
    """Place of an episode."""

    id: str
    segment: int
    """File of the journal; 0 and below: of the archive."""
    place: int
    """In the file; in the archive: its line."""
    size: int


class Item(NamedTuple):
    """An episode to mine."""

    seq: int
    session: int
    time: float
    earlier: int
    """Seq of the one before it in its session; 0: none."""
    at: Place
    before: Place


def due(tables: NarratorTables, now: float) -> list[Item]:
    """Return visible episodes to mine, the oldest of those not consolidated first, session by session."""
    return list(map(_item, tables.rows(_DUE, [now - OLD_S])))


def invisible_episodes(tables: NarratorTables) -> list[int]:
    """Return the seq of mined episodes that are no longer visible."""
    return [row[0] for row in tables.rows(_GONE)]


def items_of(tables: NarratorTables, seqs: Sequence[int]) -> list[Item]:
    """Return mined episodes as they were; those that are no longer visible are omitted."""
    return list(map(_item, tables.rows(_LOOKED_AT, [list(seqs)])))


def turns(folder: Path, items: Sequence[Item]) -> Iterator[tuple[Item, Turn | None]]:
    """Yield episodes, each with the one before it in its session; None: not in the journal any more.

    Raises StoreError if the journal cannot be read.
    """
    with ExitStack() as files:
        reader = _Reader(folder, files)
        last: tuple[int, Turn | None] = 0, None
        for item in items:
            before = last[1] if item.earlier == last[0] else reader.turn(item.before)
            turn = reader.turn(item.at)
            last = item.seq, turn
            yield item, None if turn is None else Turn(turn.id, turn.time, turn.record, before)


class _Reader:
    """Reads episodes of a journal and its archive; those of one archived file in sequence. `files`: closes the open one."""

    def __init__(self, folder: Path, files: ExitStack) -> None:
        self._journal = Journal(folder)
        self._files = files
        self._open: tuple[int, BinaryIO] | None = None
        self._archive = Archive(self._journal)
        self._archived: tuple[int, Iterator[tuple[int, Event]], int] | None = None

    def turn(self, at: Place) -> Turn | None:
        event = self._event(at) if at.segment > 0 or not at.id else self._of_archive(at)
        if event is None or event.id != at.id or event.kind != KIND:
            return None
        record = EpisodeRecord.from_event(event)
        return Turn(event.id, event.time if record.at is None else record.at, record)

    def _event(self, at: Place) -> Event | None:
        if not at.id:
            return None
        try:
            if self._open is None or self._open[0] != at.segment:
                self._files.close()
                self._open = at.segment, self._files.enter_context(self._journal.file(at.segment).open("rb"))
            self._open[1].seek(at.place)
            fields = parse_line(self._open[1].read(at.size))
        except OSError as error:
            raise StoreError(
                f"The journal {self._journal.folder} cannot be read: {error}", hint="Check the disk and the folder."
            ) from error
        if isinstance(fields, dict) and fields["id"] == at.id:
            return as_event(fields, Position(at.segment, at.place + at.size))
        # There may be debris between two events, and an event may begin the next file.
        return next(self._journal.read(Position(at.segment, at.place)), None)

    def _of_archive(self, at: Place) -> Event | None:
        number = -at.segment
        if self._archived is None or self._archived[0] != number or self._archived[2] > at.place:
            self._archived = (number, self._archive.read(number), 0)
        _, lines, _ = self._archived
        for place, event in lines:
            if place >= at.place:
                self._archived = (number, lines, place + 1)
                return event if place == at.place else None
        self._archived = None
        return None


def _item(row: Sequence[Any]) -> Item:
    return Item(row[0], row[1], row[2], row[3], Place(*row[4:8]), Place(*row[8:]))
