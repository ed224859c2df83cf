"""Events of a journal, and how they are written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from cm_tui.engine.redaction.found import PATTERNS_VERSION
from cm_tui.engine.redaction.records import redact_record
from cm_tui.errors import UsageError

EXACT = frozenset({"root", "base", "stop", "patch_digest", "origin"})
"""Fields that stay as they are: a folder, commits, ids of events, digests."""
MAX_BYTES = 1_000_000
"""The longest line."""
ERASED = "erased"
"""Kind of what is left of an event whose content was erased: its id, its time and the kind that it was."""
MOVED = "archived"
"""Kind of what is left of an event that moved to the archive: its id and its time, and a hole, which reads as zeros."""
ERASURE = "journal.erased"
"""Kind of the event that says, behind them, which events were erased: whoever has read them lets go of them."""

TRACES = frozenset({ERASED, ERASURE, "archived"})
"""Kinds of what is left of events that are no longer there: another journal has no use for them."""
RESTORED = "restored"
"""Field of an event that came out of a backup: it tells what happened; nothing is done because of it, and it is no last
change of a person."""


class Position(NamedTuple):
    """A place between two events, to read on from; `str` and `parse` keep it as text."""

    segment: int
    offset: int

    def __str__(self) -> str:
        return f"{self.segment}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Return the position that a text stands for.

        Raises:
            UsageError: it is none.
        """
        segment, colon, offset = text.partition(":")
        if not (colon and segment.isdecimal() and offset.isdecimal()):
            raise UsageError(f"{text!r} is no position in a journal.", hint="It looks like `1:2048`.")
        return cls(int(segment), int(offset))


class Event(NamedTuple):
    """One thing that happened."""

    id: str
    """Unique, and in order of time."""
    time: float
    """Seconds since the epoch."""
    kind: str
    head: str | None
    """The commit that the checkout stood at, where it matters."""
    data: Mapping[str, Any]
    position: Position
    """Where the next event begins."""
    rules: str = ""
    """Version of the patterns by which secrets were taken out of it; empty: not known."""

    @property
    def is_clean(self) -> bool:
        """Return whether secrets were taken out of it by the rules of today."""
        return self.rules == PATTERNS_VERSION


class Problem(NamedTuple):
    """Something in a journal that is no event; it stays where it is, and reading goes on behind it."""

    position: Position
    """Where it begins."""
    bytes: int
    reason: str


def new_line(kind: str, data: Mapping[str, Any], head: str | None) -> tuple[dict[str, Any], bytes]:
    """Return a new event and its line; whoever writes an event, no secret that is recognised stands in it.

    Raises:
        UsageError: the data cannot be written as JSON, or is too much.
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
            f"The event {kind!r} takes {len(line):,} bytes; the journal takes at most {MAX_BYTES:,}.",
            hint="Shorten its texts.",
        )
    return fields, line


def without_secrets(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event's data without secrets; its field `redacted` counts them."""
    try:
        clean, secrets = redact_record(data, EXACT)
    except RecursionError:
        # What holds itself is no JSON: writing it says so.
        return dict(data)
    known = clean.get("redacted", 0)
    return {**clean, "redacted": known + secrets} if secrets and isinstance(known, int) else clean


def parse_line(line: bytes) -> dict[str, Any] | str:
    """Return the fields of an event, or why the line is none."""
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
        and isinstance(fields["time"], (int, float))
        and isinstance(fields["kind"], str)
        and isinstance(fields["head"], (str, type(None)))
        and isinstance(fields["data"], dict)
    )


def as_event(fields: Mapping[str, Any], position: Position) -> Event:
    """The record of an event."""
    rules = fields.get("rules", "")
    known = rules if isinstance(rules, str) else ""
    return Event(fields["id"], fields["time"], fields["kind"], fields["head"], fields["data"], position, known)


def clean_line(fields: Mapping[str, Any]) -> bytes:
    """Return the line of an event that comes from elsewhere, without secrets by the rules of today.

    Args:
        fields: its id, time, kind, head and data.
    """
    return line_of({**fields, "data": without_secrets(fields["data"])})


def line_of(fields: Mapping[str, Any]) -> bytes:
    """Return the line of an event out of which secrets were taken by the rules of today."""
    plain = {name: fields[name] for name in ("id", "time", "kind", "head")}
    said = {**plain, "rules": PATTERNS_VERSION, "data": fields["data"]}
    # ASCII: a name that is not UTF-8 survives, and no line breaks but ours.
    return json.dumps(said, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode() + b"\n"
