"""Owners for tests: each has a home of its own and is ended with its test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.daemon import bootstrap, endpoint, runtime_dir
from cm_tui.errors import CmError
from tests.cli.conftest import Shop, git, make_repository

PATIENCE = 90.0


def until(condition: Callable[[], object], what: str = "the condition") -> None:
    """Wait for something, on however slow a machine."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.02)


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


def make_project(root: Path) -> Path:
    """A small repository that is no clone of any other, also if both were made in the same second."""
    root.mkdir(parents=True, exist_ok=True)
    make_repository(root)
    git(root, "remote", "add", "origin", f"https://example.org/{uuid.uuid4()}.git")
    return root


@contextmanager
def daemons_allowed(home: Path) -> Iterator[None]:
    """Owners may start in a home; none is left of them."""
    with pytest.MonkeyPatch.context() as patch:
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
def owned(cm_home: Path) -> Iterator[Path]:
    """A home in which engines may start a daemon."""
    with daemons_allowed(cm_home):
        yield cm_home


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


def python(code: str, *words: str, **options: object) -> subprocess.Popen[str]:
    """A Python process of its own."""
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    )
