"""A sync that is begun and ended by different threads at the same moment."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from cm_tui.config import WatchConfig
from cm_tui.engine.code.freshness import watcher
from cm_tui.engine.code.freshness.project_sync import ProjectSync
from cm_tui.engine.code.index.index_run import IndexOutcome
from tests.gitrepo import Repo
from tests.waiting import let_others_go


def sync_of(root: Path) -> ProjectSync:
    def never(_: object) -> IndexOutcome:
        raise AssertionError

    return ProjectSync(root, never, lambda: lambda _: True, WatchConfig(), debounce_s=60, longest_s=60)


def watching(sync: ProjectSync) -> bool:
    assert sync.watcher is not None
    return sync.watcher.wait_until_watching(2.0)


def test_one_that_is_ended_while_it_begins_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two checkouts of one store that are asked at once replace each other's sync."""
    add, begun = watcher._THREAD.add, threading.Event()

    def add_slowly(*given: Any) -> None:
        begun.set()
        let_others_go()
        add(*given)

    monkeypatch.setattr(watcher._THREAD, "add", add_slowly)
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
