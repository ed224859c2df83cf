"""The daemon reads the past by itself, beside its other work, and ends that when the store goes."""

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
from cm_tui.daemon.long_work import HISTORY, QUESTION, LongWork
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.daemon.turns import Turns
from cm_tui.model import Cancel, Progress
from tests.cli.conftest import git
from tests.daemon.conftest import until
from tests.fake_clock import FakeClock


@pytest.fixture
def history() -> Iterator[None]:
    # With a patch of its own, which is taken back before that of the daemon which it covers.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HISTORY__ENABLED", "true")
        yield


def grow(root: Path, count: int) -> None:
    for number in range(count):
        (root / "shop/late.py").write_text(f"def late_{number}():\n    return {number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"late {number}")


def test_it_goes_on_as_deep_as_the_configuration_says(owned: Path, history: None, shop_root: Path):
    grow(shop_root, 5)
    (shop_root / ".cm").mkdir()
    (shop_root / ".cm/config.toml").write_text("[history]\ndepth = 2\n")
    engine = open_engine(shop_root)
    list(engine.index())
    until(lambda: engine.history().known == 2, "two commits to be read")
    assert not engine.wants_history(), "the daemon reads it by itself"
    list(engine.catch_up())
    assert engine.history().known == 2
    assert [step.done for step in engine.backfill(depth=4)][-1] == 4
    engine.close()


def test_a_question_does_not_wait_until_all_of_the_past_is_read(cm_home: Path, history: None, shop_root: Path):
    grow(shop_root, 30)
    jobs, projects = Jobs(events := Events()), ProjectPool()
    dispatcher = Dispatcher(projects, jobs, events)
    where = ProjectRef(str(shop_root))
    go_on = threading.Event()

    def reads_all(cancel: Cancel) -> Iterator[Progress]:
        go_on.wait(20)
        yield Progress("backfill", 0, 0)

    try:
        dispatcher.start("index", where, {}).wait()
        root, store = projects.locate(where)
        long = jobs.submit(store, root, "history", reads_all, lane=HISTORY)
        asked = dispatcher.start("backfill", where, {"since": "HEAD~2"})
        asked.wait(seconds=20)
        assert (asked.state, long.state == "done") == ("done", False)
        go_on.set()
        long.join()
    finally:
        go_on.set()
        jobs.close()
        projects.close()


def test_reading_all_of_the_past_gives_way_to_a_question() -> None:
    """It reads nothing while a question does, and holds no project."""
    asked = ["question", "question"]
    seen: list[int] = []

    @contextmanager
    def acquire(_where: Any, *, run: bool) -> Iterator[Any]:
        seen.append(len(asked))
        steps = (step for step in [1, 2]) if len(seen) > 1 else read_until_asked()
        yield SimpleNamespace(engine=SimpleNamespace(catch_up=lambda cancel: steps))

    def read_until_asked() -> Iterator[int]:
        yield 0
        asked.append("question")
        yield 0
        pytest.fail("the question waits")

    def of(_store: Path, *, lane: str) -> list[str]:
        return [asked.pop()] if lane == QUESTION and asked else []

    pool: Any = SimpleNamespace(acquire=acquire, is_awaited=lambda _: False, locate=lambda _: (Path(), Path("store")))
    jobs: Any = SimpleNamespace(of=of)
    nothing: Any = SimpleNamespace()
    work = LongWork(pool, jobs, nothing, nothing, FakeClock())
    assert list(work._read(nothing, None, Cancel(), (QUESTION,))) == [0, 0, 1, 2]
    assert seen == [0, 0]


def test_another_checkout_that_waits_has_the_store_for_a_while() -> None:
    clock, begun = FakeClock(), []

    @contextmanager
    def acquire(_where: Any, *, run: bool) -> Iterator[Any]:
        begun.append(clock.monotonic())
        steps = iter([3] if len(begun) > 1 else [1, 2])
        yield SimpleNamespace(engine=SimpleNamespace(catch_up=lambda cancel: (step for step in steps)))

    pool: Any = SimpleNamespace(
        acquire=acquire, is_awaited=lambda _: len(begun) == 1, locate=lambda _: (Path(), Path("store"))
    )
    nothing: Any = SimpleNamespace(of=lambda *_, **__: [])
    work = LongWork(pool, nothing, nothing, nothing, clock)
    assert list(work._read(nothing, None, Cancel(), (QUESTION,))) == [1, 3]
    assert begun[1] - begun[0] >= 1


def test_the_histories_of_two_projects_are_read_one_after_the_other() -> None:
    jobs, opened, go_on = Jobs(Events()), [], threading.Event()

    @contextmanager
    def acquire(where: Any, *, run: bool) -> Iterator[Any]:
        opened.append(where.folder)
        yield SimpleNamespace(engine=SimpleNamespace(catch_up=lambda cancel: read()))

    def read() -> Iterator[Progress]:
        assert go_on.wait(60)
        yield Progress("history", 1, 1)

    pool: Any = SimpleNamespace(
        acquire=acquire, is_awaited=lambda _: False, locate=lambda where: (Path(where.folder), Path(where.folder))
    )
    nothing: Any = SimpleNamespace()
    work = LongWork(pool, jobs, nothing, Turns())
    try:
        both = [work.submit_history(ProjectRef(folder), None) for folder in ("/a", "/b")]
        until(lambda: len(opened) == 1, "the first to be read")
        assert [job.state for job in both] == ["running", "queued"]
        assert len(opened) == 1, "the second one does not even open its project"
        third = work.submit_history(ProjectRef("/c"), None)
        work.end_history(Path("/c"))
        assert third.state == "cancelled", "it does not wait for the others first"
        go_on.set()
        for job in both:
            job.join(seconds=60)
        assert sorted(opened) == ["/a", "/b"]
        assert [job.state for job in both] == ["done", "done"]
    finally:
        go_on.set()
        jobs.close()


def test_removing_a_store_ends_reading_its_past(cm_home: Path, history: None, shop_root: Path):
    grow(shop_root, 30)
    jobs, projects = Jobs(events := Events()), ProjectPool()
    dispatcher = Dispatcher(projects, jobs, events)
    where = ProjectRef(str(shop_root))
    try:
        job = dispatcher.start("index", where, {})
        job.wait()
        _, store = projects.locate(where)
        dispatcher.upkeep.remove(store.name)
        assert not jobs.of(store, lane=HISTORY)
        assert not store.exists()
    finally:
        jobs.close()
        projects.close()
