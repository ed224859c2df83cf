"""Records of a line that is torn, written by two programs, or too long because of a picture."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

STRING_BYTES = 200_000
"""Characters of a text to keep in a line that is too long; a picture or a whole file is longer."""
_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[\s\0\ufeff]*")
_BEGINNING = re.compile(r'\{\s*"')
_OWN = frozenset({"timestamp", "uuid", "sessionId", "payload"})
"""A record has one of these, the records inside of it have not."""
_EFFORT = 4
"""So many times the length of a line is looked through for records behind damage."""
_HALF_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$")
_TAIL = 64


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


class Shortener:
    """Shortens the texts of a JSON line while reading it. `limit`: most bytes to keep of the line."""

    def __init__(self, limit: int) -> None:
        self.kept = bytearray()
        self.cuts: list[tuple[int, int]] = []
        """Places of cuts in the kept text, and their lengths in bytes."""
        self._limit = limit
        self._in_text = False
        self._is_escaped = False
        self._size = 0

    @property
    def is_too_long(self) -> bool:
        """Return whether more than the limit remains."""
        return len(self.kept) > self._limit

    def add(self, data: bytes) -> None:
        """Take in the next piece of the line."""
        at = 0
        while at < len(data) and not self.is_too_long:
            end, is_whole = self._end_of_text(data, at) if self._in_text else _behind_quote(data, at)
            if self._in_text:
                self._keep(data[at : end - is_whole])
                self.kept += b'"' * is_whole
            else:
                self.kept += data[at:end]
            if is_whole:
                self._in_text, self._size = not self._in_text, 0
            at = end

    def place_of(self, at: int) -> int:
        """Return the place in the line for a place in the kept text."""
        return at + sum(size for place, size in self.cuts if place <= at)

    def _end_of_text(self, data: bytes, at: int) -> tuple[int, bool]:
        """Return where a text ends, after its quote, or the piece does; and whether the text does."""
        begin = at + self._is_escaped
        self._is_escaped = False
        quote = data.find(b'"', begin)
        while quote >= 0 and _backslashes(data, begin, quote) % 2:
            begin = quote + 1
            quote = data.find(b'"', begin)
        if quote >= 0:
            return quote + 1, True
        self._is_escaped = _backslashes(data, begin, len(data)) % 2 == 1
        return len(data), False

    def _keep(self, content: bytes) -> None:
        room = max(0, STRING_BYTES - self._size)
        is_first = self._size <= STRING_BYTES
        self._size += len(content)
        self.kept += content[:room]
        cut = len(content) - room
        if cut <= 0:
            return
        half = _HALF_ESCAPE.search(bytes(self.kept[-_TAIL:])) if is_first else None
        if half is not None:
            del self.kept[len(self.kept) - len(half[1]) :]
            cut += len(half[1])
        self.cuts.append((len(self.kept), cut))


def _behind_quote(data: bytes, at: int) -> tuple[int, bool]:
    quote = data.find(b'"', at)
    return (quote + 1, True) if quote >= 0 else (len(data), False)


def _backslashes(data: bytes, begin: int, end: int) -> int:
    """Return the number of backslashes before a place."""
    return end - begin - len(data[begin:end].rstrip(b"\\"))


def shortened(pieces: Iterator[bytes], limit: int) -> Shortener:
    """Return a line with its long texts cut, if that makes it short enough.

    `pieces`: the line; all pieces are read. `limit`: most bytes of the result.
    """
    line = Shortener(limit)
    for piece in pieces:
        line.add(piece)
    return line
