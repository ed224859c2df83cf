"""Jobs of one queue: one that cannot begin yet reports at once what it waits for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.events import Events
from cm_tui.daemon.jobs import Jobs
from cm_tui.daemon.long_work import HISTORY, IMPORT, LongWork
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.daemon.turns import Turns
from cm_tui.errors import StoreError
from cm_tui.model import Cancel, Progress
from tests.fake_clock import FakeClock
from tests.waiting import PATIENCE


def test_an_import_behind_another_one_names_it_at_once(cm_home: Path, shop_root: Path):
    jobs, projects, go_on = Jobs(events := Events()), ProjectPool(), threading.Event()
    where = ProjectRef(str(shop_root))

    def runs(_: Cancel) -> Iterator[Progress]:
        go_on.wait(PATIENCE)
        yield Progress("import", 1, 2)

    try:
        root, store = projects.locate(where)
        first = jobs.submit(store, root, "import", runs, lane=IMPORT)
        second = LongWork(projects, jobs, events, Turns()).submit_import(where, {})
        (step,) = second.steps
        assert step.stage == "wait"
        assert step.message.startswith("another import of this project began 0 seconds ago; waiting for it to finish")
        go_on.set()
        first.wait()
        second.wait()
        assert second.steps[-1].imported is not None
    finally:
        go_on.set()
        jobs.close()
        projects.close()


def test_what_made_a_job_fail_is_in_the_log(caplog: pytest.LogCaptureFixture):
    jobs = Jobs(Events())

    def fails(error: Exception) -> Iterator[Progress]:
        yield Progress("backfill", 1, 2)
        raise error

    # No client waits for one that the daemon began by itself.
    for error in (StoreError("the store is in use"), KeyError("defect")):
        jobs.submit(Path("store"), Path("project"), "history", lambda _, error=error: fails(error)).join()
    jobs.close()
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", "history of project: the store is in use"), ("ERROR", "history of project"),
    ]  # fmt: skip
    assert isinstance(caplog.records[1].exc_info[1], KeyError)


def test_the_history_is_read_by_one_job_which_goes_on_with_what_is_new(cm_home: Path, shop_root: Path):
    jobs, go_on, begun = Jobs(Events()), threading.Event(), threading.Event()
    runs: list[int] = []

    def catch_up(cancel: Cancel) -> Iterator[Progress]:
        runs.append(len(runs))
        begun.set()
        go_on.wait(PATIENCE)
        yield Progress("backfill", 1, 1)

    @contextmanager
    def acquire(where: Any, *, run: bool) -> Iterator[Any]:
        yield SimpleNamespace(engine=SimpleNamespace(catch_up=catch_up))

    store = Path("store")
    pool: Any = SimpleNamespace(acquire=acquire, locate=lambda _: (shop_root, store), is_awaited=lambda _: False)
    work, where = LongWork(pool, jobs, Events(), Turns(), FakeClock()), ProjectRef(str(shop_root))
    try:
        job = work.submit_history(where, None)
        begun.wait(PATIENCE)
        work.catch_up(where)
        assert work.submit_history(where, None) is job
        assert jobs.of(store, lane=HISTORY) == [job]
        go_on.set()
        job.wait()
        assert runs == [0, 1], "HEAD may have moved while it read"
        other = work.submit_history(where, None)
        assert other is not job
        other.wait()
        other = work.submit_history(where, None)
        other.cancel.set()
        assert work.submit_history(where, None) is not other
    finally:
        go_on.set()
        jobs.close()


def test_closing_waits_for_what_a_thread_drops_as_it_ends():
    jobs, own, closing, dropped = Jobs(Events()), threading.local(), threading.Event(), threading.Event()

    class Cursor:
        def __del__(self) -> None:
            closing.wait(PATIENCE)
            sum(range(2_000_000))
            dropped.set()

    def runs(_: Cancel) -> Iterator[Progress]:
        own.cursor = Cursor()
        yield Progress("index", 1, 1)

    jobs.submit(Path("store"), Path("root"), "index", runs).wait()
    closing.set()
    jobs.close()
    assert dropped.is_set()


def test_a_rebuild_is_the_last_run(cm_home: Path, shop_root: Path):
    jobs, projects = Jobs(events := Events()), ProjectPool()
    dispatcher, where = Dispatcher(projects, jobs, events), ProjectRef(str(shop_root))
    try:
        dispatcher.start("index", where, {}).wait()
        first = dispatcher.call("freshness", where, {})
        assert first.did.startswith("indexed: ")
        dispatcher.start("rebuild", where, {}).wait()
        last = dispatcher.call("freshness", where, {})
        assert last.did.startswith("rebuilt the index: ")
        assert last.ran_at > first.ran_at
    finally:
        jobs.close()
        dispatcher.sync_manager.close()
        projects.close()
