"""Records of a line that is torn, or written by two programs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

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
