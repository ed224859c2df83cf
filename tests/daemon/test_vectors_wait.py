"""Vectors of what was recorded are made when no index run needs the project for itself."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cm_tui.daemon.long_work import LongWork
from cm_tui.model import Cancel


def test_they_hold_no_project_while_they_wait() -> None:
    """A rebuild waits until nobody has the project: whoever waits for the rebuild must not have it."""
    waiting = ["rebuild"] * 3
    seen: list[int] = []

    @contextmanager
    def acquire(_where: Any, *, run: bool) -> Iterator[Any]:
        seen.append(len(waiting))
        yield SimpleNamespace(engine=SimpleNamespace(embed_recorded=lambda cancel: (step for step in [cancel])))

    def of(_store: Path) -> list[str]:
        return [waiting.pop()] if waiting else []

    pool: Any = SimpleNamespace(is_awaited=lambda _: False, acquire=acquire)
    jobs: Any = SimpleNamespace(of=of)
    nothing: Any = SimpleNamespace()
    work = LongWork(pool, jobs, nothing, nothing)
    assert len(list(work._embed(nothing, Path("store"), Cancel()))) == 1
    assert seen == [0]


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_the_thread_that_makes_them_gives_way_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the lowest priority it kept Python's lock on a busy machine, and no request was answered for over a second."""
    lowered: list[tuple[int, int]] = []
    monkeypatch.setattr("os.setpriority", lambda _, thread, niceness: lowered.append((thread, niceness)))

    @contextmanager
    def acquire(_where: Any, *, run: bool) -> Iterator[Any]:
        yield SimpleNamespace(engine=SimpleNamespace(embed_recorded=lambda cancel: (step for step in [cancel])))

    pool: Any = SimpleNamespace(is_awaited=lambda _: False, acquire=acquire)
    nothing: Any = SimpleNamespace(of=lambda _: [])
    list(LongWork(pool, nothing, nothing, nothing)._embed(nothing, Path("store"), Cancel()))
    assert lowered == [(threading.get_native_id(), 5)]
