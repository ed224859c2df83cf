"""Selecting episodes to mine, and reading them from the journal, each with the previous one in its session.

The result of mining a turn only depends on the visible episodes: neither on their order of arrival nor on what was
mined before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
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
_SEEN = f"SELECT seq, id, time, segment, place, bytes, settled, {_KEY} AS session FROM episode WHERE {VISIBLE}"  # noqa: S608 - our own words
_DUE = f"""
WITH visible AS MATERIALIZED ({_SEEN}),
changed AS (
    SELECT session FROM visible ANTI JOIN narrator_turn USING (seq)
    UNION SELECT session FROM narrator_turn ANTI JOIN visible USING (seq)
),
chain AS (
    SELECT v.*, coalesce(lag(seq) OVER (PARTITION BY session ORDER BY time, id), 0)::INTEGER AS earlier,
        min(time) OVER (PARTITION BY session) AS begun
    FROM visible v SEMI JOIN changed USING (session)
)
SELECT c.seq, c.id, c.time, c.segment, c.place, c.bytes, c.session, c.earlier,
    coalesce(e.id, '') AS e_id, coalesce(e.segment, 0) AS e_segment, coalesce(e.place, 0) AS e_place,
    coalesce(e.bytes, 0) AS e_bytes
FROM chain c LEFT JOIN narrator_turn t ON t.seq = c.seq LEFT JOIN visible e ON e.seq = c.earlier
WHERE t.seq IS NULL OR t.earlier <> c.earlier
ORDER BY c.settled OR c.time > ?, c.begun, c.session, c.time, c.id
"""  # noqa: S608 - our own words
_LOOKED_AT = """
SELECT t.seq, t.session, t.time, e.id, e.segment, e.place, e.bytes, t.earlier, coalesce(b.id, ''), coalesce(b.segment, 0),
    coalesce(b.place, 0), coalesce(b.bytes, 0)
FROM narrator_turn t JOIN episode e ON e.seq = t.seq LEFT JOIN episode b ON b.seq = t.earlier
WHERE t.seq IN (SELECT unnest(?::INTEGER[])) AND e.state IN ('shown', 'archived')
"""
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
    at: Place
    earlier: int
    """Seq of the one before it in its session; 0: none."""
    before: Place


class Due:
    """Episodes to mine, as arrays: there are many in a long journal.

    `gone`: seqs of mined episodes that are no longer visible.
    """

    def __init__(self, columns: dict[str, Any], gone: Sequence[int]) -> None:
        self._columns = columns
        self.gone = gone

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self._columns["seq"])

    def items(self) -> Iterator[Item]:
        """Yield them, the oldest of those not consolidated first, session by session."""
        for start in range(0, len(self), 1_000):
            some = [self._columns[name][start : start + 1_000].tolist() for name in self._columns]
            for seq, id_, time, segment, place, size, session, earlier, *before in zip(*some, strict=True):
                yield Item(seq, session, time, Place(id_, segment, place, size), earlier, Place(*before))


def due(tables: NarratorTables, now: float) -> Due:
    """Return the differences between visible and mined episodes."""
    return Due(tables.columns(_DUE, [now - OLD_S]), gone(tables))


def gone(tables: NarratorTables) -> list[int]:
    """Return the seq of episodes that were looked at and may not be seen any more."""
    return [row[0] for row in tables.rows(_GONE)]


def items_of(tables: NarratorTables, seqs: Sequence[int]) -> list[Item]:
    """Return mined episodes as they were; those that are no longer visible are omitted."""
    found = tables.rows(_LOOKED_AT, [list(seqs)])
    return [Item(row[0], row[1], row[2], Place(*row[3:7]), row[7], Place(*row[8:])) for row in found]


class Reader:
    """Reads episodes of a journal and its archive, and keeps the current file open."""

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder)
        self._archive = Archive(self._journal)
        self._file: tuple[int, BinaryIO] | None = None
        self._archived: tuple[int, Iterator[tuple[int, Event]], int] | None = None
        self._last: tuple[int, Turn] | None = None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file[1].close()
            self._file = None

    def turn(self, item: Item) -> Turn | None:
        """Return an episode with the previous one in its session; None: not in the journal any more.

        Raises StoreError if it cannot be read.
        """
        event = self._event(item.at)
        if event is None:
            return None
        turn = _turn(event, self._before(item))
        self._last = (item.seq, Turn(turn.id, turn.time, turn.record))
        return turn

    def _before(self, item: Item) -> Turn | None:
        if not item.earlier:
            return None
        if self._last is not None and self._last[0] == item.earlier:
            return self._last[1]
        event = self._event(item.before)
        return None if event is None else _turn(event, None)

    def _event(self, at: Place) -> Event | None:
        if at.segment <= 0:
            return self._of_archive(at)
        event = self._quickly(at)
        if event is None or event.id != at.id:
            # There may be debris between two events, and an event may begin the next file.
            event = next(self._journal.read(Position(at.segment, at.place)), None)
        return event if event is not None and event.id == at.id and event.kind == KIND else None

    def _quickly(self, at: Place) -> Event | None:
        """Return the event that fills a place, if it does."""
        try:
            if self._file is None or self._file[0] != at.segment:
                self.close()
                self._file = (at.segment, self._journal.file(at.segment).open("rb"))
            file = self._file[1]
            file.seek(at.place)
            fields = parse_line(file.read(at.size))
        except OSError as error:
            raise StoreError(
                f"The journal {self._journal.folder} cannot be read: {error}", hint="Check the disk and the folder."
            ) from error
        return as_event(fields, Position(at.segment, at.place + at.size)) if isinstance(fields, dict) else None

    def _of_archive(self, at: Place) -> Event | None:
        """Return an episode of the archive; those of one file are read in sequence."""
        number = -at.segment
        if self._archived is None or self._archived[0] != number or self._archived[2] > at.place:
            self._archived = (number, self._archive.read(number), 0)
        _, lines, _ = self._archived
        for place, event in lines:
            if place >= at.place:
                self._archived = (number, lines, place + 1)
                return event if place == at.place and event.id == at.id else None
        self._archived = None
        return None


def turns(folder: Path, items: Sequence[Item]) -> Iterator[tuple[Item, Turn | None]]:
    """Yield episodes, each with the one before it in its session.

    Raises StoreError if the journal cannot be read.
    """
    with closing(Reader(folder)) as reader:
        for item in items:
            yield item, reader.turn(item)


def _turn(event: Event, before: Turn | None) -> Turn:
    record = EpisodeRecord.from_event(event)
    return Turn(event.id, event.time if record.at is None else record.at, record, before)
