"""A store that is closed while others ask it."""

import threading
import time

import pytest

from cm_tui.engine.store.database import Database
from cm_tui.errors import StoreError

LONG = "SELECT count(*) FROM range(20000000) t(i) WHERE hash(i) % 7 = 3"


def test_it_is_closed_once_no_thread_is_in_a_query_and_says_so_afterwards(tmp_path):
    db = Database(tmp_path / "store")
    answers, begun = [], threading.Event()

    def ask() -> None:
        cursor = db.cursor
        begun.set()
        answers.append(cursor.execute(LONG))

    thread = threading.Thread(target=ask)
    thread.start()
    begun.wait(20)
    time.sleep(0.1)
    db.close()
    thread.join()
    assert len(answers) == 1
    with pytest.raises(StoreError):
        db.value("SELECT 1")


def test_closing_beside_many_questions_ends_each_with_an_answer_or_an_error(tmp_path):
    for number in range(10):
        db = Database(tmp_path / f"store-{number}")
        found: list[object] = []

        def ask(db=db, found=found) -> None:
            try:
                while True:
                    db.rows("SELECT i, repeat('x', 50) FROM range(20000) t(i)")
            except StoreError as error:
                found.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        db.close()
        for thread in threads:
            thread.join(60)
        assert len(found) == 4
