"""Transcripts, and what is read from them: turns, names of sessions, and skipped records."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.transcripts.lines import as_list, as_record, as_text
from cm_tui.engine.memory.transcripts.turn import Turn

_EARLIEST = datetime(2015, 1, 1, tzinfo=UTC).timestamp()
_AHEAD = 86_400.0
"""A time further in the future is from a wrong clock."""


class Transcript(NamedTuple):
    """One transcript on this machine: a file, or a session in a database."""

    agent: str
    name: str
    """Path of the file; with `#` and the session behind it where one file holds several."""
    file: Path
    size: int
    stamp: float
    """When it was changed last: seconds since the epoch."""
    session: str = ""
    """The session, if the file's first records lack it."""
    is_copy: bool = False
    """A copy by `cm rescue`: the transcript itself no longer exists."""


class Read(NamedTuple):
    """A turn that was read."""

    turn: Turn
    start: int = 0
    """Start position: reading from here yields it again; 0 where all is read each time."""
    is_last: bool = False
    """It is the last one: it may continue."""
    session: str = ""
    """Of a session within the session, a sub-agent's; empty: the transcript's own."""
    number: int = 0
    """Number of earlier turns, if the format counts them."""


class Skipped(NamedTuple):
    """A record that was not taken: its kind is not known, or it cannot be read."""

    kind: str
    at: int
    is_broken: bool = False
    record: Mapping[str, Any] = {}
    """The unknown record as read; empty: unreadable."""
    time: float | None = None
    """When it was written, if known."""


class Named(NamedTuple):
    """The name that an agent gave a session."""

    title: str


Item = Read | Skipped | Named


@dataclass
class Resume:
    """Position in a transcript, with the state of unfinished turns."""

    offset: int = 0
    turns: int = 0
    """How many turns were read before."""
    marks: dict[str, Any] = field(default_factory=dict)
    """State of the format, as JSON types."""
    check: Callable[[], None] = lambda: None
    """Called with each record: raises on cancellation."""

    def from_beginning(self) -> None:
        """Read all of it."""
        self.offset = self.turns = 0
        self.marks.clear()


def parse_time(value: object) -> float | None:
    """Return a time as seconds since the epoch: from ISO text, seconds or milliseconds; None: invalid."""
    if isinstance(value, str) and 10 <= len(value) <= 40:
        try:
            moment = datetime.fromisoformat(value)
            return _sane((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        except (ValueError, OverflowError):
            return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15:
        return _sane(value / 1_000 if value > 1e11 else float(value))
    return None


def _sane(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) and _EARLIEST < seconds < time.time() + _AHEAD else None


def texts_of(content: object) -> str:
    """Return the texts of a message: a text itself, or a list of parts with texts."""
    if isinstance(content, str):
        return as_text(content)
    parts = (as_record(part) for part in as_list(content))
    return "\n".join(text for part in parts if (text := as_text(part.get("text"))))
