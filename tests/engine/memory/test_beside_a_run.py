"""What a user changes while an index run is under way is done at once, and in answers as soon as the run lets it in."""

from __future__ import annotations

import threading

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection import episode_sync
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.errors import CancelledError
from cm_tui.model import EpisodeEdit
from tests.engine.memory.test_episode_source import index, record
from tests.waiting import until


@pytest.fixture
def engine(indexed_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(episode_sync, "CHANGE_S", 0.01)
    return indexed_engine


def found(engine: Engine) -> list[str]:
    return [hit.path for hit in engine.recall("boulders").hits]


def test_what_is_forgotten_and_undone_while_a_run_reads_is_so_in_the_next_answer(engine: Engine) -> None:
    id_ = record(engine, "roll the boulders away")
    assert found(engine) == [f"episode/{id_}"]
    lock = WriterLock.of(engine._db)
    with lock.index_run(), lock.letting_in():
        engine.edit_episodes([id_], EpisodeEdit(forgotten=True))
        assert found(engine) == []
        engine.undo()
        assert found(engine) == [f"episode/{id_}"]


def test_a_run_that_is_cancelled_while_it_looks_at_names_ends_at_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(_: object) -> None:
        raise CancelledError("It was cancelled.")

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_follow_mentions_in_slices", cancelled)
        with pytest.raises(CancelledError) as kept:
            index(engine)
    index(engine)
    assert kept.value.message == "It was cancelled."


def test_a_change_does_not_wait_for_a_run_that_stores(engine: Engine) -> None:
    id_ = record(engine, "roll the boulders away")
    assert found(engine) == [f"episode/{id_}"]
    with WriterLock.of(engine._db).index_run():
        engine.edit_episodes([id_], EpisodeEdit(forgotten=True))
        engine.undo()
        engine.forget_memory(id_)
        assert not engine.episodes().rows
        assert found(engine) == [], "its passages are still there"
        assert engine.search("boulders", profile="memory").hits == ()
        assert engine.search("boulders").beside == ()
    assert found(engine) == []


def test_many_turns_become_searchable_in_pieces_and_a_question_goes_between_two(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episode_sync, "_PIECE", 2)
    for n in range(9):
        record(engine, f"boulder number {n}")
    lock, pieces, waits = WriterLock.of(engine._db), [0], threading.Event()
    whole = episode_sync._sync

    def one_piece(*arguments, **more):
        pieces[0] += 1
        if pieces[0] == 1:
            asked.start()
            until(lambda: bool(lock._questions), "the question")
        assert pieces[0] < 3 or waits.is_set(), "the question went first"
        return whole(*arguments, **more)

    def ask() -> None:
        with lock.question_within(60) as is_held:
            assert is_held
            assert pieces[0] == 1
            waits.set()

    asked = threading.Thread(target=ask)
    monkeypatch.setattr(episode_sync, "_sync", one_piece)
    engine.read_recorded()
    asked.join(60)
    assert waits.is_set()
    assert pieces[0] > 3
    monkeypatch.setattr(episode_sync, "_sync", whole)
    assert len(engine.recall("boulder number", limit=20).hits) == 9


def test_an_index_run_lets_changes_in_until_it_stores(engine: Engine) -> None:
    lock, seen = WriterLock.of(engine._db), dict[str, bool]()
    (engine.root / "a.py").write_text("def changed(): ...\n", encoding="utf-8")
    for step in engine.index():
        if step.stage in ("scan", "parse", "store") and not step.searchable:
            seen[step.stage] = lock._lets_in
    assert seen == {"scan": True, "parse": True, "store": False}
