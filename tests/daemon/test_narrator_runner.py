"""Episodes are looked at by the daemon when nobody asks anything, and by a job when somebody asks for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.events import Events
from cm_tui.daemon.jobs import Jobs
from cm_tui.daemon.long_work import BY_ITSELF, NARRATE
from cm_tui.daemon.narrator_runner import NarratorRunner
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.journal.location import folder_of
from cm_tui.engine.recording import pauses
from tests.daemon.conftest import make_project, until
from tests.engine.narrator.passes import Sayings, put, said, use


class Room(NamedTuple):
    """A daemon's inner parts, and a project in it."""

    dispatcher: Dispatcher
    root: Path

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


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    use(monkeypatch, Sayings())
    projects, events = ProjectPool(), Events()
    jobs = Jobs(events)
    found = Room(Dispatcher(projects, jobs, events), make_project(tmp_path / "shop"))
    with projects.acquire(found.where):
        pass
    yield found
    found.dispatcher.sync_manager.close()
    jobs.close()
    projects.close()


@pytest.fixture
def begun(room: Room) -> Iterator[Callable[..., NarratorRunner]]:
    """Starts a runner; it ends with the test."""
    runners: list[NarratorRunner] = []

    def begin(quiet_s: float = 0.05) -> NarratorRunner:
        runner = NarratorRunner(interval_s=0.02, quiet_s=quiet_s)
        runners.append(runner)
        runner.start(room.dispatcher)
        return runner

    yield begin
    for runner in runners:
        runner.close()


def test_what_is_new_is_looked_at_once_when_nobody_asks(room: Room, begun: Callable[..., NarratorRunner]):
    begun()
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    until(lambda: room.passes() == [BY_ITSELF] and not room.dispatcher.jobs.busy, "a pass")
    assert room.waiting() == 1
    time.sleep(0.5)
    assert len(room.passes()) == 1
    put(room.root, [(9, said("always lint", "s9"))])
    until(lambda: len(room.passes()) == 2, "a second pass")


def test_a_project_that_agents_work_in_is_looked_at_though_nobody_opened_it(
    room: Room, begun: Callable[..., NarratorRunner]
):
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    room.dispatcher.start("index", room.where, {}).wait()
    until(lambda: not room.dispatcher.jobs.busy, "the end of what is done behind")
    room.dispatcher.pool.sweep(0.0)
    runner = begun()
    time.sleep(0.3)
    assert room.passes() == []
    runner.on_nudge(room.root)
    until(lambda: room.passes() == [BY_ITSELF], "a pass")


def test_nothing_is_looked_at_while_somebody_asks(room: Room, begun: Callable[..., NarratorRunner]):
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    begun(quiet_s=1.0)
    end = time.monotonic() + 2
    while time.monotonic() < end:
        room.dispatcher.call("status", room.where, {})
        time.sleep(0.05)
    assert room.passes() == []
    until(lambda: room.passes() == [BY_ITSELF], "a pass")


def test_nothing_is_looked_at_where_that_is_switched_off(
    room: Room, begun: Callable[..., NarratorRunner], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CM_NARRATOR__AUTO", "false")
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    begun()
    time.sleep(0.5)
    assert room.passes() == []


def test_nothing_is_looked_at_in_a_pause(room: Room, begun: Callable[..., NarratorRunner]):
    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    pauses.begin(folder_of(room.root).name, None)
    begun()
    time.sleep(0.5)
    assert room.passes() == []
    pauses.end(folder_of(room.root).name)
    until(lambda: room.passes() == [BY_ITSELF], "a pass")


def test_a_pass_that_nobody_asked_for_ends_for_one_that_somebody_asks_for(room: Room, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.engine.narrator import looking

    put(room.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    entered, go_on = threading.Event(), threading.Event()
    before = looking.observations

    def slow(*words: object) -> object:
        entered.set()
        assert go_on.wait(30)
        return before(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(looking, "observations", slow)
    own = room.dispatcher.narrate_by_itself(room.where)
    assert entered.wait(30)
    asked = room.dispatcher.start("narrate", room.where, {})
    go_on.set()
    asked.wait()
    assert (own.state, asked.state) == ("cancelled", "done")
    report = asked.steps[-1].narrated
    assert report is not None
    # What was looked at is not looked at again.
    assert (report.episodes, report.waiting) == (0, 1)


def test_what_touches_the_store_as_a_whole_does_not_wait_for_a_pass(room: Room, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.engine.narrator import looking

    ids = put(room.root, [(n, said("always test", f"s{n}")) for n in range(40)])
    monkeypatch.setattr(looking, "observations", lambda *_: time.sleep(0.05) or [])
    job = room.dispatcher.narrate_by_itself(room.where)
    room.dispatcher.call("erase", room.where, {"names": [ids[0]]})
    assert job.is_over
    _, store = room.dispatcher.pool.locate(room.where)
    assert room.dispatcher.jobs.of(store, lane=NARRATE) == []
