"""Reading a file of JSON lines that may be anything, and that somebody may be writing to."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cm_tui.engine.redaction.redact import redact

LINE_BYTES = 10_000_000
"""A longer line is stepped over: a picture in it, or damage."""
SKIPPED_BYTES = 200_000_000
"""Of a longer one the end is not looked for: a file with a hole in it."""
HEAD_BYTES = 50_000_000
"""So far from its beginning a transcript says whose it is."""
_PIECE = 1_000_000
_ID_CHARACTERS = 200
"""As of hooks, which cut ids in the same way."""
_KIND = 300
_DIGITS = 30
_LARGEST = 1e18
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


class Line(NamedTuple):
    """A line of a transcript."""

    start: int
    end: int
    """Where the next one begins."""
    record: Mapping[str, Any]
    """What it says; empty where it is no JSON object."""
    problem: str = ""
    """Why it is none."""


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """Open an ordinary file that may be anything: a pipe is not waited for, a device not read.

    Raises:
        OSError: it has gone, cannot be read, or is no ordinary file.
    """
    descriptor = os.open(file, _FLAGS)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(file))
        yield stream


def read_lines(stream: BinaryIO, start: int = 0) -> Iterator[Line]:
    """Yield the lines of an open file from a place on; what is appended meanwhile is left for the next time.

    A last line that has no end yet, and is no whole record, is left for the next time too.

    Args:
        stream: the file.
        start: between two lines.

    Raises:
        OSError: it cannot be read.
    """
    size = os.fstat(stream.fileno()).st_size
    at = stream.seek(min(start, size))
    while at < size:
        data = stream.readline(LINE_BYTES + 1)
        if not data:
            return
        begin, whole = at, data.endswith(b"\n")
        at += len(data)
        if not whole and len(data) > LINE_BYTES:
            skipped, whole = _skip_line(stream)
            at += skipped
            if skipped >= SKIPPED_BYTES:
                yield Line(begin, begin, {}, "so long that what follows is not read")
            if not whole:
                return
            yield Line(begin, at, {}, "too long")
            continue
        record = _parsed(data)
        if isinstance(record, str):
            if not whole:
                return
            if record:
                yield Line(begin, at, {}, record)
            continue
        yield Line(begin, at, record)


def _skip_line(stream: BinaryIO) -> tuple[int, bool]:
    """Step behind the end of a line, in pieces; returns how far that was, and whether it has an end."""
    skipped = 0
    while skipped < SKIPPED_BYTES and (piece := stream.readline(_PIECE)):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            return skipped, True
    return skipped, False


def _parsed(data: bytes) -> Mapping[str, Any] | str:
    """Return a line's record, or why it is none; nothing for a blank line."""
    text = data.strip().strip(b"\0")
    if not text:
        return ""
    found = parse_json(text)
    return found if isinstance(found, dict) else "not a record"


def parse_json(data: bytes) -> Any:
    """Return what a JSON text says, whatever its bytes are; None where it says nothing."""
    try:
        return json.loads(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError, MemoryError):
        return None


def as_text(value: object) -> str:
    """Return a value that should be a text as one that can be stored; nothing for what is none."""
    if not isinstance(value, str):
        return ""
    if not value.isascii():
        # JSON may hold halves of characters, which no file can.
        value = value.encode("utf-8", "replace").decode("utf-8")
    return value.replace("\0", "") if "\0" in value else value


def as_id(value: object) -> str:
    """Return a value that should be an id as one; a digest of what is too long, or may be a secret."""
    name = as_text(value)
    return _id_of(name) if len(name) <= _ID_CHARACTERS else _digest(name)


@lru_cache(maxsize=10_000)
def _id_of(name: str) -> str:
    return _digest(name) if redact(name).secrets else name


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:32]


def as_kind(value: object, otherwise: str) -> str:
    """Return what a record says that it is, cut, as it was written; other words for one that says nothing."""
    return as_text(value)[:_KIND] or otherwise


def as_number(value: object) -> float | None:
    """Return a value that should be a number as one, also where it is written as text; None for what is none."""
    if isinstance(value, str) and len(value) <= _DIGITS:
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < _LARGEST else None


def as_record(value: object) -> Mapping[str, Any]:
    """Return a value that should be a record as one; an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a value that should be a list as one; an empty one for what is none."""
    return value if isinstance(value, list) else []


def as_count(value: object) -> int:
    """Return a value that should be a number of things as one; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**40 else 0
