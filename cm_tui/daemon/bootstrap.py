"""Where the owner process is found, and how it is started: little enough to import that a hook can afford it."""

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
from cm_tui.errors import CmError, OwnerError, RefusedError

if TYPE_CHECKING:
    import subprocess

__all__ = [
    "HAS_UNIX", "INFO", "LOCK", "PROTOCOL", "RESTART", "START_SECONDS", "OwnerInfo", "dial", "folder", "foreign", "headers",
    "health", "nudge", "owner_info", "owns", "request", "settings_digest", "socket_path", "start_owner", "stop_owner",
    "write_info",
]  # fmt: skip

PROTOCOL = 1
"""Version of what doors and the owner say to each other; a change that old ones cannot follow raises it."""

START_SECONDS = 60.0
"""How long an owner may take to answer after it was started, on a slow and busy machine."""


class OwnerInfo(NamedTuple):
    """What an owner wrote down about itself when it started."""

    pid: int
    version: str
    protocol: int
    started: float
    settings: str
    """Digest of the `CM_*` settings in its environment: a client with others gets answers by these."""
    token: str = ""
    """What requests carry on the loopback address, where there are no Unix sockets."""
    port: int = 0


# --- what an owner says about itself ---


def owner_info() -> OwnerInfo | None:
    """What the last owner wrote about itself; it may be dead. None when there is nothing, or nothing readable."""
    try:
        values = json.loads((paths.runtime_dir() / INFO).read_text(encoding="utf-8"))
        return OwnerInfo(**values)
    except (OSError, ValueError, TypeError):
        return None


def write_info(info: OwnerInfo) -> None:
    """Write an owner's facts where doors look; the file is only the user's, as it holds the token."""
    file = folder() / INFO
    draft = file.with_suffix(f".{info.pid}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(info._asdict(), stream)
    draft.replace(file)


# --- talking to it ---


def dial(timeout: float | None) -> socket.socket | None:
    """A connection to the owner; None when nobody listens.

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
        raise OwnerError(f"Cannot reach the owner at {socket_path()}: {error}", hint=RESTART) from error
    if hasattr(socket, "SO_PEERCRED"):
        uid = int.from_bytes(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[4:8], sys.byteorder)
        if uid != os.getuid():
            channel.close()
            raise RefusedError(f"A process of another user listens on {socket_path()}.", hint="Remove the socket.")
    return channel


def _dial_loopback(timeout: float | None) -> socket.socket | None:
    info = owner_info()
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
    if not HAS_UNIX and (info := owner_info()) is not None:
        said["Authorization"] = f"Bearer {info.token}"
    return said


def request(method: str, path: str, body: Any = None, *, timeout: float = 10.0) -> tuple[int, bytes] | None:
    """One request to the owner.

    Args:
        method: GET or POST.
        path: such as `/v1/health`.
        body: sent as JSON; None: nothing.
        timeout: seconds without any answer.

    Returns:
        Status and body, or None when no owner answers.

    Raises:
        OwnerError: something is there but does not speak as an owner does, or not in time.
        RefusedError: the runtime folder is not private, or another user's process listens.
    """
    from cm_tui.daemon.connection import GoneError, Line

    line = Line(timeout)
    try:
        return line.ask(method, path, body)
    except GoneError:
        return None
    finally:
        line.close()


def nudge(root: Path) -> bool:
    """Tell a running owner that the journal of a project has news.

    Never starts an owner and never raises: a hook must not fail, and what the journal holds is not lost.

    Returns:
        Whether an owner heard it.
    """
    try:
        channel = dial(0.5)
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
    """What the running owner says about itself now; None when none answers.

    Raises:
        OwnerError: something else listens, or the owner hangs.
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
    raise foreign()


BUSY = 503
"""Status of the answer when more is asked at once than an owner takes."""


def busy() -> OwnerError:
    """The owner has more to do than it takes."""
    return OwnerError("The owner is busy: too much is asked at once.", hint="Try again in a moment.")


def foreign() -> OwnerError:
    """What listens at the owner's place is not an owner."""
    return OwnerError(
        f"Something that is not cm answers on {socket_path() if HAS_UNIX else 'the loopback address'}.",
        hint="Stop that process and remove the socket, or set CM_HOME to another folder.",
    )


# --- starting and ending it ---


def start_owner(timeout: float = START_SECONDS) -> None:
    """Start an owner unless one answers, and wait until it does. However many ask at once, one is started.

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
        raise OwnerError(f"Another process tries to start the owner since {timeout:g} s.", hint=RESTART) from error
    except OSError as error:
        raise OwnerError(f"The owner cannot be started: {error}", hint="Check the permissions of CM_HOME.") from error


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
            raise OwnerError(f"The owner could not start: {text or process.returncode}", hint=_log_hint())
        # It ended well because another one holds the lock: that one is about to answer, or about to end.
        time.sleep(0.1)
    raise OwnerError("The owner was started but does not answer.", hint=_log_hint())


def _log_hint() -> str:
    return f"Its log is {paths.state_dir() / 'owner.log'}; `CM_OWNER__USE=never` does without it."


def _spawn(complaints: Any) -> subprocess.Popen[bytes]:
    import subprocess

    environment = dict(os.environ)
    home = Path(__file__).parents[2]
    if not home.name.endswith("-packages"):
        # A checkout is found by the current folder, which is another one for the owner.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(home), environment.get("PYTHONPATH"))))
    flags: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000208}
    return subprocess.Popen(
        [sys.executable, "-m", "cm_tui", "serve", "--background"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaints,
        cwd=folder(), env=environment, close_fds=True, **flags,
    )  # fmt: skip


def owns() -> bool:
    """Whether some process holds the owner's lock, answering or not."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder() / LOCK, timeout=0, mode=0o600):
            return False
    except Timeout:
        return True


def stop_owner(*, handover: bool = False, timeout: float = 30.0) -> bool:
    """Ask the owner to end, and wait until it has let go of everything.

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
            info = owner_info()
            who = f" (process {info.pid})" if info else ""
            raise OwnerError(f"The owner{who} does not end.", hint="End that process, then try again.")
        time.sleep(0.02)
    return True
