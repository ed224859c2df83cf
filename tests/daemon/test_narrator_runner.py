"""Episodes are looked at by the daemon when nobody asks anything, and by a job when somebody asks for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.events import Events
from cm_tui.daemon.followers import NARRATOR_QUIET_S, NarratorRunner
from cm_tui.daemon.jobs import Jobs
from cm_tui.daemon.long_work import BY_ITSELF, NARRATE
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform.journal.location import folder_of
from tests.daemon.conftest import make_project, until
from tests.engine.narrator.passes import put, said, sayings, use
from tests.fake_clock import FakeClock


class Room(NamedTuple):
    """A daemon's inner parts, and a project in it."""

    dispatcher: Dispatcher
    root: Path
    clock: FakeClock

    @property
    def where(self) -> ProjectRef:
        return ProjectRef(str(self.root))

    def waiting(self) -> int:
        """Return how many proposals wait, without asking as somebody does."""
        with self.dispatcher.pool.acquire(self.where) as project:
            return project.engine.narrated().total

    def passes(self) -> list[str]:
        """Return the passes that there were, oldest first."""
        return [one.name for one in self.dispatcher.jobs.records() if "narrate" in one.name]

    def rest(self) -> None:
        """Wait for the end of what is done behind."""
        until(lambda: not self.dispatcher.jobs.busy, "the end of what is done behind")

    def runner(self) -> NarratorRunner:
        """Return a runner that looks when it is told to."""
        runner = NarratorRunner(clock=self.clock)
        runner._dispatcher = self.dispatcher
        return runner

    def after(self, seconds: float, runner: NarratorRunner) -> int:
        """Return how many passes there are when it has looked once, and once more after so many seconds."""
        runner.look_at_all()
        self.clock.advance(seconds)
        runner.look_at_all()
        return len(self.passes())


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    use(monkeypatch, sayings)
    clock = FakeClock()
    projects, events = ProjectPool(clock), Events()
    jobs = Jobs(events)
    found = Room(Dispatcher(projects, jobs, events), make_project(tmp_path / "shop"), clock)
    with projects.acquire(found.where):
        pass
    yield found
    found.dispatcher.sync_manager.close()
    jobs.close()
    projects.close()


def test_what_is_new_is_looked_at_once_when_nobody_asks(room: Room):
    runner = room.runner()
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    assert room.after(NARRATOR_QUIET_S - 1, runner) == 0
    assert runner.is_waiting
    assert room.after(1, runner) == 1
    assert not runner.is_waiting
    assert room.passes() == [BY_ITSELF]
    assert room.waiting() == 1
    assert room.after(NARRATOR_QUIET_S * 10, runner) == 1
    put(room.root, [(9, said("always lint", "s9"))])
    assert room.after(NARRATOR_QUIET_S, runner) == 2


def test_a_project_that_agents_work_in_is_looked_at_though_nobody_opened_it(room: Room):
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    room.dispatcher.start("index", room.where, {}).wait()
    room.rest()
    room.dispatcher.pool.sweep(0.0)
    runner = room.runner()
    assert room.after(NARRATOR_QUIET_S * 2, runner) == 0
    runner.on_nudge(room.root)
    assert room.after(NARRATOR_QUIET_S, runner) == 1


def test_nothing_is_looked_at_while_somebody_asks(room: Room):
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    runner = room.runner()
    for _ in range(5):
        room.dispatcher.call("status", room.where, {})
        room.rest()
        assert room.after(NARRATOR_QUIET_S - 1, runner) == 0
    assert room.after(1, runner) == 1


def test_nothing_is_looked_at_where_that_is_switched_off_or_in_a_pause(room: Room, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_NARRATOR__AUTO", "false")
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    runner = room.runner()
    assert room.after(NARRATOR_QUIET_S * 2, runner) == 0
    monkeypatch.setenv("CM_NARRATOR__AUTO", "true")
    gate.begin(folder_of(room.root).name, None)
    assert room.after(NARRATOR_QUIET_S * 2, runner) == 0
    gate.end(folder_of(room.root).name)
    assert room.after(NARRATOR_QUIET_S * 2, runner) == 1


def test_a_pass_that_nobody_asked_for_ends_for_one_that_somebody_asks_for(room: Room, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.engine.memory.narrator import mining

    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    entered, go_on = threading.Event(), threading.Event()
    before = mining.observations

    def slow(*words: object) -> object:
        entered.set()
        assert go_on.wait(60)
        return before(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(mining, "observations", slow)
    own = room.dispatcher.narrate_by_itself(room.where)
    assert entered.wait(60)
    asked = room.dispatcher.start("narrate", room.where, {})
    go_on.set()
    asked.wait()
    assert (own.state, asked.state) == ("cancelled", "done")
    report = asked.steps[-1].narrated
    assert report is not None
    # What was looked at is not looked at again.
    assert (report.episodes, report.waiting) == (0, 1)


def test_what_touches_the_store_as_a_whole_does_not_wait_for_a_pass(room: Room, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.engine.memory.narrator import mining

    ids = put(room.root, [(n, said("always test", f"s{n}")) for n in range(40)])
    entered, passes = threading.Event(), []

    def endless(*_: object) -> list[object]:
        entered.set()
        until(lambda: passes and passes[0].cancel.is_set, "the end of the pass to be asked for")
        return []

    monkeypatch.setattr(mining, "observations", endless)
    job = room.dispatcher.narrate_by_itself(room.where)
    passes.append(job)
    assert entered.wait(60)
    room.dispatcher.call("erase", room.where, {"names": [ids[0]]})
    assert job.is_over
    _, store = room.dispatcher.pool.locate(room.where)
    assert room.dispatcher.jobs.of(store, lane=NARRATE) == []
