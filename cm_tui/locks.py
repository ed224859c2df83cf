"""A lock between processes that ends with its holder, however that ends.

The library for this, filelock, takes 50 ms to import: as long as a hook may take in all. This is the one form of it that
hooks need.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cm_tui.errors import StoreError

_LONGEST_NAP = 0.02

if sys.platform == "win32":
    import msvcrt

    def _take(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(file: Path, seconds: float) -> Iterator[None]:
    """Hold a lock file, which is made when missing; also keeps threads of one process apart.

    `file`: the lock file; its content means nothing. `seconds`: how long to wait for another holder. Raises StoreError:
    another process held it all the time; OSError if the file cannot be opened.
    """
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait(fd, file, time.monotonic() + seconds)
        yield
    finally:
        os.close(fd)


def _wait(fd: int, file: Path, until: float) -> None:
    nap = 0.001
    while True:
        try:
            return _take(fd)
        except (BlockingIOError, PermissionError) as error:
            if time.monotonic() > until:
                raise StoreError(
                    f"Another process holds {file}.", hint="Find it with `lsof`, and stop it if it hangs."
                ) from error
        time.sleep(nap)
        nap = min(nap * 2, _LONGEST_NAP)
