"""Lines added to a file: on disk when the call returns, and whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path


def append_whole(file: Path, line: bytes) -> int:
    """Append a line, and wait until it is on disk; a torn line before it is ended first.

    `file`: created if missing. `line`: with its end; several lines are allowed. Returns the size of the file
    afterwards. Raises OSError if the disk is full or read-only.
    """
    new = not file.exists()
    fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and _last_byte(fd, size) != b"\n"
        _write_whole(fd, b"\n" + line if torn else line, size)
        os.fsync(fd)
        end = os.fstat(fd).st_size
    finally:
        os.close(fd)
    if new:
        sync_folder(file.parent)
    return end


def sync_folder(folder: Path) -> None:
    """Make a new file's name last; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def size_of(file: Path) -> int:
    """Return the size of a file; 0: no file."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _last_byte(fd: int, size: int) -> bytes:
    os.lseek(fd, size - 1, os.SEEK_SET)
    return os.read(fd, 1)


def _write_whole(fd: int, data: bytes, size: int) -> None:
    """One write; when the disk takes only a part of it, the part is removed again."""
    if os.write(fd, data) < len(data):
        # A remaining part is a torn line like any other; the full disk is what the caller must learn of.
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
