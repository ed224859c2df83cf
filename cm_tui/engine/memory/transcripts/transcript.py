"""The interface of a transcript format: transcripts, facts about them, and turns."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cm_tui.engine.memory.transcripts.lines import as_list, as_record, as_text
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn

_EARLIEST = datetime(2015, 1, 1, tzinfo=UTC).timestamp()
_AHEAD = 86_400.0
"""A time further in the future is from a wrong clock."""
_GIVEN = ("command", "cmd", "file_path", "filePath", "notebook_path", "path", "pattern", "query", "url", "prompt", "description")  # fmt: skip
_PATHS = ("file_path", "filePath", "notebook_path", "path", "target_file")
_GIVEN_CHARACTERS = 8_000


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
    start: int
    """Start position: reading from here yields it again."""
    end: int
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


class Format(Protocol):
    """One agent's transcripts."""

    agent: str
    left_out: list[Path]
    """Folders that were not searched completely, as they have too many files."""
    unread: dict[Path, str]
    """Files that are passed over, with the reasons; as of the last look at the transcripts."""
    asides: frozenset[str]
    """Kinds of records that need no session: a file may hold these alone."""
    places: tuple[Path, ...]
    """Folders of transcripts that are files of lines; empty: another form."""
    prefix: str
    """How the names of these files begin."""
    names: re.Pattern[str] | None
    """Paths below a place that are transcripts, if other files are there, too; None: all files of lines."""

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the transcripts; unreadable folders are skipped."""

    def days_kept(self, place: Path) -> int | None:
        """Return the agent's retention of unchanged transcripts of a place in days; None: forever."""

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return the facts from its first records; None: not there.

        Raises OSError if it was removed, or cannot be read.
        """

    def read(self, transcript: Transcript, facts: SessionFacts, resume: Resume) -> Iterator[Item]:
        """Yield its turns from a position on; at the end `resume` is the position after the last one.

        Raises OSError if it was removed, or cannot be read.
        """


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


def given_words(given: Mapping[str, Any]) -> str:
    """Return a tool's input as one text, with the parts relevant to a user."""
    for name in _GIVEN:
        value = given.get(name)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            # A command as a list of words; a shell's is its last one.
            return as_text(value[-1] if len(value) == 3 and value[1] in {"-c", "-lc"} else " ".join(value))
        if isinstance(value, str) and value.strip():
            return as_text(value[:_GIVEN_CHARACTERS])
    if not given:
        return ""
    short = {
        str(name)[:100]: value[:500] if isinstance(value, str) else value for name, value in list(given.items())[:20]
    }
    try:
        return as_text(json.dumps(short, ensure_ascii=False))[:_GIVEN_CHARACTERS]
    except (TypeError, ValueError, RecursionError):
        return ""


def given_path(given: Mapping[str, Any]) -> str:
    """Return the file that a tool is about; empty where it is about none."""
    return next((as_text(given[name]) for name in _PATHS if isinstance(given.get(name), str)), "")


def texts_of(content: object) -> str:
    """Return the texts of a message: a text itself, or a list of parts with texts."""
    if isinstance(content, str):
        return as_text(content)
    parts = (as_record(part) for part in as_list(content))
    return "\n".join(text for part in parts if (text := as_text(part.get("text"))))


def plan_of(items: object, text: str) -> str:
    """Return a to-do list as text.

    `items`: records with a text and a status; `text`: name of the field with the text.
    """
    marks = {"completed": "x", "in_progress": "~"}
    rows = [as_record(item) for item in as_list(items)[:100]]
    return "\n".join(f"- [{marks.get(as_text(row.get('status')), ' ')}] {as_text(row.get(text))}" for row in rows)
