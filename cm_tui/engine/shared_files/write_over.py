"""Writing a file that another program may save in the same moment."""

from __future__ import annotations

import os
from pathlib import Path

from cm_tui.files import read_regular, replacing

_MOST_BYTES = 32_000_000


def write_over(file: Path, data: bytes, before: bytes | None, permissions: int | None) -> bytes | None:
    """Write a file whole; return what another program saved since it was read, which has no name any more; else None.

    Args:
        file: that is written; its folder is there.
        data: what it is to hold.
        before: what it held when it was read; None: there was none.
        permissions: those of the file; None: those that the user's umask gives to any new file.

    Raises:
        OSError: it cannot be written; what was there before is untouched.
    """
    with replacing(file, permissions=permissions) as temporary:
        with temporary.open("wb") as opened:
            opened.write(data)
            opened.flush()
            # Before the last look: the disk may take a while.
            os.fsync(opened.fileno())
        now = read_regular(file, _MOST_BYTES)
    return None if now is None or now == before else now
