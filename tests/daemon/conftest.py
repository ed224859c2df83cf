"""Daemons for tests: each has a home of its own and is ended with its test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from cm_tui import paths
from cm_tui.daemon import bootstrap, endpoint, runtime_dir
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError
from cm_tui.model import Cancel, Progress
from tests.cli.conftest import Shop, git, make_repository
from tests.daemon.in_process import daemons_in_process
from tests.templates import Template
from tests.waiting import PATIENCE, until

__all__ = ["PATIENCE", "until"]


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def pid_of_daemon() -> int:
    report = bootstrap.health()
    assert report is not None
    return int(report["pid"])


def daemon_since() -> float:
    """Return when the running daemon began, which tells it from any other."""
    report = bootstrap.health()
    assert report is not None
    return float(report["started"])


def make_project(root: Path) -> Path:
    """A small repository that is no clone of any other, also if both were made in the same second."""
    root.mkdir(parents=True, exist_ok=True)
    make_repository(root)
    git(root, "remote", "add", "origin", f"https://example.org/{uuid.uuid4()}.git")
    return root


@contextmanager
def daemons_allowed(home: Path, *, in_process: bool = False) -> Iterator[None]:
    """Daemons may start in a home; none is left of them.

    Args:
        home: their home.
        in_process: they are threads of this process.
    """
    where = daemons_in_process() if in_process else nullcontext()
    with where, pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(home))
        patch.setenv("CM_DAEMON__USE", "auto")
        # A job in the background, with events of its own, only where that is what is tested.
        patch.setenv("CM_HISTORY__ENABLED", "false")
        patch.setenv("CM_NARRATOR__AUTO", "false")
        # What is asked after a change is about the change, however busy the machine is.
        patch.setenv("CM_DAEMON__WAIT_SECONDS", "30")
        try:
            yield
        finally:
            end_daemon()
            place = runtime_dir.socket_path().parent
            if home not in place.parents:
                shutil.rmtree(place, ignore_errors=True)


def end_daemon() -> None:
    info = endpoint.daemon_info()
    try:
        bootstrap.stop_daemon()
    except CmError:
        if info is not None and is_running(info.pid):
            os.kill(info.pid, signal.SIGKILL)
            until(lambda: not is_running(info.pid), "the daemon's end")


@pytest.fixture
def owned(cm_home: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A home in which engines may start a daemon: a process in a test with the mark `process`, else a thread."""
    with daemons_allowed(cm_home, in_process=request.node.get_closest_marker("process") is None):
        yield cm_home


@pytest.fixture(scope="session")
def shop_template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The small repository, indexed once in a process."""
    return Template(tmp_path_factory.mktemp("indexed"), make_project)


@pytest.fixture
def indexed(shop_template: Template, request: pytest.FixtureRequest) -> Iterator[Shop]:
    """`cm` in the indexed repository, through a daemon: a thread, or a process in a test with the mark `process`."""
    root = shop_template.put_back()
    with daemons_allowed(shop_template.home, in_process=request.node.get_closest_marker("process") is None):
        yield Shop(root, shop_template.home)


def until_indexed(events: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of an index run up to its end; what is embedded beside it is left out."""
    told: list[dict[str, Any]] = []
    for event in events:
        if event.get("name", "index") == "index":
            told.append(event)
            if event["event"] == "job-ended":
                break
    names = [event["event"] for event in told]
    assert (names[0], names[-1], set(names[1:-1])) == ("job-started", "job-ended", {"index"})
    # Once when keywords are in, and once at its end.
    assert len(names) >= 4
    return told


class HeldRun:
    """Index runs of this process stop after their first steps, until they are cancelled or let go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self._index = Engine.run_index

    def index(self, engine: Engine, *, cancel: Cancel | None = None, **options: object) -> Iterator[Progress]:
        """Stand for `Engine.run_index`."""
        steps = self._index(engine, cancel=cancel, **options)  # type: ignore[arg-type]
        yield next(steps)
        yield Progress("parse", 0, 1)
        until(lambda: self.go_on.is_set() or (cancel is not None and cancel.is_set), "the run to be let go")
        return (yield from steps)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> HeldRun:
    """Have index runs of a daemon in this process stop after their first steps."""
    run = HeldRun()

    def index(engine: Engine, **options: Any) -> Iterator[Progress]:
        return run.index(engine, **options)

    monkeypatch.setattr(Engine, "run_index", index)
    return run


@pytest.fixture
def port(owned: Path) -> int:
    """A port that the daemon is told to listen on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text(f"[daemon]\nport = {number}\n")
    return number


@pytest.fixture
def shop_root(tmp_path: Path) -> Path:
    """A small repository, not indexed."""
    return make_project(tmp_path / "shop repo")


@pytest.fixture
def shop(shop_root: Path, owned: Path) -> Shop:
    """`cm` in that repository, through a daemon."""
    return Shop(shop_root, owned)
