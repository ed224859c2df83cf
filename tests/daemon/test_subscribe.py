"""Following the owner: events across its death, jobs from any door."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from cm_tui.daemon import bootstrap, subscribe
from cm_tui.daemon.open_engine import connect
from cm_tui.errors import CancelledError, NotFoundError, OwnerError
from tests.daemon.conftest import pid_of_owner


def test_events_go_on_with_the_next_owner(owned: Path, shop_root: Path):
    heard: SimpleQueue[dict[str, Any]] = SimpleQueue()
    stop = threading.Event()
    thread = threading.Thread(target=lambda: [heard.put(event) for event in subscribe.events(stop)])
    thread.start()
    try:
        for _ in range(2):
            door = connect(shop_root)
            assert heard.get(timeout=90) == {"event": "connected"}
            list(door.index(full=True))
            names = []
            while names[-1:] != ["job-ended"]:
                names.append(heard.get(timeout=90)["event"])
            assert names == ["job-started", "index", "index", "job-ended"]
            os.kill(pid_of_owner(), signal.SIGKILL)
            assert heard.get(timeout=90) == {"event": "disconnected"}
            door.close()
    finally:
        stop.set()
        thread.join(90)
    assert not thread.is_alive()


def test_jobs_are_listed_watched_and_cancelled(owned: Path, shop_root: Path):
    assert subscribe.jobs() == []
    with pytest.raises(OwnerError):
        subscribe.cancel("1")
    for number in range(600):
        (shop_root / f"module_{number}.py").write_text(f"def function_{number}(argument):\n    return argument\n" * 30)
    door = connect(shop_root)
    steps = door.index()
    first = next(steps)
    (job,) = subscribe.jobs()
    assert (job.name, job.project, job.state) == ("index", str(shop_root), "running")
    watched = subscribe.watch(job.id)
    assert next(watched) == first
    subscribe.cancel(job.id)
    for follower in (watched, steps):
        with pytest.raises(CancelledError):
            list(follower)
    assert subscribe.jobs()[0].state == "cancelled"
    with pytest.raises(NotFoundError):
        subscribe.cancel("99")
    with pytest.raises(NotFoundError):
        list(subscribe.watch("99"))
    door.close()
    bootstrap.stop_owner()
