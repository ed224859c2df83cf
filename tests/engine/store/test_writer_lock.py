"""Short changes of a user go before long work, and beside it where that only reads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cm_tui.engine.platform.store import writer_lock
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.model import Cancel
from tests.waiting import until


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WriterLock]:
    monkeypatch.setattr(writer_lock, "_STORING_S", 0.01)
    db = Database(tmp_path / "store", in_memory=True)
    yield WriterLock.of(db)
    db.close()


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_short_change_goes_beside_a_run_that_reads_and_not_long_after_one_that_stores(lock: WriterLock) -> None:
    with lock.index_run():
        with lock.question_within(60) as is_held:
            assert not is_held, "a run that stores is not waited for as long"
        with lock.letting_in():
            with lock.question_within(0) as is_held:
                assert is_held
            assert not lock._questions
        with lock.question_within(60) as is_held:
            assert not is_held
        lock.end_numbering()
        with lock.question_within(0) as is_held:
            assert is_held


def test_a_run_stores_only_when_what_began_beside_it_has_ended(lock: WriterLock) -> None:
    order: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def ask() -> None:
        with lock.question_within(60):
            begun.set()
            assert go_on.wait(60)
            order.append("change")

    with lock.index_run():
        with lock.letting_in():
            asked = started(ask)
            assert begun.wait(60)
            # A second one has its turn after the first.
            with lock.question_within(0) as is_held:
                assert not is_held
            go_on.set()
        order.append("store")
    asked.join(60)
    assert order == ["change", "store"]


def test_who_gives_numbers_waits_for_a_run_that_lets_others_in(lock: WriterLock) -> None:
    order: list[str] = []

    def ask() -> None:
        with lock.question():
            order.append("question")

    with lock.index_run():
        with lock.letting_in():
            asked = started(ask)
            until(lambda: lock.is_wanted and bool(lock._questions), "the question")
        order.append("run")
    asked.join(60)
    assert order == ["run", "question"]


def test_a_piece_of_the_run_goes_beside_the_run_and_after_questions(lock: WriterLock) -> None:
    order: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def ask() -> None:
        with lock.question_within(60):
            begun.set()
            assert go_on.wait(60)
            order.append("question")

    def piece() -> None:
        with lock.batch(Cancel(), of_run=True):
            order.append("piece")

    with lock.index_run():
        lock.end_numbering()
        asked = started(ask)
        assert begun.wait(60)
        pieces = started(piece)
        go_on.set()
        pieces.join(60)
        asked.join(60)
    assert order == ["question", "piece"]
