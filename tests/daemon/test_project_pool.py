"""The daemon keeps open what is in use, and gives back what is not."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from cm_tui.daemon.project_pool import _CACHES_S, _MOST_OPEN, _REST_S, _SETTLE_S, ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.platform import tokenizer
from cm_tui.engine.platform.store.database import LOG, Database
from cm_tui.engine.search.ranking import tokens
from cm_tui.errors import StoreError
from tests.daemon.conftest import make_project
from tests.fake_clock import FakeClock

IDLE_S = 60.0


def test_projects_that_nobody_uses_are_closed_and_their_memory_is_given_back(
    cm_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trimmed: list[float] = []
    clock = FakeClock()
    monkeypatch.setattr("cm_tui.engine.platform.store.memory.release_memory", lambda: trimmed.append(clock.monotonic()))
    pool = ProjectPool(clock)
    roots = [make_project(tmp_path / f"shop-{number}") for number in range(_MOST_OPEN + 2)]

    def opened() -> list[Path]:
        return sorted(project.root for project in pool.opened())

    tokenizer.count("in the vocabulary")
    assert tokens.stem("stones") not in tokens.word_list("plain")
    for root in roots:
        with pool.acquire(ProjectRef(str(root))):
            clock.advance(1)
    pool.sweep(IDLE_S)
    assert opened() == roots[2:]
    clock.advance(_REST_S - 3)
    pool.sweep(IDLE_S)
    assert opened() == roots[-3:]
    clock.advance(2)
    pool.sweep(IDLE_S)
    assert opened() == roots[-1:], "only the one that was used last waits longer"
    with pool.acquire(ProjectRef(str(roots[0]))):
        pass
    with pool.acquire(ProjectRef(str(roots[-1]))):
        clock.advance(IDLE_S + 1)
        pool.sweep(IDLE_S)
        assert opened() == roots[-1:]
    pool.sweep(IDLE_S)
    assert opened() == roots[-1:]
    clock.advance(IDLE_S)
    pool.sweep(IDLE_S)
    assert opened() == []
    pool.rest()
    assert trimmed == [clock.monotonic()], "others were closed long ago"
    trimmed.clear()
    pool.rest()
    assert not trimmed
    assert tokenizer._encoding.cache_info().currsize
    clock.advance(_REST_S)
    pool.rest()
    pool.rest()
    assert trimmed == [clock.monotonic()]
    assert not tokenizer._encoding.cache_info().currsize
    assert not tokens.stem.cache_info().currsize
    assert tokens.packaged.cache_info().currsize, "what is read once stays"


def test_caches_are_emptied_once_while_only_the_history_of_a_project_is_read(cm_home: Path, tmp_path: Path) -> None:
    clock = FakeClock()
    pool = ProjectPool(clock)
    root = make_project(tmp_path / "shop")
    clock.advance(1)
    with pool.acquire(ProjectRef(str(root)), run=True):
        tokens.stem("stones")
        clock.advance(_CACHES_S - 1)
        pool.rest()
        assert tokens.stem.cache_info().currsize
        clock.advance(1)
        pool.rest()
        assert not tokens.stem.cache_info().currsize
        tokens.stem("stones")
        clock.advance(_CACHES_S)
        pool.rest()
        assert tokens.stem.cache_info().currsize, "what the reading itself needs stays"
    pool.close()


def test_a_store_that_answers_nothing_after_a_failed_write_is_opened_again_once_it_is_free(
    cm_home: Path, tmp_path: Path
) -> None:
    pool = ProjectPool(FakeClock())
    where = ProjectRef(str(make_project(tmp_path / "shop")))
    with pool.acquire(where) as project:
        db = project.engine._db
        with pytest.raises(StoreError, match="The disk is full"), db._explained():
            raise duckdb.FatalException("the database has been invalidated: No space left on device")
        with pool.acquire(where) as other:
            assert other is project, "it is in use"
    with pool.acquire(where) as again:
        assert again is not project
        assert again.engine.status().files == 0
    with pool.acquire(where) as last:
        assert last is again
    pool.close()


def test_a_folder_that_becomes_a_repository_is_located_again(cm_home: Path, tmp_path: Path) -> None:
    pool, where = ProjectPool(FakeClock()), ProjectRef(str(tmp_path / "shop"))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/.cm").mkdir()
    _, before = pool.locate(where)
    make_project(tmp_path / "shop")
    assert pool.locate(where)[1] != before


def test_freed_memory_is_returned_once_after_requests_and_caches_stay(
    cm_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(Database, "settle", lambda _: done.append("settle"))
    monkeypatch.setattr(Database, "release_blocks", lambda _: done.append("caches"))
    clock = FakeClock()
    pool, where = ProjectPool(clock), ProjectRef(str(make_project(tmp_path / "shop")))
    with pool.acquire(where) as project:
        project.engine._db.set_meta("seen", "1")
        clock.advance(_REST_S)
        pool.rest()
    pool.rest()
    assert done == []
    clock.advance(_SETTLE_S)
    pool.rest()
    pool.rest()
    assert done == ["settle"]
    assert (project.store / LOG).exists()
    clock.advance(_REST_S)
    pool.rest()
    pool.rest()
    assert done == ["settle", "settle", "caches"]
    # Pending writes are in memory, too.
    assert not (project.store / LOG).exists()
    pool.close()
