"""Reading a file of JSON lines with arbitrary content, torn, or written to meanwhile; values of their records."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from cm_tui.engine.platform.git.encodings import BOMS
from cm_tui.engine.platform.redaction.redact import redact

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[\s\0\ufeff]*")
_BEGINNING = re.compile(r'\{\s*"')
_OWN = frozenset({"timestamp", "uuid", "sessionId", "payload"})
"""A record has one of these, the records inside of it have not."""
_EFFORT = 4
"""So many times the length of a line is looked through for records behind damage."""


class Part(NamedTuple):
    """A part of a line, by its characters."""

    start: int
    end: int
    record: Mapping[str, Any] | None
    """None: not a record."""


def records_in(text: str) -> list[Part]:
    """Return the records of a line in order, and the damage between them.

    After damage, a record counts if it is complete, has the fields of a transcript's record, and is followed by another
    one or by the end of the line: records inside of a torn one do not count.
    """
    parts: list[Part] = []
    effort = [_EFFORT * len(text)]
    at = _skip(text, 0)
    while at < len(text):
        found = _record_at(text, at)
        end = found[1] if found is not None else _next_record(text, at + 1, effort)
        parts.append(Part(at, end, found[0] if found is not None else None))
        at = _skip(text, end)
    return parts


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _record_at(text: str, at: int, effort: list[int] | None = None) -> tuple[Mapping[str, Any], int] | None:
    """Return the record that begins at a place, and where it ends."""
    try:
        record, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError, MemoryError) as error:
        if effort is not None:
            effort[0] -= max(1, getattr(error, "pos", len(text)) - at)
        return None
    if effort is not None:
        effort[0] -= end - at
    return (record, end) if isinstance(record, dict) else None


def _next_record(text: str, start: int, effort: list[int]) -> int:
    """Return where the next record begins after damage; the end of the line if there are no more."""
    for candidate in _BEGINNING.finditer(text, start):
        found = _record_at(text, candidate.start(), effort)
        if found is not None and not _OWN.isdisjoint(found[0]):
            behind = _skip(text, found[1])
            if behind == len(text) or text[behind] == "{":
                return candidate.start()
        if effort[0] < 0:
            break
    return len(text)


LINE_BYTES = 64_000_000
"""A longer line is stepped over: no agent sends that much to a model at once, pictures included."""
SKIPPED_BYTES = 200_000_000
"""Of a longer one the end is not looked for: a file with a hole in it."""
UNPACKED_BYTES = 4_000_000_000
"""So much of a compressed transcript is read."""
RECODED_BYTES = 500_000_000
"""So much of a transcript that is not in UTF-8 is read."""
HEAD_BYTES = 50_000_000
"""A transcript's first bytes, which have to contain its facts."""
_PIECE = 1_000_000
_SHOWN = 20_000
"""Bytes of an invalid record to keep for guessing its kind."""
_ID_CHARACTERS = 200
"""As of hooks, which cut ids in the same way."""
_KIND = 300
_DIGITS = 30
_INVALID = re.compile("[\udc80-\udcff]")
_LARGEST = 1e18
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))

_MARKS = (
    *(one for one in BOMS if one[1] != "utf-8"),
    # Without a byte order mark: how a first record begins.
    *(('{"'.encode(codec), codec) for codec in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")),
)
"""Encodings of some shells' redirection."""


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


def is_recoded(file: Path) -> bool:
    """Return whether a place in its text is no place in the file: it is compressed, or not in UTF-8."""
    if is_packed(file):
        return True
    with suppress(OSError), opened(file) as stream:
        return bool(_codec_of(stream))
    return False


@contextmanager
def opened_text(file: Path) -> Iterator[BinaryIO]:
    """Open an ordinary file as `opened`, as a stream of UTF-8: decompressed and recoded if necessary.

    Raises OSError if it was removed, cannot be read, is not an ordinary file, or is damaged.
    """
    with opened(file) as stream, ExitStack() as layers:
        text = stream
        try:
            # The copy of a transcript that was packed already is packed twice.
            for _ in range(file.name.endswith(".gz") + file.name.endswith(".gz.gz")):
                text = cast("BinaryIO", layers.enter_context(gzip.GzipFile(fileobj=text, mode="rb")))
            codec = _codec_of(text)
            yield _recoded(text.read(RECODED_BYTES), codec) if codec else text
        except (EOFError, zlib.error) as error:
            raise OSError(errno.EIO, "the compressed file is damaged or truncated", str(file)) from error


def _codec_of(stream: BinaryIO) -> str:
    """Return the encoding of an open file by its first bytes; empty: UTF-8."""
    first = stream.read(8)
    stream.seek(0)
    return next((codec for mark, codec in _MARKS if first.startswith(mark)), "")


def _recoded(data: bytes, codec: str) -> BinaryIO:
    """Return a text in UTF-8, in memory."""
    newline = "\n".encode(codec)
    end = data.rfind(newline) + len(newline)
    if b"\0" in data[end:]:
        end = len(data)
    # A program that ignores the encoding appends in its own.
    text = data[:end].decode(codec, "replace") + data[end:].decode("utf-8", "replace")
    return io.BytesIO(text.encode("utf-8", "replace"))


def read_lines(stream: BinaryIO, start: int = 0) -> Iterator[Line]:
    """Yield the records of an open file from a position on; later additions are left for the next time.

    A line may hold several records, also after a torn one. A last line without an end is left for the next time from
    its first incomplete record on. `start`: between two records. Raises OSError if it cannot be read.
    """
    is_file = not isinstance(stream, gzip.GzipFile | io.BytesIO)
    size = os.fstat(stream.fileno()).st_size if is_file else UNPACKED_BYTES
    at = stream.seek(min(start, size))
    while at < size:
        data = stream.readline(LINE_BYTES + 1)
        if not data:
            return
        begin, whole = at, data.endswith(b"\n")
        at += len(data)
        if whole or len(data) <= LINE_BYTES:
            yield from _lines(data, begin, whole)
            continue
        rest, is_whole = _step_over(stream)
        at += rest
        if is_whole:
            yield Line(begin, at, {}, "too long", data[:_SHOWN])
            continue
        if rest >= SKIPPED_BYTES:
            yield Line(begin, begin, {}, "so long that the rest is not read")
        return


def _step_over(stream: BinaryIO) -> tuple[int, bool]:
    """Return the size of the rest of a line that is too long, up to a bound, and whether its end was found."""
    size = 0
    while size < SKIPPED_BYTES and (piece := stream.readline(_PIECE)):
        size += len(piece)
        if piece.endswith(b"\n"):
            return size, True
    return size, False


def _lines(data: bytes, begin: int, whole: bool) -> Iterator[Line]:
    """Yield the records and damaged parts of one line; of one without an end only the complete records."""
    text = data.decode("utf-8", "surrogateescape")
    parts = records_in(text)
    starts = [0, *(part.start for part in parts[1:]), len(text)]
    end = begin
    for part, (first, following) in zip(parts, pairwise(starts), strict=False):
        piece = text[first:following].encode("utf-8", "surrogateescape") if len(parts) > 1 else data
        start, end = end, end + len(piece)
        if part.record is not None:
            yield Line(start, end, part.record, data=piece)
        elif whole:
            yield Line(start, end, {}, "not a record", piece[:_SHOWN])
        else:
            return


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
        # JSON may hold halves of characters, which no file can; some of them stand for invalid bytes.
        value = _INVALID.sub("\ufffd", value).encode("utf-8", "replace").decode("utf-8")
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
