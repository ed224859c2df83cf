"""A question sees one committed state from its first row to its last, whatever is written meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from cm_tui.engine.platform.store import generations
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import GENERATION


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = Database(tmp_path)
    advance(db)
    yield db
    db.close()


def advance(db: Database) -> None:
    """Commit the next generation, as an index run does."""
    with db.transaction():
        number = int(db.get_meta(GENERATION) or 0) + 1
        db.set_meta(GENERATION, str(number))
        db.set_meta("what", f"of {number}")


def seen(db: Database) -> tuple[int, str | None]:
    with db.reading() as number:
        return number, db.get_meta("what")


def in_another_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(60)


def test_a_question_sees_one_generation_to_its_end(db: Database) -> None:
    with db.reading() as number:
        in_another_thread(lambda: advance(db))
        assert (number, db.get_meta("what")) == (1, "of 1")
        with db.reading() as again:
            assert again == 1
        assert in_another_thread(lambda: seen(db)) == (2, "of 2")
    assert seen(db) == (2, "of 2")


def test_questions_stay_at_the_one_before_until_the_next_is_ready(db: Database) -> None:
    made = []

    def prepare(number: int) -> None:
        assert db.get_meta("what") == f"of {number}"
        made.append((number, in_another_thread(lambda: seen(db))))

    db.generations.on_change(prepare)
    with db.generations.changing():
        advance(db)
        assert in_another_thread(lambda: seen(db)) == (1, "of 1")
    assert made == [(2, (1, "of 1"))]
    assert seen(db) == (2, "of 2")


def test_one_that_began_before_the_change_ends_where_it_began(db: Database) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def question() -> tuple[int, str | None]:
        with db.reading() as number:
            begun.set()
            go_on.wait(60)
            return number, db.get_meta("what")

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(question)
        begun.wait(60)
        with db.generations.changing():
            advance(db)
        go_on.set()
        assert answer.result(60) == (1, "of 1")


def test_what_is_kept_is_seen_by_all_and_the_question_goes_on(db: Database) -> None:
    db.execute("ATTACH ':memory:' AS beside")
    with db.reading():
        with db.generations.keeping():
            db.execute("CREATE TABLE beside.derived AS SELECT value FROM meta WHERE key = 'what'")
        assert db.value("SELECT value FROM beside.derived") == "of 1"
        with db.generations.changing():
            in_another_thread(lambda: advance(db))
            with db.generations.keeping():
                db.execute("CREATE TABLE beside.later AS SELECT value FROM meta WHERE key = 'what'")
            assert db.get_meta("what") == "of 1"
    assert seen(db) == (2, "of 2")
    assert db.value("SELECT value FROM beside.later") == "of 1"


def test_a_failed_query_costs_no_other_question_its_turn(db: Database) -> None:
    def failing() -> None:
        with db.reading():
            db.value("SELECT 'a'::INTEGER")

    with db.generations.changing():
        advance(db)
        for _ in range(generations.SPARES - 1):
            with pytest.raises(duckdb.ConversionException):
                in_another_thread(failing)
        assert in_another_thread(lambda: seen(db)) == (1, "of 1")
    assert seen(db) == (2, "of 2")


def test_more_questions_than_transactions_wait_for_each_other(db: Database) -> None:
    with db.generations.changing():
        advance(db)
        with ThreadPoolExecutor(generations.SPARES * 4) as pool:
            answers = list(pool.map(lambda _: seen(db), range(generations.SPARES * 20)))
    assert set(answers) == {(1, "of 1")}


def test_a_writer_reads_what_it_writes(db: Database) -> None:
    with db.transaction():
        db.set_meta(GENERATION, "2")
        with db.reading() as number:
            assert number == 2


def test_nothing_is_held_when_nobody_asks(db: Database) -> None:
    for _ in range(3):
        with db.generations.changing():
            advance(db)
            seen(db)
        with ThreadPoolExecutor(generations.SPARES * 3) as pool:
            list(pool.map(lambda _: seen(db), range(generations.SPARES * 6)))
    assert not db.generations._spares
    assert len(db.generations._idle) <= generations.SPARES
    for cursor in db.generations._idle:
        with pytest.raises(duckdb.TransactionException):
            cursor.execute("ROLLBACK")


def test_a_preparation_that_fails_does_not_keep_the_next_one_back(db: Database) -> None:
    def fail(_: int) -> None:
        db.value("SELECT 'a'::INTEGER")

    db.generations.on_change(fail)
    with db.generations.changing():
        advance(db)
    assert seen(db) == (2, "of 2")
