"""Episodes are passages: found by what was asked and answered, each read once, and all of them again when need be."""

from __future__ import annotations

import threading

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection import episode_sync
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.errors import StoreError
from cm_tui.model import Cancel, IndexSummary
from tests.waiting import until


def index(engine: Engine, **how: bool) -> IndexSummary:
    summary = [step.summary for step in engine.index(**how)][-1]
    assert summary is not None
    return summary


def record(engine: Engine, *prompts: str, answer: str = "") -> str:
    data = EpisodeRecord(prompts=prompts, answer=answer).to_event_data()
    return Journal.of(engine.root).append("episode", data).id


def found(engine: Engine, query: str) -> list[str]:
    return [hit.path for hit in engine.search(query, profile="memory", limit=100).hits]


def test_an_episode_is_found_by_what_was_asked_and_answered(engine: Engine):
    index(engine)
    assert "the index holds none" in " ".join(engine.search("gravel", profile="memory").notes)
    id_ = record(engine, "pave the driveway\nwith gravel", "and the path", answer="Both are paved now.")
    assert index(engine).changed == 0
    [hit] = engine.search("who paved the driveway", profile="memory").hits
    assert (hit.source, hit.path, hit.start_line, hit.end_line) == ("episode", f"episode/{id_}", 1, 6)
    assert any(part.name == "decay" for part in hit.parts) is False or hit.score > 0
    assert engine.source(hit.path).text == "pave the driveway\nwith gravel\n\nand the path\n\nBoth are paved now."
    assert engine.source(hit.path, 4, 4).text == "and the path"
    assert [one.source for one in engine.search("gravel").hits] == ["code"]
    status = engine.status()
    assert status.passages == status.embedded == 2


def test_what_was_recorded_since_the_index_run_is_found(engine: Engine):
    index(engine)
    assert engine.search("boulders", profile="memory").hits == ()
    first = record(engine, "roll the boulders away")
    result = engine.search("boulders", profile="memory")
    assert [hit.path for hit in result.hits] == [f"episode/{first}"]
    assert not any("the index holds none" in note for note in result.notes)
    second = record(engine, "and the boulders behind them")
    found_too = engine.rank(engine.retrieve("boulders", profile="memory"), engine.profiles()["memory"])
    assert {hit.path for hit in found_too.hits} == {f"episode/{first}", f"episode/{second}"}


def test_a_question_does_not_wait_long_for_a_writer(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(episode_sync, "WAIT_S", 0.05)
    index(engine)
    id_ = record(engine, "roll the boulders away")
    with WriterLock.of(engine._db).index_run():
        held = engine.search("boulders", profile="memory")
        assert held.hits == ()
        assert any("current index run" in note for note in held.notes)
        # Questions that look at code alone have nothing to wait for, nor to say.
        assert not any("under way" in note for note in engine.search("gravel").notes)
    assert [hit.path for hit in engine.search("boulders", profile="memory").hits] == [f"episode/{id_}"]


def test_what_was_just_recorded_is_found_while_history_is_read(engine: Engine):
    index(engine)
    id_ = record(engine, "roll the boulders away")
    lock, reading = WriterLock.of(engine._db), threading.Event()

    def read_history() -> None:
        with lock.batch(Cancel()):
            reading.set()
            until(lambda: lock.is_wanted, "somebody to want it")

    reader = threading.Thread(target=read_history)
    reader.start()
    reading.wait()
    assert [hit.path for hit in engine.recall("boulders").hits] == [f"episode/{id_}"]
    reader.join()
    assert not lock.is_wanted


def test_what_is_remembered_is_found_without_an_index_and_stays_when_there_is_one(engine: Engine):
    id_ = record(engine, "roll the boulders away")
    assert [one.id for one in engine.episodes().rows] == [id_]
    assert engine.episode(id_).prompts == ("roll the boulders away",)
    assert [hit.path for hit in engine.recall("boulders").hits] == [f"episode/{id_}"]
    index(engine)
    assert [hit.path for hit in engine.recall("boulders").hits] == [f"episode/{id_}"]
    assert engine.search("gravel").hits[0].path == "a.py"


def test_each_is_read_once_and_none_is_lost(engine: Engine):
    ids = [record(engine, f"prompt number {n}") for n in range(3)]
    index(engine)
    assert sorted(found(engine, "prompt number")) == sorted(f"episode/{id_}" for id_ in ids)
    ids.append(record(engine, "prompt number 4"))
    Journal.of(engine.root).append("hook.edit", {"paths": ["a.py"]})
    assert index(engine).passages == 5
    assert index(engine).passages == 5
    for again in (index(engine, full=True), [step.summary for step in engine.rebuild()][-1]):
        assert again is not None
        assert again.passages == 5
        assert sorted(found(engine, "prompt number")) == sorted(f"episode/{id_}" for id_ in ids)
    engine._db.set_meta("passage_version", "older")
    assert index(engine).passages == 5


def test_a_journal_that_is_another_one_is_read_from_its_beginning(engine: Engine):
    for n in range(5):
        record(engine, f"prompt number {n}")
    index(engine)
    for file in Journal.of(engine.root).folder.glob("*.jsonl"):
        file.unlink()
    id_ = record(engine, "prompt of another journal")
    index(engine)
    assert found(engine, "prompt") == [f"episode/{id_}"]


def test_a_journal_that_cannot_be_read_is_told_of_and_stops_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: object) -> None:
        raise StoreError("The journal cannot be used.")

    with monkeypatch.context() as broken:
        broken.setattr(Journal, "segments", fails)
        summary = index(engine)
    assert summary.files == 1
    assert "Episodes are not up to date: The journal cannot be used." in summary.notes
    record(engine, "pave it")
    index(engine)
    assert len(found(engine, "pave")) == 1


def test_strange_texts_and_long_ones_are_stored(engine: Engine):
    journal = Journal.of(engine.root)
    journal.append("episode", {"prompts": ["\x1b[2J\x00\udcff strange", 7], "answer": None})
    journal.append("episode", {})
    long = record(engine, "pave\n" + "\n".join(f"line {n} of a log" for n in range(400)))
    index(engine)
    assert len(found(engine, "strange")) >= 1
    hits = [hit for hit in engine.search("log", profile="memory").hits if hit.path == f"episode/{long}"]
    assert hits
    assert all(hit.end_line - hit.start_line < 60 for hit in hits)
    assert engine.source(f"episode/{long}", 100, 100).text == "line 98 of a log"
