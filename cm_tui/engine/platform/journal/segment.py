"""One file of a journal: reading it, and lines added to it, whole or not at all."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from cm_tui.engine.platform.journal.event import MAX_BYTES, Event, Position, Problem, as_event, parse_line

_PIECE = 65_536
_HEAD = 256
_KIND = b'"kind":"'


def lines(file: BinaryIO, start: Position, *, torn: bool, kinds: Collection[str] = ()) -> Iterator[Event | Problem]:
    """Events and problems from a position on; a last line without an end counts only when `torn`.

    `kinds`: lines in which none of these names occurs are skipped unread; empty: none are.
    """
    marks = [json.dumps(kind).encode() for kind in kinds]
    at = start.offset
    size = os.fstat(file.fileno()).st_size
    if at > size:
        yield Problem(start, 0, f"the file ends before this place, at {size:,}")
        return
    file.seek(max(at - 1, 0))
    if at and file.read(1) != b"\n":
        # Not between two lines: the file is another one than when the position was taken, or its end was torn.
        at += _skip_line(file)
    while line := file.readline(MAX_BYTES + 1):
        begin = Position(start.segment, at)
        whole = line.endswith(b"\n")
        at += len(line) if whole else len(line) + _skip_line(file)
        ended = whole or _ends_with_newline(file)
        if not ended and not torn:
            return
        # What was overwritten has zeros, and is reported.
        if marks and ended and line.startswith(b"{"):
            # Data, which may be long, comes behind the kind; a quote in a text is escaped.
            name = line.find(_KIND, 0, _HEAD)
            searched = line if name < 0 else line[name : name + _HEAD]
            if not any(mark in searched for mark in marks):
                continue
        fields = parse_line(line) if ended else "torn"
        if isinstance(fields, dict):
            yield as_event(fields, Position(start.segment, at))
        elif line.strip():
            yield Problem(begin, at - begin.offset, fields)


def _skip_line(file: BinaryIO) -> int:
    """Skip to the end of a line of unknown length, in pieces."""
    skipped = 0
    while piece := file.readline(MAX_BYTES):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _ends_with_newline(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_CUR)
    return file.read(1) == b"\n"


def line_before(file: BinaryIO, offset: int) -> bytes:
    """Return the line that ends at an offset; empty: none, or longer than any event."""
    size = os.fstat(file.fileno()).st_size
    found = b""
    at = offset
    while 0 < at <= size and len(found) <= MAX_BYTES:
        step = min(at, _PIECE)
        file.seek(at - step)
        found = file.read(step) + found
        if not found.endswith(b"\n"):
            return b""
        at -= step
        begin = found.rfind(b"\n", 0, -1)
        if begin >= 0 or at == 0:
            return found[begin + 1 :]
    return b""


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
        _write_all(fd, b"\n" + line if torn else line, size)
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


def _write_all(fd: int, data: bytes, size: int) -> None:
    """One write; when the disk takes only a part of it, the part is removed again."""
    if os.write(fd, data) < len(data):
        # A remaining part is a torn line like any other; the full disk is what the caller must learn of.
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
