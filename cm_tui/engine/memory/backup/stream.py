"""The backup file: compressed JSON lines, the last of which has the digest of all others.

It contains no paths to write to and nothing to run: the kind of a line decides where it goes. A stranger's file is read
within limits, and completely before any of it is used.
"""

from __future__ import annotations

import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, cast

from cm_tui import __version__
from cm_tui.errors import NotFoundError, RefusedError, StoreError
from cm_tui.files import remove_left_overs, replacing
from cm_tui.model.progress import Progress, Tell, ignore_progress
from cm_tui.state_file import reported

FORMAT = "cm-tui backup"
VERSION = 2
"""The first one knew no archive."""
_LINE_BYTES = 4_000_000
"""No line is longer: an event has at most a quarter of it."""
_MOST_BYTES = 16_000_000_000
_FREE_BYTES = 64_000_000
_DEPTH = 40
_TELL_EVERY = 200
"""Lines between two words of how far it is."""
_RATIO = 200
"""Beyond the free bytes: what unpacks to more than this many times its size is no journal."""
_LEVEL = 4
"""Of compression: the highest takes thrice the time for a tenth of the size."""


class Writer:
    """Writes the lines of a backup. `stream`: where to, compressed already."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = sha256()
        self._lines = 0

    def write(self, fields: Mapping[str, Any]) -> None:
        """Write a line. Raises OSError if it cannot be written."""
        self.write_line(_line(fields))

    def write_line(self, line: bytes) -> None:
        """Write an existing line of JSON, including its end. Raises OSError if it cannot be written."""
        self._stream.write(line)
        self._digest.update(line)
        self._lines += 1

    def close(self) -> str:
        """Write the last line, with the digest, and return that."""
        digest = self._digest.hexdigest()
        self._stream.write(_line({"end": self._lines, "sha256": digest}))
        return digest


@contextmanager
def writing(file: Path, made: float) -> Iterator[Writer]:
    """Yield the writer of a private backup file, which gets its name if the block ends without an error.

    `file`: in an existing folder; `made`: time, in seconds since the epoch. Raises StoreError if it cannot be written.
    """
    with reported(file):
        # Of a backup that was killed: one that is being made does not stay unchanged for an hour.
        remove_left_overs(file, before=made - 3_600.0)
    with (
        reported(file),
        replacing(file, durable=True) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=raw, mtime=0) as stream,
    ):
        writer = Writer(cast("BinaryIO", stream))
        writer.write({"format": FORMAT, "version": VERSION, "cm": __version__, "made": made})
        yield writer
        writer.close()


def read(file: Path, tell: Tell = ignore_progress) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Yield number, fields and length of each line between the first and the last; errors are raised where they occur.

    `tell`: called with the progress. Raises NotFoundError if there is no such file; RefusedError if it is not
    a backup, is damaged or truncated, is of a later version, or unpacks to too much; StoreError if it cannot be read.
    """
    digest, number = sha256(), 0
    with _opened(file) as raw, gzip.GzipFile(fileobj=raw, mode="rb") as stream:
        size = os.fstat(raw.fileno()).st_size
        for line in _lines(file, raw, cast("BinaryIO", stream)):
            fields = _fields(file, line, number)
            if number == 0:
                _check_head(file, fields)
            elif "end" in fields:
                if fields != {"end": number, "sha256": digest.hexdigest()}:
                    raise _refused(file, "is damaged: its digest does not match")
                with _unpack_errors(file):
                    behind = stream.read(1)
                if behind:
                    raise _refused(file, "is damaged: data after its end")
                return
            else:
                yield number + 1, fields, len(line)
            if number % _TELL_EVERY == 0:
                tell(Progress("check", raw.tell() // 1_000, size // 1_000, "kB"))
            digest.update(line)
            number += 1
    raise _refused(file, "is truncated" if number else "is empty")


def _lines(file: Path, raw: BinaryIO, stream: BinaryIO) -> Iterator[bytes]:
    size = 0
    while True:
        with _unpack_errors(file):
            line = stream.readline(_LINE_BYTES + 1)
        if not line:
            return
        size += len(line)
        if len(line) > _LINE_BYTES:
            raise _refused(file, f"has a line of more than {_LINE_BYTES:,} bytes")
        if size > _FREE_BYTES and (size > _MOST_BYTES or size > _RATIO * max(raw.tell(), 1)):
            raise _refused(file, "unpacks to more than the size limit")
        yield line


@contextmanager
def _unpack_errors(file: Path) -> Iterator[None]:
    """Return the error of a file that cannot be unpacked."""
    try:
        yield
    except EOFError as error:
        raise _refused(file, "is truncated") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _refused(file, "is not a backup, or is damaged") from error
    except OSError as error:
        raise StoreError(f"Cannot read {file}: {error.strerror or error}", hint="Check the disk.") from error


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    try:
        # A pipe in its place is not waited for.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError(f"File not found: {file}.", hint="Create one with `cm backup FILE`.") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"Cannot read {file}: {error}", hint="Check its permissions.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _refused(file, "is not a file")
    with os.fdopen(descriptor, "rb") as raw:
        yield raw


def _fields(file: Path, line: bytes, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _refused(file, f"is not a valid backup: line {number + 1:,} cannot be read") from error
    if not isinstance(found, dict) or _is_deep(found):
        raise _refused(file, f"is not a valid backup: line {number + 1:,} is not valid")
    return found


def _no_number(name: str) -> float:
    raise ValueError(name)


def _is_deep(found: Any) -> bool:
    """Whether a value is nested more deeply than any event."""
    layer = [found]
    for _ in range(_DEPTH):
        layer = [
            item
            for one in layer
            for item in (one.values() if isinstance(one, dict) else one)
            if isinstance(item, (dict, list))
        ]
        if not layer:
            return False
    return True


def _check_head(file: Path, fields: Mapping[str, Any]) -> None:
    version = fields.get("version")
    if fields.get("format") != FORMAT or not isinstance(version, int):
        raise _refused(file, "is not a cm backup")
    if version > VERSION:
        raise RefusedError(f"{file} was written by a newer version of cm.", hint="Update cm and try again.")


def _line(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _refused(file: Path, what: str) -> RefusedError:
    return RefusedError(f"{file} {what}.", hint="Nothing was restored.")
