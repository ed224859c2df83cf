"""Start, stop and everything that may lie where the daemon belongs; what its projects may do under it."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cm_tui import __version__
from cm_tui.cli.daemon import extensions
from cm_tui.config import DaemonConfig
from cm_tui.daemon import bootstrap, daemon_use, endpoint, process, runtime_dir
from cm_tui.daemon.checkup import examine
from cm_tui.daemon.client import RemoteEngine
from cm_tui.daemon.daemon_state import DaemonState
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api import projects
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import DaemonError, RefusedError
from tests.cli.conftest import Shop, git
from tests.daemon.conftest import PATIENCE, daemon_since, until
from tests.fake_clock import FakeClock

# --- start and stop ---


def test_stop_status_and_start_again(owned: Path):
    assert bootstrap.health() is None
    assert endpoint.daemon_info() is None
    assert not bootstrap.stop_daemon()
    # What a dead daemon left is replaced.
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(runtime_dir.socket_path()))
    assert bootstrap.health() is None
    assert not bootstrap.notify(owned)
    bootstrap.start_daemon()
    info = endpoint.daemon_info()
    assert info is not None
    assert info.pid == os.getpid()
    files = [runtime_dir.folder() / runtime_dir.INFO, runtime_dir.socket_path(), owned / "state/daemon.log"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert runtime_dir.folder().stat().st_mode & 0o777 == 0o700
    # Info that cannot be read is no info, and nobody needs it.
    (runtime_dir.folder() / runtime_dir.INFO).write_text('{"pid": 1')
    assert endpoint.daemon_info() is None
    assert bootstrap.health() is not None
    assert bootstrap.stop_daemon()
    assert bootstrap.health() is None
    assert not runtime_dir.socket_path().exists()
    assert endpoint.daemon_info() is None
    runtime_dir.socket_path().write_text("mine")
    with pytest.raises(DaemonError, match="not a socket"):
        bootstrap.start_daemon()
    assert runtime_dir.socket_path().read_text() == "mine"
    runtime_dir.socket_path().unlink()


def test_a_removed_socket_ends_the_daemon_that_nobody_can_reach(indexed: Shop):
    engine = open_engine(indexed.root)
    assert engine.search("tax").hits
    first = daemon_since()
    runtime_dir.socket_path().unlink()
    newcomer = open_engine(indexed.root)
    assert newcomer.search("tax").hits
    assert daemon_since() != first
    assert engine.search("tax").hits
    engine.close()
    newcomer.close()


def test_a_long_home_gets_a_short_private_socket(owned: Path, monkeypatch: pytest.MonkeyPatch, shop_root: Path):
    home = owned / ("x" * 120)
    monkeypatch.setenv("CM_HOME", str(home))
    path = runtime_dir.socket_path()
    assert len(os.fsencode(path)) < 100
    assert bootstrap.health() is None
    assert not path.parent.exists()
    try:
        engine = open_engine(shop_root)
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert not engine.status().indexed
        engine.close()
    finally:
        bootstrap.stop_daemon()
    assert not path.parent.exists()
    assert not bootstrap.notify(shop_root)
    assert not path.parent.exists()


def test_it_ends_when_nobody_needs_it(indexed: Shop, monkeypatch: pytest.MonkeyPatch):
    idle = [0.0]
    monkeypatch.setattr(DaemonState, "idle_seconds", property(lambda _: idle[0]))
    engine = open_engine(indexed.root)
    idle[0] = DaemonConfig().idle_seconds
    until(lambda: not endpoint.owns(), "its idle end")
    assert endpoint.daemon_info() is None
    idle[0] = 0.0
    assert engine.search("tax").hits
    engine.close()


def test_once_nothing_is_asked_it_removes_what_killed_processes_left(cm_home: Path):
    old, new, other = (
        cm_home / "data/entries" / name for name in (".a.json.12ab.cm-new", ".a.json.34cd.cm-new", "a.json")
    )
    old.parent.mkdir(parents=True)
    for file in (old, new, other):
        file.touch()
    clock = FakeClock()
    for file, age in ((old, 90_000.0), (new, 3_600.0), (other, 90_000.0)):
        os.utime(file, (clock.now() - age,) * 2)
    state = DaemonState(DaemonConfig(), clock=clock)
    state.tidy()
    assert old.exists()
    clock.advance(60.0)
    state.tidy()
    # Another process may be writing the newer one.
    assert [file.exists() for file in (old, new, other)] == [False, True, True]


def test_it_is_not_idle_while_somebody_is_answered_or_listens_or_something_runs(
    cm_home: Path, monkeypatch: pytest.MonkeyPatch
):
    clock = FakeClock()
    state = DaemonState(DaemonConfig(), clock=clock)
    clock.advance(5)
    assert state.idle_seconds == 5
    with state.visit():
        clock.advance(100)
        assert state.idle_seconds == 0
    clock.advance(3)
    assert state.idle_seconds == 3
    monkeypatch.setattr(type(state.jobs), "busy", True)
    clock.advance(100)
    assert state.idle_seconds == 0
    monkeypatch.undo()
    clock.advance(2)
    assert state.idle_seconds == 2


# --- who else may be there ---


@contextmanager
def listening(answer: Callable[[socket.socket], None] | None) -> Iterator[socket.socket]:
    """Something that is no daemon listens in its place, and answers each connection, or is silent."""
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(str(runtime_dir.socket_path()))
        foreign.listen()

        def take() -> None:
            while True:
                try:
                    channel, _ = foreign.accept()
                except OSError:
                    return
                with channel, contextlib.suppress(ConnectionError):
                    assert answer is not None
                    answer(channel)

        taker = threading.Thread(target=take, daemon=True)
        if answer is not None:
            taker.start()
        yield foreign
        foreign.shutdown(socket.SHUT_RDWR)
        if answer is not None:
            taker.join(60)


def test_foreign_process_on_the_socket_is_refused(owned: Path, shop_root: Path):
    def greet(channel: socket.socket) -> None:
        channel.sendall(b"220 mail.example.org ESMTP\r\n")
        channel.recv(1000)

    with listening(greet):
        for ask in (bootstrap.health, lambda: open_engine(shop_root)):
            with pytest.raises(DaemonError, match="other than cm"):
                ask()
        assert not bootstrap.notify(shop_root)
        assert [check.name for check in examine(shop_root) if check.state == "failed"] == ["daemon"]
        with pytest.raises(RefusedError, match="other than cm"):
            process.serve(extensions, background=True)


def test_a_silent_process_on_the_socket_is_told_from_a_hanging_daemon(owned: Path, shop_root: Path):
    with listening(None):
        # Nobody holds the daemon's lock, so it is not waited for to the end.
        for ask in (
            lambda: bootstrap.health(0.2),
            lambda: bootstrap.health(PATIENCE * 10),
            lambda: open_engine(shop_root),
        ):
            with pytest.raises(DaemonError, match="other than cm"):
                ask()


def test_a_daemon_that_is_busy_is_not_called_foreign(owned: Path, shop_root: Path):
    def answer(channel: socket.socket) -> None:
        said = b""
        while not said.endswith(b"}" if said.startswith(b"POST") else b"\r\n\r\n"):
            said += channel.recv(10_000)
        channel.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy")

    with listening(answer):
        with pytest.raises(DaemonError, match="busy") as caught:
            bootstrap.health()
        assert "again" in caught.value.hint
        with pytest.raises(DaemonError, match="busy"):
            RemoteEngine(ProjectRef(str(shop_root))).status()  # type: ignore[attr-defined]


OLDER, SAME, NEWER = endpoint.PROTOCOL - 1, endpoint.PROTOCOL, endpoint.PROTOCOL + 1


def test_which_daemon_is_replaced_refused_or_put_up_with(cm_home: Path, monkeypatch: pytest.MonkeyPatch):
    done: list[str] = []
    monkeypatch.setattr(bootstrap, "stop_daemon", lambda *, handover: done.append(f"handover {handover}") or True)
    monkeypatch.setattr(bootstrap, "start_daemon", lambda: done.append("start"))
    replaced = ["handover True", "start"]
    rows: list[tuple[object, object, list[str] | None]] = [
        ("0.0.9", OLDER, replaced), ("0.0.9", SAME, replaced), (__version__, OLDER, replaced), (__version__, None, replaced),
        (__version__, SAME, []), ("99.0.0", SAME, []), ("99.0.0", NEWER, None), ("99.0.0", OLDER, None), (__version__, NEWER, None),
    ]  # fmt: skip
    for version, protocol, wanted in rows:
        found = {"name": "cm", "version": version, "protocol": protocol, "settings": runtime_dir.settings_digest()}
        monkeypatch.setattr(bootstrap, "health", lambda found=found: found)
        done.clear()
        if wanted is None:
            with pytest.raises(DaemonError, match="their protocols differ"):
                daemon_use.ready(done.append)
        else:
            assert daemon_use.ready(done.append)
        assert done == (wanted or []), (version, protocol)


def test_without_a_daemon_the_engine_is_local_and_says_so(
    owned: Path, shop_root: Path, monkeypatch: pytest.MonkeyPatch
):
    def cannot_start() -> None:
        raise DaemonError("no processes left.")

    monkeypatch.setattr(bootstrap, "start_daemon", cannot_start)
    said: list[str] = []
    engine = open_engine(shop_root, say=said.append)
    assert isinstance(engine, Engine)
    assert "no processes left" in said[0]
    engine.close()


# --- a private folder ---


def test_a_store_without_a_daemon_is_private_too(cm_home: Path, shop_root: Path):
    before = os.umask(0o022)
    try:
        with Engine.open(shop_root) as engine:
            list(engine.index())
            modes = {path.name: path.stat().st_mode & 0o777 for path in (engine.store, *engine.store.parents[:2])}
            assert set(modes.values()) == {0o700}
            assert projects.store_file(engine.store).stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_open_folder_is_refused(owned: Path):
    runtime_dir.folder().chmod(0o755)
    for act in (runtime_dir.folder, bootstrap.start_daemon, lambda: open_engine(owned)):
        with pytest.raises(RefusedError, match="open to other users"):
            act()
    assert not bootstrap.notify(owned)
    (owned / "data/run").chmod(0o700)


def test_link_in_place_of_the_folder_is_refused(owned: Path, tmp_path: Path):
    (owned / "data").mkdir()
    (owned / "data/run").symlink_to(tmp_path)
    with pytest.raises(RefusedError, match="link"):
        bootstrap.start_daemon()
    (owned / "data/run").unlink()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_folder_of_another_user_is_refused(owned: Path):
    os.chown(runtime_dir.folder(), 12345, 12345)
    with pytest.raises(RefusedError, match="another user"):
        bootstrap.start_daemon()
    os.chown(owned / "data/run", 0, 0)


# --- its projects ---


def test_settings_and_head_may_change_under_it(indexed: Shop):
    engine = open_engine(indexed.root)
    # The first question after a commit brings the index up first.
    (indexed.root / "shop/new.py").write_text("def zebra_crossing():\n    return 1\n")
    git(indexed.root, "add", "-A")
    git(indexed.root, "commit", "-qm", "Cross")
    page = engine.definitions("zebra_crossing")
    assert page.total == 1
    assert "HEAD moved" in page.note
    assert "HEAD moved" not in engine.definitions("zebra_crossing").note
    assert engine.search("tax").mode == "hybrid"
    settings = indexed.root / ".cm/config.toml"
    settings.parent.mkdir()
    settings.write_text("[embedding]\nprovider = 'none'\n")
    assert engine.search("tax").mode == "keyword"
    settings.write_text("[embedding\n")
    with pytest.raises(Exception, match=r"config\.toml"):
        engine.search("tax")
    settings.unlink()
    assert engine.search("tax").mode == "hybrid"
    engine.close()


def lose_an_answer(patch: pytest.MonkeyPatch, method: str) -> None:
    """Have the next answer to a method lost, as if the daemon ended right after it did what was asked."""
    get, sent = http.client.HTTPConnection.getresponse, http.client.HTTPConnection.request
    asked: list[str] = []

    def request(self: http.client.HTTPConnection, verb: str, url: str, *args: Any, **kwargs: Any) -> None:
        asked.append(url)
        sent(self, verb, url, *args, **kwargs)

    def getresponse(self: http.client.HTTPConnection) -> http.client.HTTPResponse:
        response = get(self)
        if asked[-1] == f"/v1/call/{method}":
            response.read()
            patch.undo()
            self.close()
            raise http.client.RemoteDisconnected
        return response

    patch.setattr(http.client.HTTPConnection, "request", request)
    patch.setattr(http.client.HTTPConnection, "getresponse", getresponse)


@pytest.mark.parametrize("is_first", [True, False], ids=["new connection", "kept connection"])
def test_what_must_not_be_done_twice_is_not_repeated_when_its_answer_is_lost(indexed: Shop, is_first: bool):
    def ask(method: str, *args: Any, **kwargs: Any) -> None:
        with open_engine(indexed.root) as engine, pytest.MonkeyPatch.context() as patch:
            if is_first:
                engine.close()
            lose_an_answer(patch, method)
            getattr(engine, method)(*args, **kwargs)

    with open_engine(indexed.root) as engine:
        for text in ("tax is included", "prices are in cents"):
            engine.remember(text)
        with pytest.raises(DaemonError, match="may have been made"):
            ask("undo")
        assert [one.content for one in engine.entries().rows] == ["tax is included"]
        with pytest.raises(DaemonError, match="may have been made"):
            ask("append_note", "ask the accountant", name="tax")
        assert engine.note(".cm/notes/topics/tax.md").text.count("accountant") == 1
        with pytest.raises(DaemonError, match="may have been made"):
            ask("record_episode", "tax looked at")
        assert engine.episodes().total == 1
        # All else is asked once more.
        ask("remember", "carts expire")
        ask("undo", dry_run=True)
        assert [one.content for one in engine.entries().rows] == ["carts expire", "tax is included"]


def test_the_answer_of_the_daemon_that_follows_one_that_had_gone_can_be_lost_too(indexed: Shop):
    with open_engine(indexed.root) as engine, pytest.MonkeyPatch.context() as patch:
        engine.remember("tax is included")
        bootstrap.stop_daemon()
        lose_an_answer(patch, "undo")
        with pytest.raises(DaemonError, match="may have been made"):
            engine.undo()
        assert engine.entries().total == 0


def test_a_store_that_disappears_is_made_again(indexed: Shop):
    engine = open_engine(indexed.root)
    shutil.rmtree(engine.status().store)
    until(lambda: not engine.status().indexed, "what has it open to let go")
    list(engine.index())
    assert engine.search("tax").hits
    engine.close()


def test_replaced_code_counts_once_all_of_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "part.py"
    file.write_text("")
    module = ModuleType("cm_tui.part")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "cm_tui.part", module)
    code = process.LoadedCode()
    assert [code.is_replaced() for _ in range(3)] == [False] * 3
    file.unlink()
    assert [code.is_replaced() for _ in range(3)] == [False] * 3
    file.write_text("x = 1")
    assert [code.is_replaced() for _ in range(2)] == [False, True]
    # Also before the first look at it.
    code = process.LoadedCode()
    file.write_text("x = 12")
    assert [code.is_replaced() for _ in range(2)] == [False, True]
