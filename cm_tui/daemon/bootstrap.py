"""Where the daemon is found, and how it is started: little enough to import that a hook can afford it."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cm_tui import __version__, paths
from cm_tui.daemon.runtime_dir import HAS_UNIX, INFO, LOCK, START_LOCK, folder, settings_digest, socket_path
from cm_tui.errors import CmError, DaemonError, RefusedError
from cm_tui.files import write_atomically

if TYPE_CHECKING:
    import subprocess

__all__ = [
    "HAS_UNIX",
    "INFO",
    "LOCK",
    "PROTOCOL",
    "RESTART",
    "START_SECONDS",
    "DaemonInfo",
    "connect_socket",
    "daemon_info",
    "folder",
    "headers",
    "health",
    "notify",
    "owns",
    "request",
    "settings_digest",
    "socket_path",
    "start_daemon",
    "stop_daemon",
    "unexpected_peer",
    "write_info",
]  # fmt: skip

PROTOCOL = 1
"""Version of what clients and the daemon say to each other; a change that old ones cannot follow raises it."""

START_SECONDS = 60.0
"""How long a daemon may take to answer after it was started, on a slow and busy machine."""


class DaemonInfo(NamedTuple):
    """What a daemon wrote down about itself when it started."""

    pid: int
    version: str
    protocol: int
    started: float
    settings: str
    """Digest of the `CM_*` settings in its environment: a client with others gets answers by these."""
    token: str = ""
    """What requests carry on the loopback address, where there are no Unix sockets."""
    port: int = 0


# --- what a daemon says about itself ---


def daemon_info() -> DaemonInfo | None:
    """What the last daemon wrote about itself; it may be dead. None when there is nothing, or nothing readable."""
    try:
        values = json.loads((paths.runtime_dir() / INFO).read_text(encoding="utf-8"))
        return DaemonInfo(**values)
    except (OSError, ValueError, TypeError):
        return None


def write_info(info: DaemonInfo) -> None:
    """Write a daemon's facts where engines look; the file is only the user's, as it holds the token."""
    write_atomically(folder() / INFO, json.dumps(info._asdict()))


# --- talking to it ---


def connect_socket(timeout: float | None) -> socket.socket | None:
    """A connection to the daemon; None when nobody listens.

    Raises:
        RefusedError: the runtime folder is not private, or another user's process listens.
    """
    if not HAS_UNIX:
        return _dial_loopback(timeout)
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.settimeout(timeout)
    try:
        channel.connect(str(socket_path()))
    except (FileNotFoundError, ConnectionRefusedError, ConnectionResetError):
        channel.close()
        return None
    except OSError as error:
        channel.close()
        raise DaemonError(f"Cannot reach the daemon at {socket_path()}: {error}", hint=RESTART) from error
    if hasattr(socket, "SO_PEERCRED"):
        uid = int.from_bytes(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[4:8], sys.byteorder)
        if uid != os.getuid():
            channel.close()
            raise RefusedError(f"A process of another user listens on {socket_path()}.", hint="Remove the socket.")
    return channel


def _dial_loopback(timeout: float | None) -> socket.socket | None:
    info = daemon_info()
    if info is None or not info.port:
        return None
    try:
        return socket.create_connection(("127.0.0.1", info.port), timeout)
    except OSError:
        return None


RESTART = "Run `cm serve --stop`, then the command again."


def headers() -> dict[str, str]:
    """What every request carries."""
    said = {"Host": "cm", "cm-protocol": str(PROTOCOL), "cm-version": __version__}
    if not HAS_UNIX and (info := daemon_info()) is not None:
        said["Authorization"] = f"Bearer {info.token}"
    return said


def request(method: str, path: str, body: Any = None, *, timeout: float = 10.0) -> tuple[int, bytes] | None:
    """One request to the daemon.

    Args:
        method: GET or POST.
        path: such as `/v1/health`.
        body: sent as JSON; None: nothing.
        timeout: seconds without any answer.

    Returns:
        Status and body, or None when no daemon answers.

    Raises:
        OwnerError: something is there but does not speak as a daemon does, or not in time.
        RefusedError: the runtime folder is not private, or another user's process listens.
    """
    from cm_tui.daemon.connection import Connection, DaemonGoneError

    line = Connection(timeout)
    try:
        return line.ask(method, path, body)
    except DaemonGoneError:
        return None
    finally:
        line.close()


def notify(root: Path) -> bool:
    """Tell a running daemon that the journal of a project has news.

    Never starts a daemon and never raises: a hook must not fail, and what the journal holds is not lost.

    Returns:
        Whether a daemon heard it.
    """
    try:
        channel = connect_socket(0.5)
        if channel is None:
            return False
        # By hand: importing the standard client takes longer than everything else that a hook does.
        data = json.dumps({"root": str(root)}).encode()
        said = {**headers(), "Content-Type": "application/json", "Content-Length": str(len(data))}
        head = "".join(f"{name}: {value}\r\n" for name, value in {**said, "Connection": "close"}.items())
        with channel:
            channel.sendall(f"POST /v1/nudge HTTP/1.1\r\n{head}\r\n".encode() + data)
            return channel.recv(64).split(b" ", 2)[1:2] == [b"200"]
    except (CmError, OSError, ValueError):
        return False


def health(timeout: float = 10.0) -> dict[str, Any] | None:
    """What the running daemon says about itself now; None when none answers.

    Raises:
        OwnerError: something else listens, or the daemon hangs.
        RefusedError: the runtime folder is not private, or another user's process listens.
    """
    answer = request("GET", "/v1/health", timeout=timeout)
    if answer is None:
        return None
    if answer[0] == BUSY:
        raise busy()
    try:
        found = json.loads(answer[1])
        if answer[0] == 200 and isinstance(found, dict) and found.get("name") == "cm":
            return found
    except ValueError:
        pass
    raise unexpected_peer()


BUSY = 503
"""Status of the answer when more is asked at once than a daemon takes."""


def busy() -> DaemonError:
    """The daemon has more to do than it takes."""
    return DaemonError("The daemon is busy: too much is asked at once.", hint="Try again in a moment.")


def unexpected_peer() -> DaemonError:
    """What listens at the daemon's place is not a daemon."""
    return DaemonError(
        f"Something that is not cm answers on {socket_path() if HAS_UNIX else 'the loopback address'}.",
        hint="Stop that process and remove the socket, or set CM_HOME to another folder.",
    )


# --- starting and ending it ---


def start_daemon(timeout: float = START_SECONDS) -> None:
    """Start a daemon unless one answers, and wait until it does. However many ask at once, one is started.

    Raises:
        OwnerError: it did not start; the message says why.
        RefusedError: the runtime folder is not private, or something foreign listens.
    """
    from filelock import FileLock, Timeout

    deadline = time.monotonic() + timeout
    try:
        with FileLock(folder() / START_LOCK, timeout=timeout, mode=0o600):
            if health() is None:
                _start(deadline)
    except Timeout as error:
        raise DaemonError(f"Another process tries to start the daemon since {timeout:g} s.", hint=RESTART) from error
    except OSError as error:
        raise DaemonError(f"The daemon cannot be started: {error}", hint="Check the permissions of CM_HOME.") from error


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
            raise DaemonError(f"The daemon could not start: {text or process.returncode}", hint=_log_hint())
        # It ended well because another one holds the lock: that one is about to answer, or about to end.
        time.sleep(0.1)
    raise DaemonError("The daemon was started but does not answer.", hint=_log_hint())


def _log_hint() -> str:
    return f"Its log is {paths.state_dir() / 'daemon.log'}; `CM_DAEMON__USE=never` does without it."


def _spawn(complaints: Any) -> subprocess.Popen[bytes]:
    import subprocess

    environment = dict(os.environ)
    home = Path(__file__).parents[2]
    if not home.name.endswith("-packages"):
        # A checkout is found by the current folder, which is another one for the daemon.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(home), environment.get("PYTHONPATH"))))
    flags: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000208}
    return subprocess.Popen(
        [sys.executable, "-m", "cm_tui", "serve", "--background"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaints,
        cwd=folder(), env=environment, close_fds=True, **flags,
    )  # fmt: skip


def owns() -> bool:
    """Whether some process holds the daemon's lock, answering or not."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder() / LOCK, timeout=0, mode=0o600):
            return False
    except Timeout:
        return True


def stop_daemon(*, handover: bool = False, timeout: float = 30.0) -> bool:
    """Ask the daemon to end, and wait until it has let go of everything.

    Args:
        handover: another one follows: clients are to go on with that.
        timeout: seconds that its work's current step may take.

    Returns:
        False when there was none.

    Raises:
        OwnerError: it does not end.
    """
    if request("POST", "/v1/shutdown", {"handover": handover}, timeout=timeout) is None and not owns():
        return False
    deadline = time.monotonic() + timeout
    while owns():
        if time.monotonic() > deadline:
            info = daemon_info()
            who = f" (process {info.pid})" if info else ""
            raise DaemonError(f"The daemon{who} does not end.", hint="End that process, then try again.")
        time.sleep(0.02)
    return True
