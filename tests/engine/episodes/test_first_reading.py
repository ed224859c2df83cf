"""A long journal is read beside questions: the newest is listed at once, and in the end everything."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.memory.episodes import episode_index, first_reading
from cm_tui.engine.memory.episodes.episode_index import EpisodeIndex
from cm_tui.engine.memory.episodes.episode_lists import EpisodeLists
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.episodes.first_reading import FirstReading
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.visibility import FORGOTTEN
from cm_tui.engine.platform.journal.journal import Journal, bytes_after, near_end
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import EpisodeFilter
from tests.waiting import until

ALL = EpisodeFilter()


class Slow(EpisodeIndex):
    """Reads on when it is told to."""

    def __init__(self, tables: EpisodeTables, journal: Journal) -> None:
        super().__init__(tables, journal)
        self.may = threading.Semaphore(0)

    def follow(self, go_on=lambda: True):
        def wait() -> bool:
            while not self.may.acquire(timeout=0.01):
                if not go_on():
                    return False
            return go_on()

        return super().follow(wait if threading.current_thread().name == "cm-episodes" else go_on)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "store")
    yield database
    database.close()


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setattr(first_reading, "_AT_ONCE", 2_500)
    monkeypatch.setattr(episode_index, "_EPISODES", 7)
    monkeypatch.setattr(episode_index, "PART", 7)
    found = Journal(tmp_path / "journal", segment_bytes=1_500)
    for number in range(40):
        record(found, number)
    return found


def record(journal: Journal, number: int) -> str:
    said = EpisodeRecord(session=f"s{number // 3}", prompts=(f"number {number}",), at=1e9 + number)
    return journal.append("episode", said.to_event_data()).id


def reading_of(db: Database, journal: Journal) -> tuple[FirstReading, Slow]:
    tables = EpisodeTables.of(db)
    index = Slow(tables, journal)
    return FirstReading(index, tables, journal, lambda _: None, is_awaited=False), index


def prompts(lists: EpisodeLists) -> list[str]:
    return [one.prompts[0] for one in lists.page(ALL, "", None, 100).rows]


def until_read(reading: FirstReading) -> None:
    until(lambda: not reading.now().is_part, "all to be read")


def test_the_newest_is_listed_while_the_rest_is_read(db: Database, journal: Journal):
    reading, index = reading_of(db, journal)
    read = reading.now()
    listed = prompts(read.lists)
    assert read.is_part
    assert 3 < len(listed) < 30
    assert listed == [f"number {39 - place}" for place in range(len(listed))]
    assert f"only the newest {len(listed)} are listed" in read.note
    assert read.lists.sessions(ALL, None, 1).rows[0].id == "s13"
    # What is recorded and said meanwhile is listed too.
    newest = record(journal, 40)
    journal.append(FORGOTTEN, {"ids": [newest], "change": "c"})
    record(journal, 41)
    assert prompts(reading.now().lists)[:2] == ["number 41", "number 39"]
    index.may.release(1_000)
    until_read(reading)
    assert prompts(reading.now().lists) == [f"number {number}" for number in (41, *range(39, -1, -1))]
    reading.close()


def test_a_reading_that_is_ended_goes_on_where_it_was(db: Database, journal: Journal):
    reading, index = reading_of(db, journal)
    assert reading.now().is_part
    index.may.release(20)
    until(lambda: bytes_after(journal, index.read_to()) != bytes_after(journal), "a part to be read")
    reading.close()
    assert 0 < bytes_after(journal, index.read_to()) < bytes_after(journal)
    again, index = reading_of(db, journal)
    index.may.release(1_000)
    until_read(again)
    assert len(prompts(again.now().lists)) == 40


def test_whoever_changes_something_waits_for_all(db: Database, journal: Journal):
    reading, index = reading_of(db, journal)
    assert reading.now().is_part
    index.may.release(1_000)
    assert len(prompts(reading.all().lists)) == 40


def test_a_short_journal_is_read_at_once(db: Database, tmp_path: Path):
    journal = Journal(tmp_path / "short")
    record(journal, 1)
    reading, _ = reading_of(db, journal)
    read = reading.now()
    assert (read.is_part, read.note, prompts(read.lists)) == (False, "", ["number 1"])


@pytest.mark.parametrize("size", [0, 1, 200, 1_499, 3_000, 10**9])
def test_a_place_near_the_end_is_between_two_lines(journal: Journal, size: int):
    place = near_end(journal, size)
    behind = [event.data["prompts"][0] for event in journal.read(place)]
    assert behind == [f"number {number}" for number in range(40 - len(behind), 40)]
    assert bytes_after(journal, place) <= size
    assert journal.holds(place, "")


def test_a_store_lets_go_of_its_blocks_and_goes_on(db: Database):
    def cached() -> int:
        return sum(row[0] for row in db.rows("SELECT memory_usage_bytes FROM duckdb_memory()"))

    db.release_blocks()
    limit = db.value("SELECT current_setting('memory_limit')")
    db.execute("CREATE TABLE much AS SELECT range AS number, range::VARCHAR || 'abcdefgh' AS text FROM range(300000)")
    db.execute("CHECKPOINT")
    assert db.value("SELECT count(DISTINCT text) FROM much") == 300_000
    before = cached()
    db.release_blocks()
    assert cached() < before / 2
    assert db.value("SELECT current_setting('memory_limit')") == limit
    assert db.value("SELECT count(DISTINCT text) FROM much") == 300_000
