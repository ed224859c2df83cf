"""Where the daemon answers: its socket, what it wrote about itself, and what every request carries.

Little enough to import that a hook can afford it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from typing import NamedTuple

from cm_tui import __version__, paths
from cm_tui.daemon.runtime_dir import HAS_UNIX, INFO, LOCK, folder, socket_path
from cm_tui.errors import DaemonError, RefusedError
from cm_tui.files import write_atomically

PROTOCOL = 5
"""Version of what clients and the daemon say to each other; a change that old ones cannot follow raises it."""

CLIENT = "cm-client"
"""Header that tells clients apart, so that each has its share of the daemon."""

RESTART = "Run `cm serve --stop`, then the command again."


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


def daemon_info() -> DaemonInfo | None:
    """Return what the last daemon wrote about itself; it may be dead. None when there is nothing, or nothing readable."""
    try:
        values = json.loads((paths.runtime_dir() / INFO).read_text(encoding="utf-8"))
        return DaemonInfo(**values)
    except (OSError, ValueError, TypeError):
        return None


def is_outdated(version: str, protocol: int) -> bool:
    """Return whether a daemon is of an older cm than this one."""
    theirs, ours = ([int(part) for part in re.findall(r"\d+", one)] for one in (version, __version__))
    return theirs < ours or (version == __version__ and protocol < PROTOCOL)


def write_info(info: DaemonInfo) -> None:
    """Write a daemon's facts where clients look; the file is only the user's, as it holds the token."""
    write_atomically(folder() / INFO, json.dumps(info._asdict()))


def connect_socket(timeout: float | None) -> socket.socket | None:
    """Return a connection to the daemon; None when nothing listens.

    Raises RefusedError if the runtime folder is not private, or another user's process listens.
    """
    if not HAS_UNIX:
        return _connect_loopback(timeout)
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


def _connect_loopback(timeout: float | None) -> socket.socket | None:
    info = daemon_info()
    if info is None or not info.port:
        return None
    try:
        return socket.create_connection(("127.0.0.1", info.port), timeout)
    except OSError:
        return None


def headers() -> dict[str, str]:
    """Return what every request carries."""
    sent = {
        "Host": "cm" if HAS_UNIX else "127.0.0.1", "cm-protocol": str(PROTOCOL), "cm-version": __version__,
        CLIENT: str(os.getpid()),
    }  # fmt: skip
    if not HAS_UNIX and (info := daemon_info()) is not None:
        sent["Authorization"] = f"Bearer {info.token}"
    return sent


def owns() -> bool:
    """Return whether some process holds the daemon's lock, answering or not."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder() / LOCK, timeout=0, mode=0o600):
            return False
    except Timeout:
        return True


BUSY = 503
"""Status of the answer when more is asked at once than a daemon takes."""


def busy() -> DaemonError:
    """Return the error of a daemon that has more to do than it takes."""
    return DaemonError("The daemon is busy: too many requests at once.", hint="Try again in a moment.")


def unexpected_peer() -> DaemonError:
    """Return the error of something else that listens at the daemon's address."""
    return DaemonError(
        f"A program other than cm answers on {socket_path() if HAS_UNIX else 'the loopback address'}.",
        hint="Stop the process and remove the socket, or set CM_HOME to another folder.",
    )
