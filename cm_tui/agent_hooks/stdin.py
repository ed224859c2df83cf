"""Read what an agent pipes in: bounded in size and in time, whatever is at the other end."""

from __future__ import annotations

import os
import sys
import time

LIMIT_BYTES = 16_000_000
"""An editing tool's input and result hold whole files; more than this is no event."""
SECONDS = 5.0
_PIECE = 1 << 16


def read(limit: int = LIMIT_BYTES, seconds: float = SECONDS) -> bytes:
    """Return all of stdin; empty when it is closed or a terminal.

    Raises ValueError if it is longer than the limit; OSError if it cannot be read, or did not end in time.
    """
    try:
        fd = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return b""
    if os.isatty(fd):
        return b""
    until = time.monotonic() + seconds
    pieces: list[bytes] = []
    size = 0
    while piece := _next(fd, until):
        size += len(piece)
        # What is too much is still taken, so that the writer is not left with a broken pipe.
        if size <= limit:
            pieces.append(piece)
    if size > limit:
        raise ValueError(f"stdin has {size:,} bytes; at most {limit:,} are read")
    return b"".join(pieces)


def _next(fd: int, until: float) -> bytes:
    if os.name == "posix":
        import select

        left = until - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            raise OSError("stdin did not end in time")
    return os.read(fd, _PIECE)
