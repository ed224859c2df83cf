"""Requesting, starting and stopping the daemon, with few imports so that hooks stay fast."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cm_tui import paths
from cm_tui.daemon import endpoint
from cm_tui.daemon.runtime_dir import START_LOCK, folder, has_lock, refuse_obstacles
from cm_tui.errors import CmError, DaemonError
from cm_tui.files import users_umask

if TYPE_CHECKING:
    import subprocess

START_SECONDS = 60.0
"""How long a daemon may take to answer after it was started, on a slow and busy machine."""
ANSWER_SECONDS = 10.0
"""How long a daemon may take to answer that it is going to end."""
GRACE_SECONDS = 3.0
"""How long a daemon that hangs may take to end by itself."""
KILLED_SECONDS = 20.0
"""How long the system may take to clear away a killed one, on a busy machine."""
_LIMIT = 1_000_000


def request(method: str, path: str, body: Any = None, *, timeout: float = 10.0) -> tuple[int, bytes] | None:
    """Send one request to the daemon.

    Args:
        method: GET or POST.
        path: such as `/v1/health`.
        body: sent as JSON; None: nothing.
        timeout: seconds without any answer.

    Returns:
        Status and body, or None when no daemon answers.

    Raises:
        DaemonError: something is there but does not speak as a daemon does, or not in time.
        RefusedError: the runtime folder is not private, or another user's process listens.
    """
    from cm_tui.daemon.connection import Connection, DaemonGoneError

    connection = Connection(timeout)
    try:
        return connection.ask(method, path, body)
    except DaemonGoneError:
        return None
    finally:
        connection.close()


def ask(path: str, question: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
    """Return what the daemon answers a hook; None when none runs.

    `path`: such as `/v1/hook/prompt`; `question`: sent as JSON; `seconds`: for all of it. Raises DaemonError if it
    takes longer, or does not answer with a record.
    """
    until = time.monotonic() + seconds
    try:
        channel = endpoint.connect_socket(seconds)
        if channel is None:
            return None
        # By hand: importing the standard client takes longer than everything else that a hook does.
        body = json.dumps(question).encode("ascii")
        said = {**endpoint.headers(), "Content-Type": "application/json", "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in {**said, "Connection": "close"}.items())
        answer = bytearray()
        with channel:
            channel.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
            while len(answer) <= _LIMIT:
                channel.settimeout(max(until - time.monotonic(), 0.001))
                piece = channel.recv(1 << 16)
                if not piece:
                    break
                answer += piece
        return _record(bytes(answer))
    except TimeoutError as error:
        raise DaemonError(f"the daemon took longer than {seconds:.2g} s (agents.wait_seconds).") from error
    except (OSError, ValueError) as error:
        raise DaemonError(str(error)) from error


def _record(answer: bytes) -> dict[str, Any]:
    if not answer:
        raise ValueError("the daemon ended meanwhile")
    head, _, body = answer.partition(b"\r\n\r\n")
    found = json.loads(body)
    if head.split(b" ", 2)[1:2] != [b"200"]:
        raise ValueError(str(found.get("error")) if isinstance(found, dict) else "the daemon refused it")
    return found if isinstance(found, dict) else {}


def notify(root: Path) -> bool:
    """Tell a running daemon that the journal of a project has news.

    Never starts a daemon and never raises: a hook must not fail, and what the journal holds is not lost. Returns
    whether a daemon heard it.
    """
    try:
        return ask("/v1/nudge", {"root": str(root)}, 0.5) is not None
    except CmError:
        return False


def health(timeout: float = 10.0) -> dict[str, Any] | None:
    """Return what the running daemon says about itself now; None when none answers.

    Raises DaemonError if something else listens, or the daemon hangs; RefusedError if the runtime folder is not
    private, or another user's process listens.
    """
    answer = request("GET", "/v1/health", timeout=timeout)
    if answer is None:
        return None
    if answer[0] == endpoint.BUSY:
        raise endpoint.busy()
    try:
        found = json.loads(answer[1])
        if answer[0] == 200 and isinstance(found, dict) and found.get("name") == "cm":
            return found
    except ValueError:
        pass
    raise endpoint.unexpected_peer()


# --- starting and ending it ---


def start_daemon(timeout: float = START_SECONDS) -> None:
    """Start a daemon unless one answers, and wait until it does. However many ask at once, one is started.

    Raises DaemonError if it did not start; the message says why. RefusedError if the runtime folder is not private, or
    something foreign listens.
    """
    from filelock import FileLock, Timeout

    deadline = time.monotonic() + timeout
    refuse_obstacles()
    try:
        with FileLock(folder() / START_LOCK, timeout=timeout, mode=0o600):
            if health() is None:
                _start(deadline)
    except Timeout as error:
        raise DaemonError(
            f"Another process has been starting the daemon for {timeout:g} s.", hint=endpoint.RESTART
        ) from error
    except OSError as error:
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT} or not _has_room()
        hint = f"Free some space where {folder()} is." if is_full else "Check the permissions of CM_HOME."
        raise DaemonError(f"The daemon cannot be started: {error}", hint=hint) from error


def _start(deadline: float) -> None:
    complaints = folder() / "start.log"
    while time.monotonic() < deadline:
        with complaints.open("wb") as stream:
            complaints.chmod(0o600)
            process = _spawn(stream)
        while time.monotonic() < deadline:
            if health() is not None:
                return
            if process.poll() is not None:
                break
            time.sleep(0.02)
        if process.returncode:
            text = complaints.read_text(encoding="utf-8", errors="replace").strip()
            problem, hint = _failure(text, process.returncode)
            raise DaemonError(problem, hint=hint)
        # It ended well because another one holds the lock: that one is about to answer, or about to end.
        time.sleep(0.1)
    raise DaemonError("The daemon was started but does not answer.", hint=_log_hint())


_ROOM = 1 << 20
"""Bytes that a daemon needs on the disk to start."""


def _failure(text: str, code: int) -> tuple[str, str]:
    """Return what happened to a daemon that ended as it started, and what to do.

    `text`: what it wrote about that; nothing where the disk is full, or the system ended it. `code`: its exit code,
    below zero for the number of a signal.
    """
    if not _has_room():
        return f"The daemon could not start: the disk that holds {folder()} is full.", "Free some space there."
    if text:
        return f"The daemon could not start: {text}", _log_hint()
    ended = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code} without a message"
    return f"The daemon could not start: it {ended}.", _log_hint()


def _has_room() -> bool:
    import shutil

    try:
        return shutil.disk_usage(folder()).free >= _ROOM
    except OSError:
        return True


def _log_hint() -> str:
    return f"Its log is {paths.state_dir() / 'daemon.log'}; `CM_DAEMON__USE=never` works without it."


def _spawn(complaints: Any) -> subprocess.Popen[bytes]:
    environment = dict(os.environ)
    if (moved := paths.home_folder()) is not None:
        # The daemon's current folder is another one: a relative CM_HOME would be another home there.
        environment["CM_HOME"] = str(moved)
    home = Path(__file__).parents[2]
    if not home.name.endswith("-packages"):
        # A checkout is found by the current folder, which is another one for the daemon.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(home), environment.get("PYTHONPATH"))))
    # Otherwise each thread has its own heap, and keeps freed memory there.
    environment.setdefault("MALLOC_ARENA_MAX", "2")
    return spawn(("-m", "cm_tui", "serve", "--background"), environment, complaints, folder())


def spawn(
    words: Sequence[str], environment: Mapping[str, str], complaints: Any = None, place: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start Python in a process of its own, which stays when this one and its terminal end.

    `words`: its command line; `complaints`: a file for its errors; None: they go nowhere; `place`: its current folder.
    """
    import subprocess

    flags: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000208}
    return subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=complaints or subprocess.DEVNULL, cwd=place, env=environment, close_fds=True, umask=users_umask(), **flags,
    )  # fmt: skip


def stop_daemon(*, handover: bool = False, timeout: float = 30.0) -> bool:
    """Ask the daemon to exit, and wait until it has released everything; kill one that hangs.

    `handover`: another daemon follows: clients continue with it, and a hanging daemon is not killed; `timeout`: seconds
    for the current step of its work. Returns False when there was none. Raises DaemonError if it does not end.
    """
    deadline = time.monotonic() + timeout
    try:
        asked = request("POST", "/v1/shutdown", {"handover": handover}, timeout=min(timeout, ANSWER_SECONDS))
        if asked is None and not endpoint.owns():
            return False
    except DaemonError:
        # It hangs, or another program listens: only the owner of the lock is the daemon.
        if handover or not endpoint.owns():
            raise
        deadline = time.monotonic()
    if not _has_released(deadline) and (handover or not _killed()):
        info = endpoint.daemon_info()
        who = f" (process {info.pid})" if info else ""
        raise DaemonError(f"The daemon{who} did not stop.", hint="End the process, then try again.")
    return True


def _has_released(deadline: float) -> bool:
    while endpoint.owns():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _killed() -> bool:
    """End the process that has the daemon's lock, first politely; False when it cannot be said which one that is."""
    import signal
    from contextlib import suppress

    kill = getattr(signal, "SIGKILL", signal.SIGTERM)
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (kill, KILLED_SECONDS)):
        info = endpoint.daemon_info()
        if info is None or not has_lock(info.pid):
            break
        with suppress(OSError):
            os.kill(info.pid, number)
        if _has_released(time.monotonic() + seconds):
            return True
    return not endpoint.owns()
