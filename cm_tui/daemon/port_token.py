"""The token for requests on the daemon's port, in a file that all daemons of the user share.

An agent's settings hold it, so it must not change with each start; and it opens the port alone, not the socket.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

from cm_tui.daemon.runtime_dir import HAS_UNIX, folder
from cm_tui.errors import RefusedError
from cm_tui.files import write_atomically

FILE = "port.token"

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,200}")
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"))


def port_token(*, replace: bool = False) -> str:
    """Return the token; create a missing one.

    `replace`: make another one when this one is no secret any more; only a daemon that starts may do so. Raises
    RefusedError: others could have read it, and it is not to be replaced; or the runtime folder is not private.
    """
    file = folder() / FILE
    try:
        kept = _read(file)
    except RefusedError:
        if not replace:
            raise
        kept = None
    if kept is not None:
        return kept
    token = secrets.token_urlsafe(32)
    write_atomically(file, f"{token}\n")
    return token


def _read(file: Path) -> str | None:
    """The token in a file that only its user can read; None without one.

    Raises RefusedError if the file is a link, belongs to another user, is readable by others, or is no token.
    """
    try:
        descriptor = os.open(file, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refusal(file, error.strerror or str(error)) from error
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _refusal(file, "it is not a file")
        if HAS_UNIX and (found.st_uid != os.getuid() or found.st_nlink != 1):
            raise _refusal(file, "it does not belong to you alone")
        if HAS_UNIX and found.st_mode & 0o077:
            raise _refusal(file, "other users can read it")
        text = stream.read(1000).decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise _refusal(file, "it contains no token")
    return text


def _refusal(file: Path, why: str) -> RefusedError:
    hint = "Remove it and stop the daemon with `cm serve --stop`; the next one creates a new token."
    return RefusedError(f"{file} cannot be trusted: {why}.", hint=hint)
