"""Events of a journal, and how they are written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from cm_tui.engine.platform.redaction.found import PATTERNS_VERSION
from cm_tui.engine.platform.redaction.records import redact_record
from cm_tui.errors import UsageError

EXACT = frozenset({"root", "base", "stop", "patch_digest", "origin"})
"""Fields that are never redacted: a folder, commits, ids of events, digests."""
MAX_BYTES = 1_000_000
"""The longest line."""
_LATEST = 2.0**40
ERASED = "erased"
"""Kind of the remains of an erased event: its id, time and original kind."""
MOVED = "archived"
"""Kind of the remains of an archived event: its id and time, and a hole, which reads as zeros."""
ERASURE = "journal.erased"
"""Kind of the event that lists erased events: a reader that has them must drop them."""

TRACES = frozenset({ERASED, ERASURE, "archived"})
"""Kinds of remains of events: another journal has no use for them."""
RESTORED = "restored"
"""Field of an event from a backup: it records the past, triggers nothing, and is not the user's last
change."""


class Position(NamedTuple):
    """A place between two events, for reading on from there; `str` and `parse` convert it to and from text."""

    segment: int
    offset: int

    def __str__(self) -> str:
        return f"{self.segment}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parse a position. Raises UsageError if it is invalid."""
        segment, colon, offset = text.partition(":")
        if not (colon and segment.isdecimal() and offset.isdecimal()):
            raise UsageError(f"Not a journal position: {text!r}.", hint="Example: `1:2048`.")
        return cls(int(segment), int(offset))


class Event(NamedTuple):
    """One event."""

    id: str
    """Unique, and in order of time."""
    time: float
    """Seconds since the epoch."""
    kind: str
    head: str | None
    """The commit that was checked out, if relevant."""
    data: Mapping[str, Any]
    position: Position
    """Where the next event begins."""
    rules: str = ""
    """Version of the patterns by which secrets were taken out of it; empty: not known."""

    @property
    def is_clean(self) -> bool:
        """Return whether secrets were taken out of it by the rules of today."""
        return self.rules == PATTERNS_VERSION

    def text(self, name: str) -> str:
        """Return a text of its data, which may be malformed; empty: none of that name."""
        return text_in(self.data, name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts in a list of its data; empty: no list of that name."""
        return texts_in(self.data, name)


def text_in(data: Mapping[str, Any], name: str) -> str:
    """Return a text of data that may be malformed; empty: none of that name."""
    return value if isinstance(value := data.get(name), str) else ""


def texts_in(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the texts in a list of data that may be malformed; empty: no list of that name."""
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found := data.get(name), list) else ()


class Problem(NamedTuple):
    """An invalid part of a journal; it stays there, and reading continues after it."""

    position: Position
    """Where it begins."""
    bytes: int
    reason: str


def new_line(kind: str, data: Mapping[str, Any], head: str | None) -> tuple[dict[str, Any], bytes]:
    """Return a new event and its line, with recognised secrets redacted.

    Raises UsageError if the data cannot be written as JSON, or is too much.
    """
    now = time.time_ns()
    data = without_secrets(data)
    fields = {"id": f"{now:016x}{os.urandom(4).hex()}", "time": now / 1e9, "kind": kind, "head": head}
    fields |= {"rules": PATTERNS_VERSION, "data": data}
    try:
        line = line_of(fields)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The event {kind!r} cannot be written as JSON: {error}") from error
    if len(line) > MAX_BYTES:
        raise UsageError(
            f"The event {kind!r} has {len(line):,} bytes; the journal accepts at most {MAX_BYTES:,}.",
            hint="Shorten its texts.",
        )
    return fields, line


def without_secrets(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event's data without secrets; its field `redacted` counts them."""
    try:
        clean, secrets = redact_record(data, EXACT)
    except RecursionError:
        # A recursive structure is not JSON: writing it raises.
        return dict(data)
    known = clean.get("redacted", 0)
    return {**clean, "redacted": known + secrets} if secrets and isinstance(known, int) else clean


def parse_line(line: bytes) -> dict[str, Any] | str:
    """Return the fields of an event, or why the line is invalid."""
    if len(line) > MAX_BYTES:
        return "longer than any event"
    hollow = line.endswith(b"\0\n")
    try:
        fields = json.loads(line.rstrip(b"\0\n") if hollow else line)
    except (ValueError, RecursionError):
        return "not JSON"
    if hollow and not (isinstance(fields, dict) and fields.get("kind") == MOVED):
        # Zeros behind anything else are debris of a crash.
        return "not JSON"
    return fields if _is_event(fields) else "not an event"


def _is_event(fields: Any) -> bool:
    return (
        isinstance(fields, dict)
        and fields.keys() >= {"id", "time", "kind", "head", "data"}
        and isinstance(fields["id"], str)
        and is_time(fields["time"])
        and isinstance(fields["kind"], str)
        and isinstance(fields["head"], (str, type(None)))
        and isinstance(fields["data"], dict)
    )


def is_time(found: Any) -> bool:
    """Return whether a value is a time that lists can show, in seconds since the epoch."""
    return type(found) in (int, float) and 0 <= found < _LATEST


def as_event(fields: Mapping[str, Any], position: Position) -> Event:
    """The record of an event."""
    rules = fields.get("rules", "")
    known = rules if isinstance(rules, str) else ""
    return Event(fields["id"], fields["time"], fields["kind"], fields["head"], fields["data"], position, known)


def clean_line(fields: Mapping[str, Any]) -> bytes:
    """Return the line of a foreign event, redacted by the current rules.

    `fields`: its id, time, kind, head and data.
    """
    return line_of({**fields, "data": without_secrets(fields["data"])})


def line_of(fields: Mapping[str, Any]) -> bytes:
    """Return the line of an event that was redacted by the current rules."""
    plain = {name: fields[name] for name in ("id", "time", "kind", "head")}
    said = {**plain, "rules": PATTERNS_VERSION, "data": fields["data"]}
    # ASCII: a name that is not UTF-8 survives, and no line breaks but ours.
    return json.dumps(said, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode() + b"\n"
