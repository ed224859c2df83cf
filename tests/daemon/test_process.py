"""The daemon as a process: never two, started when needed, gone when told to, recovered when killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cm_tui import __version__
from cm_tui.daemon import bootstrap, endpoint, runtime_dir
from cm_tui.daemon.checkup import examine
from cm_tui.daemon.client import RemoteEngine
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api import projects
from cm_tui.engine.local.engine import LocalEngine
from cm_tui.errors import DaemonError, RefusedError
from tests.cli.conftest import git
from tests.daemon.conftest import PATIENCE, is_running, make_project, pid_of_daemon, until

ASK = """
import sys
from pathlib import Path
from cm_tui.daemon import bootstrap, endpoint, runtime_dir
sys.stdin.readline()
bootstrap.start_daemon()
print(bootstrap.health()["pid"], flush=True)
"""


def test_eight_at_once_start_one(owned: Path):
    racers = [
        subprocess.Popen([sys.executable, "-c", ASK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    pids = {racer.communicate(timeout=180)[0].strip() for racer in racers}
    assert pids == {str(pid_of_daemon())}


def test_a_second_daemon_gives_way(owned: Path):
    bootstrap.start_daemon()
    pid = pid_of_daemon()
    command = [sys.executable, "-m", "cm_tui", "serve"]
    second = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert second.returncode == 0
    assert "already" in second.stderr
    assert pid_of_daemon() == pid


def test_daemons_that_race_past_the_engines_leave_one(owned: Path):
    command = [sys.executable, "-m", "cm_tui", "serve", "--background"]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    until(lambda: bootstrap.health() is not None, "a daemon")
    until(lambda: sum(process.poll() is None for process in processes) == 1, "the others to give way")
    assert {process.returncode for process in processes if process.poll() is not None} == {0}
    bootstrap.stop_daemon()
    assert all(process.wait(60) == 0 for process in processes)
    for process in processes:
        process.communicate()


def test_stop_status_and_start_again(owned: Path):
    assert bootstrap.health() is None
    assert endpoint.daemon_info() is None
    assert not bootstrap.stop_daemon()
    bootstrap.start_daemon()
    info = endpoint.daemon_info()
    assert info is not None
    assert info.pid == pid_of_daemon()
    assert bootstrap.stop_daemon()
    until(lambda: not is_running(info.pid), "its end")
    assert bootstrap.health() is None
    assert not runtime_dir.socket_path().exists()
    assert endpoint.daemon_info() is None


def test_a_daemon_that_hangs_is_ended(owned: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bootstrap, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(bootstrap, "GRACE_SECONDS", 0.2)
    bootstrap.start_daemon()
    info = endpoint.daemon_info()
    assert info is not None
    os.kill(info.pid, signal.SIGSTOP)
    with pytest.raises(DaemonError):
        bootstrap.stop_daemon(handover=True)
    assert is_running(info.pid)
    # Of a process that has not the lock nothing is known: its number may be anybody's.
    endpoint.write_info(info._replace(pid=os.getpid()))
    with pytest.raises(DaemonError, match="does not end"):
        bootstrap.stop_daemon()
    endpoint.write_info(info)
    assert bootstrap.stop_daemon()
    until(lambda: not is_running(info.pid), "its end")
    assert not bootstrap.stop_daemon()


def test_files_are_only_the_users(owned: Path):
    bootstrap.start_daemon()
    assert runtime_dir.folder().stat().st_mode & 0o777 == 0o700
    files = [runtime_dir.folder() / runtime_dir.INFO, runtime_dir.socket_path(), owned / "state/daemon.log"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_cleanly(owned: Path, shop_root: Path, number: signal.Signals):
    with open_engine(shop_root) as engine:  # type: ignore[attr-defined]
        list(engine.index())
    pid = pid_of_daemon()
    os.kill(pid, number)
    until(lambda: not is_running(pid), "its end")
    assert not runtime_dir.socket_path().exists()
    assert "daemon ended" in (owned / "state/daemon.log").read_text()


def test_stale_socket_is_replaced(owned: Path):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(runtime_dir.socket_path()))
    assert bootstrap.health() is None
    assert not bootstrap.notify(owned)
    bootstrap.start_daemon()
    assert bootstrap.health() is not None


def test_killed_daemon_is_recovered_by_the_next_question(owned: Path, shop_root: Path):
    engine = open_engine(shop_root)
    list(engine.index())
    before = engine.search("add tax").hits
    for _ in range(3):
        pid = pid_of_daemon()
        os.kill(pid, signal.SIGKILL)
        assert engine.search("add tax").hits == before
        assert pid_of_daemon() != pid
    engine.close()


def test_killed_in_the_middle_of_an_index_run(owned: Path, shop_root: Path):
    for number in range(400):
        (shop_root / f"module_{number}.py").write_text(f"def function_{number}(argument):\n    return argument\n" * 20)
    engine = open_engine(shop_root)
    steps = engine.index()
    next(step for step in steps if step.stage == "parse")
    os.kill(pid_of_daemon(), signal.SIGKILL)
    summary = list(steps)[-1].summary
    assert summary is not None
    assert summary.files == 406
    status = engine.status()
    assert (status.files, status.embedded) == (406, status.passages)
    engine.close()


def test_a_removed_socket_ends_the_daemon_that_nobody_can_reach(owned: Path, shop_root: Path):
    engine = open_engine(shop_root)
    list(engine.index())
    first = pid_of_daemon()
    runtime_dir.socket_path().unlink()
    newcomer = open_engine(shop_root)
    assert newcomer.search("tax").hits
    assert pid_of_daemon() != first
    assert not is_running(first)
    assert engine.search("tax").hits
    engine.close()
    newcomer.close()


def test_foreign_process_on_the_socket_is_refused(owned: Path, shop_root: Path):
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(str(runtime_dir.socket_path()))
        foreign.listen()
        taker = threading.Thread(target=_answer_garbage, args=(foreign,), daemon=True)
        taker.start()
        with pytest.raises(DaemonError, match="not cm"):
            bootstrap.health()
        with pytest.raises(DaemonError, match="not cm"):
            open_engine(shop_root)
        assert not bootstrap.notify(shop_root)
        assert [check.name for check in examine(shop_root) if check.state == "failed"] == ["daemon"]
        command = [sys.executable, "-m", "cm_tui", "serve", "--background"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert run.returncode == 4
        assert "not cm" in run.stderr
        foreign.shutdown(socket.SHUT_RDWR)
    taker.join()


def test_a_silent_process_on_the_socket_is_told_from_a_hanging_daemon(owned: Path, shop_root: Path):
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(str(runtime_dir.socket_path()))
        foreign.listen()
        # Nobody holds the daemon's lock, so it is not waited for to the end.
        for seconds in (0.2, PATIENCE * 10):
            with pytest.raises(DaemonError, match="not cm"):
                bootstrap.health(seconds)
        with pytest.raises(DaemonError, match="not cm"):
            open_engine(shop_root)


def test_a_daemon_that_is_busy_is_not_called_foreign(owned: Path, shop_root: Path):
    def answer(listener: socket.socket) -> None:
        for _ in range(2):
            channel, _ = listener.accept()
            with channel:
                said = b""
                while not said.endswith(b"}" if said.startswith(b"POST") else b"\r\n\r\n"):
                    said += channel.recv(10_000)
                channel.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy")

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(runtime_dir.socket_path()))
        listener.listen()
        taker = threading.Thread(target=answer, args=(listener,), daemon=True)
        taker.start()
        with pytest.raises(DaemonError, match="busy") as caught:
            bootstrap.health()
        assert "again" in caught.value.hint
        with pytest.raises(DaemonError, match="busy"):
            RemoteEngine(ProjectRef(str(shop_root))).status()  # type: ignore[attr-defined]
        taker.join()


def test_a_daemon_in_the_foreground_writes_the_log_too(owned: Path):
    process = subprocess.Popen([sys.executable, "-m", "cm_tui", "serve"], stderr=subprocess.PIPE, text=True)
    until(lambda: bootstrap.health() is not None, "a daemon")
    bootstrap.stop_daemon()
    assert process.communicate(timeout=60)[1] == ""
    log = owned / "state/daemon.log"
    assert "started" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_everything_that_is_kept_is_private(owned: Path, shop_root: Path):
    home = owned / "new" / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(home))
        engine = open_engine(shop_root)
        list(engine.index())
        engine.close()
        try:
            kept = [owned / "new", home, *home.rglob("*")]
            modes = {str(path): path.lstat().st_mode for path in kept}
        finally:
            bootstrap.stop_daemon()
    assert any(name.endswith("data/projects") for name in modes)
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}


def test_a_store_without_a_daemon_is_private_too(cm_home: Path, shop_root: Path):
    before = os.umask(0o022)
    try:
        with LocalEngine.open(shop_root) as engine:
            list(engine.index())
            modes = {path.name: path.stat().st_mode & 0o777 for path in (engine.store, *engine.store.parents[:2])}
            assert set(modes.values()) == {0o700}
            assert projects.store_file(engine.store).stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def _answer_garbage(listener: socket.socket) -> None:
    while True:
        try:
            channel, _ = listener.accept()
        except OSError:
            return
        with channel, contextlib.suppress(ConnectionError):
            channel.sendall(b"220 mail.example.org ESMTP\r\n")
            channel.recv(1000)


def test_a_hanging_daemon_is_named(owned: Path, shop_root: Path):
    bootstrap.start_daemon()
    pid = pid_of_daemon()
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(DaemonError, match=str(pid)):
            bootstrap.health(0.5)
        assert not bootstrap.notify(shop_root)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert bootstrap.health() is not None


def test_a_file_in_place_of_the_socket_is_refused(owned: Path):
    runtime_dir.socket_path().write_text("mine")
    with pytest.raises(DaemonError, match="no socket"):
        bootstrap.start_daemon()
    assert runtime_dir.socket_path().read_text() == "mine"
    runtime_dir.socket_path().unlink()


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
        assert list(engine.index())[-1].summary is not None
        engine.close()
    finally:
        bootstrap.stop_daemon()
    assert not path.parent.exists()
    assert not bootstrap.notify(shop_root)
    assert not path.parent.exists()


def test_it_ends_when_nobody_needs_it(owned: Path, shop_root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_DAEMON__IDLE_SECONDS", "0.5")
    engine = open_engine(shop_root)
    list(engine.index())
    info = endpoint.daemon_info()
    assert info is not None
    until(lambda: not is_running(info.pid), "its idle end")
    assert endpoint.daemon_info() is None
    assert engine.search("tax").hits
    engine.close()


def test_it_stays_while_somebody_listens(owned: Path, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.daemon.connection import Connection

    monkeypatch.setenv("CM_DAEMON__IDLE_SECONDS", "0.3")
    bootstrap.start_daemon()
    pid = pid_of_daemon()
    line = Connection(60)
    beats = line.lines("GET", "/v1/events")
    for _ in range(12):
        # Each beat comes after a quarter of a second without events.
        assert next(beats)[0] == 200
    assert is_running(pid)
    line.close()
    until(lambda: not is_running(pid), "its idle end")


def test_newer_client_replaces_an_older_daemon(owned: Path, shop_root: Path, monkeypatch: pytest.MonkeyPatch):
    engine = open_engine(shop_root)
    list(engine.index())
    bootstrap.stop_daemon()
    old = _other_version("0.0.9", endpoint.PROTOCOL - 1)
    first = pid_of_daemon()
    other = open_engine(shop_root)
    assert pid_of_daemon() != first
    until(lambda: not is_running(first), "the end of the older one")
    assert other.search("tax").hits
    assert engine.search("tax").hits
    assert old.wait(60) == 0
    engine.close()
    other.close()


def test_a_daemon_of_this_version_that_speaks_an_older_protocol_is_replaced(owned: Path, shop_root: Path):
    old = _other_version(__version__, endpoint.PROTOCOL - 1)
    first = pid_of_daemon()
    engine = open_engine(shop_root)
    assert pid_of_daemon() != first
    assert not engine.status().indexed
    assert old.wait(60) == 0
    engine.close()


def test_older_client_is_told_so(owned: Path, shop_root: Path):
    newer = _other_version("99.0.0", endpoint.PROTOCOL + 1)
    with pytest.raises(DaemonError, match=r"99\.0\.0"):
        open_engine(shop_root)
    answer = bootstrap.request("POST", "/v1/call/status", {})
    assert answer is not None
    assert (answer[0], json.loads(answer[1])["error"]["class"]) == (426, "DaemonError")
    bootstrap.stop_daemon()
    assert newer.wait(60) == 0


def test_a_newer_daemon_that_speaks_the_same_protocol_will_do(owned: Path, shop_root: Path):
    newer = _other_version("99.0.0", endpoint.PROTOCOL)
    pid = pid_of_daemon()
    open_engine(shop_root).close()
    assert pid_of_daemon() == pid
    bootstrap.stop_daemon()
    assert newer.wait(60) == 0


def _other_version(version: str, protocol: int) -> subprocess.Popen[bytes]:
    code = (
        "import sys, cm_tui\n"
        "cm_tui.__version__ = sys.argv[1]\n"
        "from cm_tui.daemon import endpoint, process\n"
        "from cm_tui.daemon.extensions import Extensions\n"
        "endpoint.PROTOCOL = int(sys.argv[2])\n"
        "process.serve(lambda _: Extensions(), background=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, version, str(protocol)])
    until(lambda: bootstrap.health() is not None, "the other daemon")
    return process


def test_info_that_cannot_be_read_is_no_info(owned: Path):
    bootstrap.start_daemon()
    (runtime_dir.folder() / runtime_dir.INFO).write_text('{"pid": 1')
    assert endpoint.daemon_info() is None
    assert bootstrap.health() is not None


def test_a_daemon_that_cannot_start_says_why(owned: Path, shop_root: Path):
    (owned / "config").mkdir()
    (owned / "config/config.toml").write_text("[daemon]\nidle_seconds = 'soon'\n")
    with pytest.raises(DaemonError, match="idle_seconds"):
        bootstrap.start_daemon()


def test_without_a_daemon_the_engine_is_local_and_says_so(
    owned: Path, shop_root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bootstrap, "start_daemon", _cannot_start)
    said: list[str] = []
    engine = open_engine(shop_root, say=said.append)
    assert isinstance(engine, LocalEngine)
    assert "no processes left" in said[0]
    engine.close()


def _cannot_start() -> None:
    raise DaemonError("no processes left.")


def test_two_projects_at_once(owned: Path, tmp_path: Path):
    roots = [make_project(tmp_path / name) for name in ("one", "two")]
    engines = [open_engine(root) for root in roots]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda engine: list(engine.index())[-1].summary, engines))
    assert [summary.files for summary in done if summary] == [6, 6]
    report = bootstrap.health()
    assert report is not None
    assert {project["root"] for project in report["projects"]} == {str(root) for root in roots}
    for engine in engines:
        engine.close()


def test_two_checkouts_of_one_project_take_turns(owned: Path, shop_root: Path, tmp_path: Path):
    second = tmp_path / "second"
    git(shop_root, "worktree", "add", "-q", str(second))
    (second / "shop/only_here.py").write_text("def only_in_the_second():\n    return 1\n")
    first, other = open_engine(shop_root), open_engine(second)
    list(first.index())
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda engine: engine.search("add tax").hits, [first, other] * 4))
    assert all(answers)
    list(other.index())
    assert other.definitions("only_in_the_second").total == 1
    first.close()
    other.close()


def test_a_folder_that_disappears_is_an_error_for_it_alone(owned: Path, tmp_path: Path):
    import shutil

    stays, goes = (make_project(tmp_path / name) for name in ("stays", "goes"))
    engines = [open_engine(stays), open_engine(goes)]
    for engine in engines:
        list(engine.index())
    shutil.rmtree(goes)
    with pytest.raises(Exception, match="no folder"):
        engines[1].search("tax")
    assert engines[0].search("tax").hits
    until(lambda: len((bootstrap.health() or {})["projects"]) == 1, "the project to be closed")
    make_project(goes)
    assert list(engines[1].index())[-1].summary is not None
    assert engines[1].search("tax").hits
    for engine in engines:
        engine.close()


def test_a_store_that_disappears_is_made_again(owned: Path, shop_root: Path):
    import shutil

    engine = open_engine(shop_root)
    list(engine.index())
    shutil.rmtree(engine.status().store)
    assert not engine.status().indexed
    list(engine.index())
    assert engine.search("tax").hits
    engine.close()


def test_settings_that_change_are_taken(owned: Path, shop_root: Path):
    engine = open_engine(shop_root)
    list(engine.index())
    assert engine.search("tax").mode == "hybrid"
    settings = shop_root / ".cm/config.toml"
    settings.parent.mkdir()
    settings.write_text("[embedding]\nprovider = 'none'\n")
    assert engine.search("tax").mode == "keyword"
    settings.write_text("[embedding\n")
    with pytest.raises(Exception, match=r"config\.toml"):
        engine.search("tax")
    settings.unlink()
    assert engine.search("tax").mode == "hybrid"
    engine.close()


def test_question_after_a_commit_brings_the_index_up_first(owned: Path, shop_root: Path):
    engine = open_engine(shop_root)
    list(engine.index())
    (shop_root / "shop/new.py").write_text("def zebra_crossing():\n    return 1\n")
    git(shop_root, "add", "-A")
    git(shop_root, "commit", "-qm", "Cross")
    page = engine.definitions("zebra_crossing")
    assert page.total == 1
    assert "HEAD moved" in page.note
    assert "HEAD moved" not in engine.definitions("zebra_crossing").note
    engine.close()
