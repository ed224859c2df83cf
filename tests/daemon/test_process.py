"""The daemon as a process: never two, private, ended by signals, replaced by a newer one, recovered when killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cm_tui
from cm_tui import __version__
from cm_tui.daemon import bootstrap, endpoint, runtime_dir
from cm_tui.daemon.open_engine import open_engine
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import DaemonError
from tests.cli.conftest import Shop
from tests.daemon.conftest import is_running, pid_of_daemon, until
from tests.forked import run_python

pytestmark = pytest.mark.process

ASK = """
import sys
from cm_tui.daemon import bootstrap
sys.stdin.readline()
bootstrap.start_daemon()
print(bootstrap.health()["pid"], flush=True)
"""
ROOT = Path(cm_tui.__file__).parents[1]
SERVE = [sys.executable, "-m", "cm_tui", "serve"]


def test_four_at_once_start_one_and_a_second_gives_way(owned: Path):
    racers = [
        subprocess.Popen([sys.executable, "-c", ASK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    pids = {racer.communicate(timeout=180)[0].strip() for racer in racers}
    pid = pid_of_daemon()
    assert pids == {str(pid)}
    second = subprocess.run(SERVE, capture_output=True, text=True, timeout=120, check=False)
    assert second.returncode == 0
    assert "already" in second.stderr
    assert pid_of_daemon() == pid
    assert bootstrap.stop_daemon()
    until(lambda: not is_running(pid), "its end")


def test_a_daemon_in_the_background_starts_without_the_library_for_command_lines(owned: Path):
    done = run_python(
        "import sys\n"
        "from cm_tui import __main__\n"
        "from cm_tui.config import DaemonConfig\n"
        "from cm_tui.daemon import process\n"
        "from cm_tui.daemon.daemon_state import DaemonState\n"
        "process.serve = lambda extend, **options: print(options, len(DaemonState(DaemonConfig(), '', extend).followers))\n"
        "sys.argv = ['cm', 'serve', '--background']\n"
        "print(__main__._run(), 'typer' in sys.modules)\n"
    )
    assert done.stdout.splitlines() == ["{'background': True, 'starts_again': True} 4", "0 False"]


def test_daemons_that_race_past_the_engines_leave_one(owned: Path):
    processes = [subprocess.Popen([*SERVE, "--background"], stderr=subprocess.PIPE) for _ in range(3)]
    until(lambda: bootstrap.health() is not None, "a daemon")
    until(lambda: sum(process.poll() is None for process in processes) == 1, "the others to give way")
    assert {process.returncode for process in processes if process.poll() is not None} == {0}
    bootstrap.stop_daemon()
    assert all(process.wait(60) == 0 for process in processes)
    for process in processes:
        process.communicate()


def test_a_signal_ends_it_cleanly_and_what_it_keeps_is_private(owned: Path, shop_root: Path):
    home = owned / "new" / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(home))
        for number in (signal.SIGTERM, signal.SIGINT):
            process = subprocess.Popen(SERVE, stderr=subprocess.PIPE, text=True)
            until(lambda: bootstrap.health() is not None, "a daemon")
            with open_engine(shop_root) as engine:  # type: ignore[attr-defined]
                list(engine.index())
            kept = {str(path): path.lstat().st_mode for path in (owned / "new", home, *home.rglob("*"))}
            assert {runtime_dir.socket_path(), runtime_dir.folder() / runtime_dir.INFO} <= set(map(Path, kept))
            assert any(name.endswith("data/projects") for name in kept)
            assert {name: oct(mode) for name, mode in kept.items() if mode & 0o077} == {}
            process.send_signal(number)
            assert process.communicate(timeout=60)[1] == ""
            assert process.returncode == 0
            assert not runtime_dir.socket_path().exists()
    log = (home / "state/daemon.log").read_text()
    assert log.count("started, process") == log.count("daemon ended") == 2


def test_a_daemon_that_hangs_is_named_and_ended(owned: Path, shop_root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bootstrap, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(bootstrap, "GRACE_SECONDS", 0.2)
    bootstrap.start_daemon()
    info = endpoint.daemon_info()
    assert info is not None
    os.kill(info.pid, signal.SIGSTOP)
    with pytest.raises(DaemonError, match=str(info.pid)):
        bootstrap.health(0.5)
    assert not bootstrap.notify(shop_root)
    with pytest.raises(DaemonError):
        bootstrap.stop_daemon(handover=True)
    assert is_running(info.pid)
    # Of a process that has not the lock nothing is known: its number may be anybody's.
    endpoint.write_info(info._replace(pid=os.getpid()))
    with pytest.raises(DaemonError, match="did not stop"):
        bootstrap.stop_daemon()
    endpoint.write_info(info)
    assert bootstrap.stop_daemon()
    until(lambda: not is_running(info.pid), "its end")
    assert not bootstrap.stop_daemon()


def test_killed_daemon_is_recovered_by_the_next_question_and_in_an_index_run(indexed: Shop):
    engine = open_engine(indexed.root)
    before = engine.search("add tax").hits
    assert before
    pid = pid_of_daemon()
    os.kill(pid, signal.SIGKILL)
    assert engine.search("add tax").hits == before
    assert pid_of_daemon() != pid
    for number in range(100):
        (indexed.root / f"module_{number}.py").write_text(
            f"def function_{number}(argument):\n    return argument\n" * 20
        )
    steps = engine.index()
    next(step for step in steps if step.stage == "parse")
    os.kill(pid_of_daemon(), signal.SIGKILL)
    summary = list(steps)[-1].summary
    assert summary is not None
    assert summary.files == 106
    status = engine.status()
    assert (status.files, status.embedded) == (106, status.passages)
    engine.close()


def test_newer_client_replaces_an_older_daemon(indexed: Shop):
    old = _other_version("0.0.9", endpoint.PROTOCOL - 1)
    first = pid_of_daemon()
    engine = open_engine(indexed.root)
    assert pid_of_daemon() != first
    assert old.wait(60) == 0
    assert engine.search("tax").hits
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


def test_a_hook_of_a_newer_cm_has_an_older_daemon_replaced(owned: Path, shop_root: Path):
    old = _other_version("0.0.9", endpoint.PROTOCOL - 1)
    _hook(shop_root, "edit", {"file_path": str(shop_root / "shop/cart.py")})
    assert old.wait(60) == 0
    until(lambda: (info := endpoint.daemon_info()) is not None and info.version == __version__, "the new daemon")
    _hook(shop_root, "edit", {"file_path": str(shop_root / "shop/money.py")})
    paths = [event.data["paths"] for event in Journal.of(shop_root).read() if event.kind == "hook.edit"]
    assert paths == [["shop/cart.py"], ["shop/money.py"]]


def test_a_hook_of_an_older_cm_leaves_its_events_to_a_newer_daemon(owned: Path, shop_root: Path):
    newer = _other_version("99.0.0", endpoint.PROTOCOL + 1)
    assert bootstrap.notify(shop_root)
    _hook(shop_root, "edit", {"file_path": str(shop_root / "shop/cart.py")})
    _hook(shop_root, "prompt", {}, prompt="How is tax added?")
    assert [event.kind for event in Journal.of(shop_root).read()] == ["hook.edit", "hook.prompt"]
    assert pid_of_daemon() == newer.pid
    bootstrap.stop_daemon()
    assert newer.wait(60) == 0


def test_a_daemon_whose_code_is_replaced_goes_on_with_the_new_code(owned: Path, shop_root: Path, tmp_path: Path):
    package = tmp_path / "installed" / "cm_tui"
    ours = Path(cm_tui.__file__).parent
    shutil.copytree(
        ours, package, ignore=lambda folder, _: ["data", "__pycache__"] if Path(folder) == ours else ["__pycache__"]
    )
    (package / "data").symlink_to(ours / "data")
    code = (
        "from cm_tui.daemon import process\n"
        "from cm_tui.daemon.daemon_state import Extensions\n"
        "process.CODE_TICKS = 2\n"
        "process.serve(lambda _: Extensions(), background=True, starts_again=True)\n"
    )
    daemon = subprocess.Popen([sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": str(package.parent)})
    until(lambda: bootstrap.health() is not None, "the daemon")
    (package / "__init__.py").write_text(
        (ours / "__init__.py").read_text().replace(f'"{cm_tui.__version__}"', '"0.1.99"')
    )
    until(lambda: (found := bootstrap.health()) is not None and found["version"] == "0.1.99", "the new code")
    assert pid_of_daemon() == daemon.pid
    assert bootstrap.notify(shop_root)
    bootstrap.stop_daemon()
    assert daemon.wait(60) == 0


def test_a_daemon_that_rests_starts_again_without_a_moment_in_which_it_cannot_be_reached(
    owned: Path, shop_root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CM_DAEMON__PROJECT_IDLE_SECONDS", "0.1")
    code = (
        "from cm_tui.cli.daemon import extensions\n"
        "from cm_tui.daemon import fresh_start, process\n"
        "fresh_start.GROWN_BYTES, fresh_start.NARRATOR_QUIET_S, fresh_start.INTERVAL_S = 1, 0, 0\n"
        "process.serve(extensions, background=True, starts_again=True)\n"
    )
    daemon = subprocess.Popen([sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)})
    until(lambda: bootstrap.health() is not None, "the daemon")
    before = endpoint.daemon_info()
    with open_engine(shop_root) as engine:
        list(engine.index())
        found = engine.search("tax").hits
    log = owned / "state/daemon.log"

    def has_started_again() -> bool:
        # The socket is open all the time; a request would count as use.
        channel = endpoint.connect_socket(5.0)
        assert channel is not None
        channel.close()
        return log.read_text().count(f"started, process {daemon.pid}") > 1

    # Connections that nothing accepts yet fill the socket's queue, which has room for 128.
    until(has_started_again, "the next start", every=0.1)
    assert endpoint.daemon_info() == before
    if sys.platform == "linux":
        mapped = Path(f"/proc/{daemon.pid}/maps").read_text()
        assert not [name for name in ("onnxruntime", "hnswlib", "tree_sitter") if name in mapped]
    with open_engine(shop_root) as engine:
        assert engine.search("tax").hits == found
    # A daemon that is started meanwhile gives way.
    assert subprocess.run(SERVE, capture_output=True, timeout=120, check=False).returncode == 0
    assert pid_of_daemon() == daemon.pid
    assert bootstrap.stop_daemon()
    assert daemon.wait(60) == 0
    assert not runtime_dir.socket_path().exists()
    assert "Traceback" not in log.read_text()


def _hook(root: Path, event: str, tool: dict[str, str], **more: str) -> None:
    said = {"cwd": str(root), "session_id": "s", "tool_name": "Edit", "tool_input": tool, **more}
    command = [sys.executable, "-m", "cm_tui", "hook", event, "--agent", "claude-code"]
    done = subprocess.run(command, input=json.dumps(said).encode(), cwd=root, capture_output=True, check=True)
    assert b"Traceback" not in done.stderr


def _other_version(version: str, protocol: int) -> subprocess.Popen[bytes]:
    code = (
        "import sys, cm_tui\n"
        "cm_tui.__version__ = sys.argv[1]\n"
        "from cm_tui.daemon import endpoint, process\n"
        "from cm_tui.daemon.daemon_state import Extensions\n"
        "endpoint.PROTOCOL = int(sys.argv[2])\n"
        "process.serve(lambda _: Extensions(), background=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, version, str(protocol)])
    until(lambda: bootstrap.health() is not None, "the other daemon")
    return process


def test_a_daemon_that_cannot_start_says_why(owned: Path):
    (owned / "config").mkdir()
    (owned / "config/config.toml").write_text("[daemon]\nidle_seconds = 'soon'\n")
    with pytest.raises(DaemonError, match="idle_seconds"):
        bootstrap.start_daemon()
