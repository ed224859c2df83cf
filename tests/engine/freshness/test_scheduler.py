"""Signals become as few runs as possible, and none is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from cm_tui.engine.code.freshness import scheduler as scheduler_module
from cm_tui.engine.code.freshness.scheduler import EVERYTHING, MOST_PATHS, NOTHING, Changes, Scheduler
from cm_tui.errors import CmError

SECONDS = 60


class Index:
    """Stands for the index; a run can be held."""

    def __init__(self) -> None:
        self.runs: list[Changes] = []
        self.go = threading.Event()
        self.go.set()
        self.began = threading.Semaphore(0)
        self.fail = False
        self.inside: Callable[[], object] = lambda: None

    def run(self, changes: Changes) -> str:
        self.began.release()
        assert self.go.wait(SECONDS)
        if self.fail:
            raise CmError("the disk is full")
        self.inside()
        self.runs.append(changes)
        return f"indexed {changes}"


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def make(index: Index):
    made: list[Scheduler] = []

    def scheduler(
        current: Callable[[Changes], bool] = lambda _: False, debounce_s: float = 0.05, longest_s: float = 5.0
    ):
        made.append(Scheduler(index.run, current, debounce_s=debounce_s, longest_s=longest_s))
        made[-1].start()
        return made[-1]

    yield scheduler
    index.go.set()
    for one in made:
        one.stop()


def some(*paths: str) -> Changes:
    return Changes.of(paths)


def test_twenty_edits_are_one_run(index: Index, make):
    scheduler = make(debounce_s=1000, longest_s=1000)
    for n in range(20):
        scheduler.signal("save", some(f"{n}.py"))
    assert scheduler.freshness().due_at is not None
    assert scheduler.flush(SECONDS)
    assert index.runs == [some(*(f"{n}.py" for n in range(20)))]
    state = scheduler.freshness()
    assert (state.runs, state.signals, state.behind) == (1, 20, False)
    assert [(layer.name, layer.did) for layer in state.layers] == [("save", "reported 19.py")]


def test_it_runs_by_itself_after_a_rest(index: Index, make):
    make().signal("save", some("a.py"))
    assert index.began.acquire(timeout=SECONDS)


def test_signals_that_never_end_are_served(index: Index, make):
    scheduler = make(debounce_s=1000, longest_s=0.05)
    scheduler.signal("save", some("a.py"))
    assert index.began.acquire(timeout=SECONDS)


def test_a_layer_that_waited_itself_is_served_at_once(index: Index, make):
    scheduler = make(debounce_s=1000, longest_s=1000)
    scheduler.signal("save", some("a.py"))
    scheduler.signal("watcher", some("b.py"), debounce_s=0)
    assert index.began.acquire(timeout=SECONDS)


def test_what_comes_during_a_run_is_indexed_by_the_next(index: Index, make):
    scheduler = make()
    index.go.clear()
    scheduler.signal("save", some("a.py"))
    assert index.began.acquire(timeout=SECONDS)
    assert scheduler.freshness().running
    scheduler.signal("save", some("b.py"))
    index.go.set()
    assert scheduler.flush(SECONDS)
    assert index.runs == [some("a.py"), some("b.py")]


def test_what_the_index_has_already_causes_no_run(index: Index, make):
    scheduler = make(lambda changes: changes == some("a.py"))
    scheduler.signal("watcher", some("a.py"))
    assert scheduler.flush(SECONDS)
    assert index.runs == []
    scheduler.signal("watcher", some("b.py"))
    assert scheduler.flush(SECONDS)
    assert index.runs == [some("b.py")]


def test_a_run_that_asks_does_not_wait_for_itself(index: Index, make):
    scheduler = make()
    answers = []
    index.inside = lambda: answers.append(scheduler.flush(SECONDS))
    scheduler.signal("save", some("a.py"))
    assert scheduler.flush(SECONDS)
    assert answers == [False]


def test_a_failure_is_told_and_what_was_asked_for_is_kept(index: Index, make):
    scheduler = make()
    index.fail = True
    scheduler.signal("save", some("a.py"))
    assert not scheduler.flush(SECONDS)
    state = scheduler.freshness()
    assert state.behind
    assert state.did == "failed: the disk is full"
    index.fail = False
    scheduler.signal("save", some("b.py"))
    assert scheduler.flush(SECONDS)
    assert index.runs == [some("a.py", "b.py")]
    assert not scheduler.freshness().behind


def test_an_unexpected_failure_does_not_end_it(index: Index, make):
    scheduler = make()
    index.inside = lambda: 1 / 0
    scheduler.signal("save", some("a.py"))
    assert not scheduler.flush(SECONDS)
    assert "ZeroDivisionError" in scheduler.freshness().did
    index.inside = lambda: None
    assert scheduler.flush(SECONDS)
    assert index.runs == [some("a.py")]


def test_nothing_to_do_is_done_at_once(index: Index, make):
    scheduler = make()
    assert scheduler.flush(SECONDS)
    scheduler.signal("watcher", NOTHING)
    assert scheduler.flush(SECONDS)
    assert index.runs == []


def test_its_thread_ends_when_nothing_is_left_and_comes_back(index: Index, make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scheduler_module, "_LINGER_S", 0.01)
    others = set(threading.enumerate())
    scheduler = make()
    for number in range(3):
        scheduler.signal("save", some(f"{number}.py"))
        assert scheduler.flush(SECONDS)
        mine = [one for one in set(threading.enumerate()) - others if one.name == "freshness"]
        for thread in mine:
            thread.join(SECONDS)
        assert not any(thread.is_alive() for thread in mine)
        scheduler.signal("nothing", NOTHING)
        assert scheduler.flush(SECONDS)
    assert index.runs == [some(f"{number}.py") for number in range(3)]


def test_from_many_threads_nothing_is_lost(index: Index, make):
    scheduler = make(debounce_s=0.001)

    def work(name: str) -> None:
        for n in range(50):
            scheduler.signal(name, some(f"{name}{n}"))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scheduler.flush(SECONDS)
    seen = set().union(*(run.paths or () for run in index.runs))
    assert seen == {f"{name}{n}" for name in "abcd" for n in range(50)}


def test_who_waits_when_it_ends_is_not_kept_waiting(index: Index, make):
    scheduler = make()
    index.go.clear()
    scheduler.signal("hook", Changes.of(["a"]))
    assert index.began.acquire(timeout=SECONDS)
    scheduler.signal("hook", Changes.of(["b"]))
    served: list[bool] = []
    threads = [
        threading.Thread(target=lambda: served.append(scheduler.flush(10 * SECONDS))),
        threading.Thread(target=scheduler.stop),
    ]
    for thread in threads:
        thread.start()
    index.go.set()
    for thread in threads:
        thread.join(SECONDS)
    assert served == [False]


def test_many_paths_and_rules_mean_everything():
    assert Changes.of(f"{n}" for n in range(MOST_PATHS + 1)) == EVERYTHING
    assert Changes.of(f"{n}" for n in range(MOST_PATHS)) != EVERYTHING
    for path in (".gitignore", "a/.gitignore", ".cm/config.toml", ".git/HEAD", ".git/logs/HEAD"):
        assert Changes.of([path, "a.py"]) == EVERYTHING
    assert some("a") | some("b") == some("a", "b")
    assert some("a") | EVERYTHING == EVERYTHING
    assert some("a") | NOTHING == some("a")


def test_after_a_long_run_the_next_one_waits_for_a_while_whoever_asks(index: Index, make, monkeypatch):
    monkeypatch.setattr(scheduler_module, "LONG_RUN_S", 0.0)
    monkeypatch.setattr(scheduler_module, "_REST", 1e9)
    scheduler = make(longest_s=1000)
    scheduler.signal("save", some("a.py"))
    assert scheduler.flush(SECONDS)
    scheduler.signal("watcher", some("b.py"), debounce_s=0)
    assert not scheduler.flush(0.0)
    state = scheduler.freshness()
    assert state.behind
    assert state.due_at is not None
    assert state.due_at > time.time() + 500
    assert index.runs == [some("a.py")]


def test_a_short_run_asks_for_no_rest(index: Index, make):
    scheduler = make()
    for name in ("a.py", "b.py"):
        scheduler.signal("watcher", some(name), debounce_s=0)
        assert scheduler.flush(SECONDS)
    assert len(index.runs) == 2
