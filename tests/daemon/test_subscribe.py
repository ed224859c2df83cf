"""Following the daemon: events across its death, jobs from any client."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from cm_tui.daemon import bootstrap, subscribe
from cm_tui.daemon.jobs import JobRecord
from cm_tui.daemon.open_engine import open_engine
from cm_tui.errors import CancelledError, DaemonError, NotFoundError
from tests.daemon.conftest import HeldRun, pid_of_daemon, until_indexed


@pytest.mark.process
def test_events_go_on_with_the_next_daemon(owned: Path, shop_root: Path):
    heard: SimpleQueue[dict[str, Any]] = SimpleQueue()
    stop = threading.Event()
    thread = threading.Thread(target=lambda: [heard.put(event) for event in subscribe.events(stop)])
    thread.start()
    try:
        for _ in range(2):
            engine = open_engine(shop_root)
            assert heard.get(timeout=90) == {"event": "connected"}
            list(engine.index(full=True))
            until_indexed(iter(lambda: heard.get(timeout=90), None))
            os.kill(pid_of_daemon(), signal.SIGKILL)
            event = heard.get(timeout=90)
            while event["event"] != "disconnected":
                event = heard.get(timeout=90)
            engine.close()
    finally:
        stop.set()
        thread.join(90)
    assert not thread.is_alive()


def index_jobs() -> list[JobRecord]:
    """Return the index runs; what was recorded may be embedded beside them."""
    return [job for job in subscribe.jobs() if job.name == "index"]


def test_jobs_are_listed_watched_and_cancelled(owned: Path, shop_root: Path, held: HeldRun):
    assert subscribe.jobs() == []
    with pytest.raises(DaemonError):
        subscribe.cancel("1")
    engine = open_engine(shop_root)
    steps = engine.index()
    first = next(steps)
    (job,) = index_jobs()
    assert (job.name, job.project, job.state) == ("index", str(shop_root), "running")
    watched = subscribe.watch(job.id)
    assert next(watched) == first
    subscribe.cancel(job.id)
    for follower in (watched, steps):
        with pytest.raises(CancelledError):
            list(follower)
    assert index_jobs()[0].state == "cancelled"
    with pytest.raises(NotFoundError):
        subscribe.cancel("99")
    with pytest.raises(NotFoundError):
        list(subscribe.watch("99"))
    engine.close()
    bootstrap.stop_daemon()
