"""What hooks know of a session from one event to the next: small files of the user, which go by themselves."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from cm_tui import paths

Mark = Literal["start", "flush", "replaced"]
"""`start`: its memory is still to be given; `flush`: it was reminded, and its context was not compacted since;
`replaced`: of a daemon of an older cm: another one was started."""
_KEPT_DAYS = 7
_STARTING_S = 60.0
"""How long a daemon may take to start; a number of a process that is older may be another one's."""


def has(session: str, mark: Mark) -> bool:
    """Return whether a session has a mark."""
    return bool(session) and _file(session, mark).exists()


def put(session: str, mark: Mark) -> bool:
    """Give a session a mark; returns False where it has it already, or has no name to be known by.

    Raises OSError if it cannot be written.
    """
    if not session:
        return False
    paths.private_dir(_folder())
    try:
        _file(session, mark).open("xb").close()
    except FileExistsError:
        return False
    return True


def take(session: str, mark: Mark) -> None:
    """Take a mark from a session."""
    if session:
        _file(session, mark).unlink(missing_ok=True)


def put_starter(process: int) -> None:
    """Record the process that starts a daemon, and ends once that answers or has failed; best effort."""
    with suppress(OSError):
        paths.private_dir(_folder())
        _starter().write_text(str(process))


def drop_starter() -> None:
    """Remove the record of a process that starts a daemon; best effort."""
    with suppress(OSError):
        _starter().unlink()


def is_starting() -> bool:
    """Return whether a hook's process is starting a daemon now; always False where a process cannot be asked about."""
    try:
        if os.name != "posix" or time.time() - _starter().stat().st_mtime > _STARTING_S:
            return False
        os.kill(int(_starter().read_text()), 0)
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _starter() -> Path:
    return _folder() / "starter"


def clean() -> None:
    """Remove the marks of sessions that were inactive for days."""
    latest = time.time() - _KEPT_DAYS * 86_400
    for file in _folder().glob("*"):
        try:
            if file.stat().st_mtime < latest:
                file.unlink()
        except OSError:
            # Another hook was quicker.
            continue


def _folder() -> Path:
    return paths.state_dir() / "sessions"


def _file(session: str, mark: Mark) -> Path:
    return _folder() / f"{blake2b(session.encode('utf-8', 'replace'), digest_size=16).hexdigest()}.{mark}"
