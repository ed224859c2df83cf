"""A sync that is begun and ended by different threads at the same moment."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import WatchConfig
from cm_tui.engine.code.freshness.project_sync import ProjectSync
from cm_tui.engine.code.freshness.scheduler import NOTHING
from cm_tui.engine.code.freshness.staleness import Staleness
from cm_tui.engine.code.index.index_run import IndexOutcome
from tests.fake_clock import FakeClock
from tests.gitrepo import Repo
from tests.waiting import let_others_go


def sync_of(root: Path, clock: Clock = SYSTEM) -> ProjectSync:
    def never(_: object) -> IndexOutcome:
        raise AssertionError

    return ProjectSync(root, never, lambda: lambda _: True, WatchConfig(), debounce_s=60, longest_s=60, clock=clock)


def watching(sync: ProjectSync) -> bool:
    assert sync.watcher is not None
    return sync.watcher.wait_until_watching(2.0)


def test_one_that_is_ended_while_it_begins_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two checkouts of one store that are asked at once replace each other's sync."""
    start, begun = threading.Thread.start, threading.Event()

    def start_slowly(thread: threading.Thread) -> None:
        if thread.name.startswith("watch "):
            begun.set()
            let_others_go()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_slowly)
    sync = sync_of(Repo(tmp_path / "repo").root)
    beginning = threading.Thread(target=sync.start)
    beginning.start()
    assert begun.wait(60)
    sync.stop()
    beginning.join()
    assert not watching(sync)


def test_one_that_was_ended_before_it_began_stays_so(tmp_path: Path) -> None:
    sync = sync_of(Repo(tmp_path / "repo").root)
    sync.stop()
    sync.start()
    assert not watching(sync)


def test_files_are_checked_briefly_while_the_system_reports_changes_and_questions_follow_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    sync = sync_of(Repo(tmp_path / "repo").root, clock)
    assert sync.watcher is not None
    checks: list[bool] = []

    def check(*, briefly: bool) -> Staleness:
        checks.append(briefly)
        return Staleness(NOTHING, "")

    monkeypatch.setattr(sync.staleness, "check", check)
    for state in ("on", "failed"):
        sync.watcher._state = replace(sync.watcher.state, state=state)
        for seconds in (1.0, 0.05, 0.05, 1.0):
            clock.sleep(seconds)
            sync.before_query(0.0)
    assert checks == [False, True, True, False, *[False] * 4]
