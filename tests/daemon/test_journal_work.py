"""What hooks tell is passed on beside the request that tells it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from cm_tui.daemon.journal_work import JournalWork
from cm_tui.engine.memory.projection import journal_consumer
from cm_tui.engine.platform.journal.journal import Journal
from tests.daemon.conftest import make_project, until


class Busy:
    """A dispatcher whose store another checkout works with until it is let go."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.passed: list[tuple[str, list[str]]] = []

    def signal(self, _root: Path, source: str, files: Sequence[str]) -> None:
        self.free.wait(60)
        self.passed.append((source, list(files)))


def edit(root: Path, *paths: str) -> None:
    Journal.of(root).append("hook.edit", {"session": "s", "root": str(root), "paths": list(paths)}, head=None)


def test_a_nudge_does_not_wait_for_a_store_and_what_comes_meanwhile_is_one_run(tmp_path: Path):
    root = make_project(tmp_path / "shop")
    busy, work = Busy(), JournalWork()
    work.start(cast("Any", busy))
    edit(root, "a.py")
    work.on_nudge(root)
    for name in ("b.py", "c.py", "b.py"):
        edit(root, name)
        work.on_nudge(root)
    assert busy.passed == [], "every nudge came back while the store was busy"
    busy.free.set()
    until(lambda: {name for _, files in busy.passed for name in files} == {"a.py", "b.py", "c.py"})
    work.close()
    assert 1 <= len(busy.passed) <= 2
    # (A thread that begins late takes the first `b.py` along; the second one then asks for a run of its own.)
    assert all(len(files) == len(set(files)) for _, files in busy.passed)


def test_recorded_turns_are_not_kept_while_a_long_journal_is_followed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    who = {"agent": "codex", "session": "s", "root": str(tmp_path)}
    for number in range(5):
        journal.append("episode", {**who, "prompts": [f"import {number}"]})
    journal.append("hook.session-start", who)
    journal.append("hook.edit", {**who, "paths": ["a.py"]})
    reader = journal_consumer._Reader(journal, lambda record: record)
    assert [event.kind for event, _ in reader.news()] == ["hook.session-start", "hook.edit"]
    assert reader.news() == []
    journal.append("hook.stop", who)
    ((stop, turn),) = reader.news()
    assert (stop.kind, turn is not None) == ("hook.stop", True)
