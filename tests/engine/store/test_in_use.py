"""A store that is closed while others ask it."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import StoreError
from tests.waiting import until

LONG = "SELECT count(*) FROM range(20000000) t(i) WHERE hash(i) % 7 = 3"


def test_it_is_closed_once_no_thread_is_in_a_query_and_says_so_afterwards(tmp_path):
    db = Database(tmp_path / "store")
    answers: list[object] = []

    def ask() -> None:
        answers.append(db.cursor.execute(LONG))

    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: db._in_use._inside, "the query to begin", every=0.001)
    db.close()
    thread.join()
    assert len(answers) == 1
    with pytest.raises(StoreError):
        db.value("SELECT 1")


def test_closing_beside_many_questions_ends_each_with_an_answer_or_an_error(tmp_path):
    for number in range(10):
        db = Database(tmp_path / f"store-{number}")
        found: list[object] = []
        answered: list[int] = []

        def ask(db=db, found=found, answered=answered) -> None:
            try:
                while True:
                    answered.append(len(db.rows("SELECT i, repeat('x', 50) FROM range(20000) t(i)")))
            except StoreError as error:
                found.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        until(lambda answered=answered: len(answered) > 4, "some answers")
        db.close()
        for thread in threads:
            thread.join(60)
        assert len(found) == 4


def test_a_closed_store_is_released_though_threads_that_asked_it_go_on(tmp_path):
    from cm_tui.engine.code.graph.graph import Graph
    from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
    from cm_tui.engine.platform.store.writer_lock import WriterLock
    from cm_tui.engine.search.ranking.keyword import KeywordIndex

    db = Database(tmp_path / "store")
    with ThreadPoolExecutor(1) as pool:
        asked = Graph(db), KeywordIndex(db), EpisodeTables.of(db), WriterLock.of(db)
        assert pool.submit(asked[0].symbols).result().total == 0
        assert pool.submit(asked[1].documents).result().ids.tolist() == []
        pool.submit(asked[2].cursor.execute, "SELECT 1").result()
        db.close()
        store, words, lock = weakref.ref(db), weakref.ref(asked[1]), weakref.ref(asked[3])
        del db, asked
        gc.collect()
        assert (store(), words(), lock()) == (None, None, None)
