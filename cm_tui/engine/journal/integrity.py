"""What of a journal cannot be read, told with file and line; asked often, so only what is new is looked at."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from cm_tui.engine.journal.event import Event, Position, Problem
from cm_tui.engine.journal.journal import START, Journal

SHOWN = 3
"""Lines that are named; the others are counted."""


@dataclass(slots=True)
class _Seen:
    """How far a journal was looked at."""

    at: Position = START
    events: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JournalCheck:
    """What a journal holds."""

    folder: Path
    events: int
    problems: int
    """Lines that are no event."""
    places: tuple[str, ...]
    """The first of them, as `FILE, line N: reason`."""

    @property
    def complaint(self) -> str:
        """In one sentence; empty when all can be read."""
        if not self.problems:
            return ""
        more = f"; and {self.problems - len(self.places):,} more" if self.problems > len(self.places) else ""
        lines = "1 line of the journal is" if self.problems == 1 else f"{self.problems:,} lines of the journal are"
        return f"{lines} no event and left out: {'; '.join(self.places)}{more}."


_seen: dict[Path, _Seen] = {}
_lock = threading.Lock()


def check(root: Path) -> JournalCheck:
    """Look at the journal of the project at a root.

    Raises:
        RefusedError: git's data cannot be opened.
        StoreError: a file cannot be read, or another process holds the journal.
    """
    journal = Journal.of(root)
    with _lock:
        seen = _seen.get(journal.folder, _Seen())
        end = journal.end()
        if end < seen.at:
            # It was removed, or put back to what it was earlier.
            seen = _Seen()
        if end > seen.at:
            _look_on(journal, seen)
        _seen[journal.folder] = seen
        problems = (*seen.problems, *(journal.torn(seen.at) if end > seen.at else ()))
        places = tuple(journal.place(problem) for problem in problems[:SHOWN])
        return JournalCheck(journal.folder, seen.events, len(problems), places)


def _look_on(journal: Journal, seen: _Seen) -> None:
    for found in journal.scan(seen.at):
        if isinstance(found, Event):
            seen.events += 1
            seen.at = found.position
        else:
            seen.problems.append(found)
            seen.at = Position(found.position.segment, found.position.offset + found.bytes)
