"""Where the daemon is found: a folder and a socket that are the user's alone."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import stat
from pathlib import Path

from cm_tui import paths
from cm_tui.errors import DaemonError, RefusedError

# Named as in the first version: a daemon of any version is to be found by any other.
LOCK, SOCKET, INFO, START_LOCK = "owner.lock", "owner.sock", "owner.json", "start.lock"
UNWRITABLE = "runtime-folder-unwritable"
"""Finding: the runtime folder cannot be made, so there is no daemon, and none is needed to read."""
HAS_UNIX = hasattr(socket, "AF_UNIX")
_PATH_BYTES = 100
"""Socket paths are limited to 104 bytes on some systems, 108 on others."""


def folder() -> Path:
    """Return the runtime folder, made when missing.

    Raises RefusedError if it is a link, belongs to someone else, or others can reach into it; DaemonError if it cannot
    be made.
    """
    return _private(paths.runtime_dir())


def obstacles() -> list[DaemonError]:
    """Return what lies in the runtime folder where a file of the daemon belongs; nothing is made to find out."""
    found = []
    for name in (LOCK, START_LOCK, INFO, SOCKET):
        place = paths.runtime_dir() / name
        if place.is_dir() and not place.is_symlink():
            said = f"{place} is a folder, but the daemon needs a file there."
            hint = f"Run `rm -r -- {shlex.quote(str(place))}`."
            consequence = "No daemon can start, so each command opens the index for itself."
            found.append(DaemonError(f"{said} {consequence}", hint=hint, finding="daemon-file-in-the-way"))
    return found


def refuse_obstacles() -> None:
    """Stop where a daemon could not start because of what lies in its folder.

    Raises DaemonError if it names the place, and how it is cleared.
    """
    for error in obstacles():
        raise error


def has_lock(pid: int) -> bool:
    """Return whether a process has the daemon's lock open: a number that was written down may be another one's by now."""
    lock = paths.runtime_dir() / LOCK
    try:
        wanted = lock.stat()
        # Where the system shows what a process has open.
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.path.samestat(entry.stat(), wanted):
                    return True
    except FileNotFoundError:
        return not Path("/proc/self/fd").is_dir() and _is_daemon(pid)
    except OSError:
        pass
    return False


def _is_daemon(pid: int) -> bool:
    import subprocess

    command = ["ps", "-o", "command=", "-p", str(pid)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout.split()
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return "cm_tui" in said and "serve" in said


def socket_path(*, make: bool = False) -> Path:
    """Return where the daemon listens: in the runtime folder, or in a short private one when that path is too long.

    `make`: make that short folder; a daemon does. Raises RefusedError if the folder is not private to the user;
    DaemonError if it cannot be made.
    """
    home = folder()
    if len(os.fsencode(home / SOCKET)) < _PATH_BYTES:
        return home / SOCKET
    import hashlib

    digest = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:16]
    # Never from TMPDIR, which differs between terminals: all clients must come to the same place.
    short = Path("/tmp") / f"cm-{os.getuid()}-{digest}"  # noqa: S108 - checked to be the user's own
    return (_private(short) if make or os.path.lexists(short) else short) / SOCKET


def drop_socket_folder() -> None:
    """Remove the short folder of a socket that is no more."""
    short = socket_path().parent
    if short != folder():
        with contextlib.suppress(OSError):
            short.rmdir()


def _private(path: Path) -> Path:
    try:
        paths.private_dir(path)
        found = path.lstat()
    except OSError as error:
        raise DaemonError(
            f"Cannot make {path}: {error.strerror or error}",
            hint="Set CM_HOME to a folder you can write.",
            finding=UNWRITABLE,
        ) from error
    if stat.S_ISLNK(found.st_mode):
        raise RefusedError(f"{path} is a symbolic link: the daemon's socket needs its own folder.", hint="Remove it.")
    if not HAS_UNIX:
        return path
    if found.st_uid != os.getuid():
        raise RefusedError(f"{path} belongs to another user.", hint="Set CM_HOME to a folder of your own.")
    if found.st_mode & 0o077:
        raise RefusedError(f"{path} is open to other users.", hint=f"Run `chmod 700 {path}`.")
    return path


def settings_digest() -> str:
    """Names the `CM_SECTION__NAME` settings of this process's environment; those of the daemon itself do not count."""
    chosen = sorted(f"{key}={value}" for key, value in os.environ.items() if _is_setting(key))
    if not chosen:
        return ""
    import hashlib

    return hashlib.sha256("\0".join(chosen).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _is_setting(key: str) -> bool:
    return key.startswith("CM_") and "__" in key and not key.startswith(("CM_DAEMON__", "CM_OWNER__", "CM_TUI__"))
