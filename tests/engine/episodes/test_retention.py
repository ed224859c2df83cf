"""What leaves the journal by its age, the archive that it moves to, and what is purged from there."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import pytest

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.episodes import retention
from cm_tui.engine.memory.episodes.changes import CONSOLIDATED
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.platform.journal import journal
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import EpisodeEdit, EpisodeFilter
from tests.forked import run_python

DAY = 86_400.0
ARCHIVED = EpisodeFilter(state="archived")


@pytest.fixture
def engine(indexed_engine: Engine) -> Engine:
    return indexed_engine


def record(engine: Engine, prompt: str, days: float) -> str:
    """A turn as hooks and the daemon record it, that ended so many days ago."""
    journal, who = Journal.of(engine.root), {"root": str(engine.root), "session": prompt}
    journal.append("hook.prompt", {**who, "prompt": prompt})
    stop = journal.append("hook.stop", who)
    said = EpisodeRecord(prompts=(prompt,), at=time.time() - days * DAY, stop=stop.id, root=who["root"], session=prompt)
    return journal.append("episode", said.to_event_data()).id


def consolidate(engine: Engine, *ids: str) -> None:
    Journal.of(engine.root).append(CONSOLIDATED, {"ids": list(ids), "actor": "narrator"})


def test_ages_are_those_of_the_guide_and_halved_over_the_cap(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    old, young, fresh, valued, treasure = (
        record(engine, name, days)
        for name, days in (("old", 91), ("young", 89), ("new", 31), ("pin", 364), ("rate", 366))
    )
    consolidate(engine, old, young)
    engine.edit_episodes([valued], EpisodeEdit(pinned=True))
    engine.edit_episodes([treasure], EpisodeEdit(rating=1))
    report = engine.retention()
    assert (report.consolidated_days, report.high_value_days, report.unconsolidated_days) == (90, 365, 30)
    assert (report.cap_bytes, report.halved, report.dry_run) == (50_000_000, False, True)
    assert {row.id: row.reason for row in report.rows} == {
        old: "consolidated, older than 90 days",
        treasure: "of high value, older than 365 days",
    }
    assert (report.archived, report.waiting, report.in_archive) == (2, 1, 0)
    assert fresh not in {row.id for row in report.rows}
    monkeypatch.setattr(retention, "CAP_BYTES", 1_000)
    halved = engine.retention()
    assert (halved.halved, halved.consolidated_days, halved.unconsolidated_days) == (True, 45, 15)
    assert {row.id for row in halved.rows} == {old, young, valued, treasure}
    assert engine.episodes().total == 5, "a report moves nothing"


def test_what_is_archived_leaves_the_journal_and_is_found_on_request(engine: Engine):
    ids = [record(engine, f"sell boulders {number}", 100 + number) for number in range(3)]
    kept = record(engine, "sell pebbles", 1)
    consolidate(engine, *ids)
    journal = Journal.of(engine.root)
    end, before = journal.end(), engine.retention().journal_bytes
    report = engine.retention(apply=True)
    assert (report.archived, report.dry_run) == (3, False)
    after = engine.retention()
    assert (after.archived, after.in_archive) == (0, 3)
    assert after.journal_bytes < before - 3 * 150
    assert after.archive_bytes > 0
    assert journal.holds(end, next(event.id for event in journal.read() if event.position == end))
    assert not journal.problems()
    told = " ".join(str(event.data) for event in journal.read())
    assert "boulders" not in told, "the turn's prompt and stop moved along"
    for _ in range(2):
        assert [one.id for one in engine.episodes().rows] == [kept]
        assert [one.id for one in engine.episodes(where=ARCHIVED, match="boulders").rows] == ids
        hits = engine.search("boulders", profile="memory").hits
        assert {hit.path for hit in hits} <= {f"episode/{kept}"}, "a vector may find what is left"
        whole = engine.episode(ids[1])
        assert (whole.prompts, whole.state) == (("sell boulders 1",), "archived")
        # The same answers from an index that is made anew.
        for _ in engine.rebuild():
            pass
    line = gzip.decompress(Archive(journal).file(1).read_bytes()).decode()
    assert line.count("hook.prompt") == 3, "nothing of a turn is lost"
    runs: list[Path] = []
    consumer = JournalConsumer(lambda root, *_: runs.append(root))
    consumer.on_nudge(engine.root)
    consumer.close()
    assert sum(event.kind == "episode" for event in journal.read()) == 1, "no turn is recorded again"


def test_what_is_purged_is_gone_for_good(engine: Engine):
    ids = [record(engine, f"sell boulders {number}", 100 + number) for number in range(3)]
    here = record(engine, "sell pebbles", 1)
    assert engine.retention(apply=True, older_than=50).archived == 3
    with pytest.raises(UsageError):
        engine.purge()
    for name in (here, "zzzz"):
        with pytest.raises(NotFoundError):
            engine.purge([name])
    asked = engine.purge([ids[0][:20]], older_than=101.5, dry_run=True)
    assert asked.ids == (ids[0], ids[2])
    assert asked.bytes > 0
    assert engine.episodes(where=ARCHIVED).total == 3
    assert engine.purge(asked.ids).ids == asked.ids
    for _ in range(2):
        assert [one.id for one in engine.episodes(where=ARCHIVED).rows] == [ids[1]]
        with pytest.raises(NotFoundError):
            engine.episode(ids[0])
        for _ in engine.rebuild():
            pass
    assert b"boulders 1" in (left := gzip.decompress(Archive(Journal.of(engine.root)).file(1).read_bytes()))
    assert b"boulders 0" not in left


def test_what_is_archived_and_erased_is_in_no_file(engine: Engine):
    ids = [record(engine, f"sell zanzibar {number}", 100) for number in range(2)]
    engine.retention(apply=True, older_than=50)
    report = engine.erase([ids[0]])
    assert [event.id for event in report.events] == [ids[0]]
    engine.close()
    files = [file for file in paths.data_dir().rglob("*") if file.is_file()]
    everything = b"".join(gzip.decompress(f.read_bytes()) if f.suffix == ".gz" else f.read_bytes() for f in files)
    assert b"zanzibar 0" not in everything
    assert b"zanzibar 1" in everything


def test_the_archive_is_recalled_on_request_and_leaves_no_trace(engine: Engine):
    old = record(engine, "Why was the boulder cache reverted? It served stale stones.", 200)
    record(engine, "Which quarry delivers on Sundays?", 200)
    new = record(engine, "The boulder cache is back.", 1)
    assert engine.recall("boulder cache", where=ARCHIVED).hits == ()
    engine.retention(apply=True, older_than=50)
    assert [hit.path for hit in engine.recall("boulder cache").hits] == [f"episode/{new}"]
    found = engine.recall("why did we revert the cache of boulders", where=ARCHIVED, limit=1)
    assert [hit.path for hit in found.hits] == [f"episode/{old}"]
    assert "stale stones" in found.hits[0].snippet
    with pytest.raises(NotFoundError, match="Session not found: 'no such'"):
        engine.recall("cache", where=EpisodeFilter(state="archived", session="no such"))
    engine.purge([old])
    assert all(hit.path != f"episode/{old}" for hit in engine.recall("boulder cache", where=ARCHIVED).hits)


def test_what_was_moved_is_counted_as_archived_at_once(engine: Engine):
    record(engine, "sell boulders", 200)
    before = engine.retention(older_than=50)
    after = engine.retention(apply=True, older_than=50)
    assert (before.in_archive, after.in_archive) == (0, 1)
    assert after.archive_bytes > 0
    assert after.journal_bytes < before.journal_bytes


def test_of_a_large_archive_the_rarest_words_are_read(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(retention, "MOST", 2)
    wanted = record(engine, "the boulder of gneiss", 300)
    for number in range(4):
        record(engine, f"the boulder number {number}", 200)
    engine.retention(apply=True, older_than=50)
    found = engine.recall("boulder of gneiss", where=ARCHIVED)
    assert found.hits[0].path == f"episode/{wanted}"
    assert any("2 of 5 archived episodes" in note for note in found.notes)


KILLED = """
import os, sys, pathlib
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.journal import archive
from cm_tui.engine.memory.episodes import retention
left = [int(sys.argv[2])]
def dying(function):
    def call(*args, **values):
        left[0] -= 1
        if left[0] < 0:
            os._exit(9)
        return function(*args, **values)
    return call
for module, name in ((archive.MOVING, "note"), (archive.Archive, "write"), (retention, "append_of_many"), (archive, "hollow"), (archive.MOVING, "forget")):
    setattr(module, name, dying(getattr(module, name)))
Engine.open(pathlib.Path(sys.argv[1])).retention(apply=True, older_than=50)
"""


def move_and_die(root: Path, steps: int) -> None:
    """Apply retention in a process that is killed after so many steps."""
    done = run_python(KILLED, str(root), str(steps))
    assert done.returncode == 9, done.stderr


BEFORE_THE_HOLES = 3
"""Steps after which the archive has what moved, and the journal still has its text."""


@pytest.mark.few(2)
@pytest.mark.parametrize("steps", range(5))
def test_who_is_killed_while_it_moves_loses_nothing(engine: Engine, steps: int):
    ids = [record(engine, f"sell boulders {number}", 100) for number in range(3)]
    engine.close()
    move_and_die(engine.root, steps)
    with Engine.open(engine.root) as again:
        there = {
            one.id for state in ("shown", "archived") for one in again.episodes(where=EpisodeFilter(state=state)).rows
        }
        assert there == set(ids)
        again.retention(apply=True, older_than=50)
        assert {one.id for one in again.episodes(where=ARCHIVED).rows} == set(ids)
        for _ in again.rebuild():
            pass
        assert {one.id for one in again.episodes(where=ARCHIVED).rows} == set(ids)
        assert "boulders" not in " ".join(str(event.data) for event in Journal.of(again.root).read())


def test_what_a_killed_process_left_in_the_journal_is_purged_too(engine: Engine):
    gone, kept = (record(engine, f"sell boulders {number}", 100) for number in range(2))
    engine.close()
    move_and_die(engine.root, BEFORE_THE_HOLES)
    with Engine.open(engine.root) as again:
        journal = Journal.of(again.root)
        assert "boulders 0" in " ".join(str(event.data) for event in journal.read())
        assert again.purge([gone]).ids == (gone,)
        assert [one.id for one in again.episodes(where=ARCHIVED).rows] == [kept]
        assert b"boulders" not in b"".join(journal.file(number).read_bytes() for number in journal.segments())
        files = (Archive(journal).file(number).read_bytes() for number in Archive(journal).files())
        assert b"boulders 0" not in b"".join(map(gzip.decompress, files))


def test_hooks_write_while_episodes_are_compressed(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    old = record(engine, "old", 91)
    consolidate(engine, old)
    write = Archive.write

    def slowly(self: Archive, *words: Any) -> int:
        record(engine, "new", 0)
        return write(self, *words)

    monkeypatch.setattr(journal, "LOCK_SECONDS", 0.2)
    monkeypatch.setattr(Archive, "write", slowly)
    assert engine.retention(apply=True).archived == 1
    assert [one.id for one in engine.episodes(where=ARCHIVED).rows] == [old]
    assert engine.episodes().total == 1
