"""Reading a file of JSON lines with arbitrary content, which may be written to meanwhile."""

from __future__ import annotations

import errno
import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from cm_tui.engine.memory.transcripts.encodings import UTF_8, Encoding, encoding_of
from cm_tui.engine.memory.transcripts.recovery import Part, records_in
from cm_tui.engine.platform.redaction.redact import redact

LINE_BYTES = 64_000_000
"""A longer line is stepped over: no agent sends that much to a model at once, pictures included."""
SKIPPED_BYTES = 200_000_000
"""Of a longer one the end is not looked for: a file with a hole in it."""
UNPACKED_BYTES = 4_000_000_000
"""So much of a compressed transcript is read."""
HEAD_BYTES = 50_000_000
"""A transcript's first bytes, which have to contain its facts."""
_PIECE = 1_000_000
_SHOWN = 20_000
"""Bytes of an invalid record to keep for guessing its kind."""
_ID_CHARACTERS = 200
"""As of hooks, which cut ids in the same way."""
_KIND = 300
_DIGITS = 30
_LARGEST = 1e18
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


class Line(NamedTuple):
    """A record of a transcript, or an invalid part of a line."""

    start: int
    end: int
    """Where the next one begins."""
    record: Mapping[str, Any]
    """Its fields; empty where it is no JSON object."""
    problem: str = ""
    """Why it is invalid."""
    data: bytes = b""
    """Its bytes, without long texts where it is too long."""


@contextmanager
def opened(file: Path, buffering: int = -1) -> Iterator[BinaryIO]:
    """Open an ordinary file, without waiting for a pipe or reading a device.

    `buffering`: as of `open`. Raises OSError if it was removed, cannot be read, or is not an ordinary file.
    """
    descriptor = os.open(file, _FLAGS)
    with os.fdopen(descriptor, "rb", buffering) as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(file))
        yield stream


def is_packed(file: Path) -> bool:
    """Return whether a file is compressed."""
    return file.suffix == ".gz"


@contextmanager
def opened_text(file: Path) -> Iterator[BinaryIO]:
    """Open an ordinary file as `opened`, and decompress it if necessary.

    Raises OSError if it was removed, cannot be read, is not an ordinary file, or is damaged.
    """
    with opened(file) as stream:
        if not is_packed(file):
            yield stream
            return
        try:
            with gzip.GzipFile(fileobj=stream, mode="rb") as text:
                if file.stem.endswith(".gz"):
                    # The copy of a transcript that was packed already.
                    with gzip.GzipFile(fileobj=text, mode="rb") as inner:
                        yield cast("BinaryIO", inner)
                else:
                    yield cast("BinaryIO", text)
        except (EOFError, zlib.error) as error:
            raise OSError(errno.EIO, "the compressed file is damaged or was cut off", str(file)) from error


def read_lines(stream: BinaryIO, start: int = 0) -> Iterator[Line]:
    """Yield the records of an open file from a position on; later additions are left for the next time.

    A line may hold several records, also after a torn one. A last line without an end is left for the next time from
    its first incomplete record on. `start`: between two records. Raises OSError if it cannot be read.
    """
    size = _size_of(stream)
    encoding = encoding_of(stream)
    at = stream.seek(min(start, size))
    while at < size:
        data = encoding.readline(stream, LINE_BYTES + 1)
        if not data:
            return
        begin, whole = at, encoding.ends_line(data)
        at += len(data)
        if whole or len(data) <= LINE_BYTES:
            yield from _lines(data, begin, encoding, whole)
            continue
        rest, is_whole = _step_over(stream, encoding)
        at += rest
        if is_whole:
            yield Line(begin, at, {}, "too long", data[:_SHOWN])
            continue
        if rest >= SKIPPED_BYTES:
            yield Line(begin, begin, {}, "so long that the rest is not read")
        return


def _size_of(stream: object) -> int:
    if isinstance(stream, gzip.GzipFile):
        return UNPACKED_BYTES
    return os.fstat(cast("BinaryIO", stream).fileno()).st_size


def _step_over(stream: BinaryIO, encoding: Encoding) -> tuple[int, bool]:
    """Return the size of the rest of a line that is too long, up to a bound, and whether its end was found."""
    size = 0
    while size < SKIPPED_BYTES and (piece := encoding.readline(stream, _PIECE)):
        size += len(piece)
        if encoding.ends_line(piece):
            return size, True
    return size, False


def _lines(data: bytes, begin: int, encoding: Encoding, whole: bool) -> Iterator[Line]:
    """Yield the records and damaged parts of one line; of one without an end only the complete records."""
    parts = records_in(encoding.decode(data))
    if encoding != UTF_8 and not any(part.record for part in parts):
        # A program that ignores the encoding appends in its own.
        encoding = UTF_8
        parts = records_in(encoding.decode(data))
    places = _places(data, parts, encoding)
    for number, part in enumerate(parts):
        start, end = places[number], places[number + 1]
        if part.record is not None:
            yield Line(begin + start, begin + end, part.record, data=data[start:end])
        elif whole:
            yield Line(begin + start, begin + end, {}, "not a record", data[start:end][:_SHOWN])
        else:
            return


def _places(data: bytes, parts: list[Part], encoding: Encoding) -> list[int]:
    """Return where each part begins in the bytes of a line, and where the line ends."""
    if len(parts) <= 1:
        return [0, len(data)]
    exact, handler = encoding.decode_exactly(data)
    again = records_in(exact)
    if len(again) != len(parts):
        return [0] * len(parts) + [len(data)]
    places = [0]
    for first, following in pairwise([0, *(part.start for part in again[1:])]):
        places.append(places[-1] + len(exact[first:following].encode(encoding.codec, handler)))
    return [*places, len(data)]


def parse_json(data: bytes) -> Any:
    """Parse a JSON text of any bytes; None: invalid."""
    try:
        return json.loads(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError, MemoryError):
        return None


def as_text(value: object) -> str:
    """Return a value as a storable text; empty if it is not a text."""
    if not isinstance(value, str):
        return ""
    if not value.isascii():
        # JSON may hold halves of characters, which no file can.
        value = value.encode("utf-8", "replace").decode("utf-8")
    return value.replace("\0", "") if "\0" in value else value


def as_id(value: object) -> str:
    """Return a value as an id; a digest of one that is too long, or may be a secret."""
    name = as_text(value)
    return _id_of(name) if len(name) <= _ID_CHARACTERS else _digest(name)


@lru_cache(maxsize=10_000)
def _id_of(name: str) -> str:
    return _digest(name) if redact(name).secrets else name


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:32]


def as_kind(value: object, otherwise: str) -> str:
    """Return a record's kind as written, cut; other words if it has none."""
    return as_text(value)[:_KIND] or otherwise


def as_number(value: object) -> float | None:
    """Return a value as a number, also from text; None if it is not a number."""
    if isinstance(value, str) and len(value) <= _DIGITS:
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < _LARGEST else None


def as_record(value: object) -> Mapping[str, Any]:
    """Return a value as a record; empty if it is not a record."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a value as a list; empty if it is not a list."""
    return value if isinstance(value, list) else []


def as_count(value: object) -> int:
    """Return a value as a count; 0 if it is not a valid count."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**40 else 0
