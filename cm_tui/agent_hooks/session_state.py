"""What hooks know of a session from one event to the next: small files of the user, which go by themselves."""

from __future__ import annotations

import time
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from cm_tui import paths

Mark = Literal["start", "flush", "replaced"]
"""`start`: its memory is still to be given; `flush`: it was reminded, and its context was not compacted since;
`replaced`: of a daemon of an older cm: another one was started."""
_KEPT_DAYS = 7


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
