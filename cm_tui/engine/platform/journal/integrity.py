"""The check of a journal: unreadable lines with file and line number; cheap, as only new data is checked."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from cm_tui.counts import count, noun
from cm_tui.engine.platform.journal.event import Event, Position, Problem
from cm_tui.engine.platform.journal.journal import START, Journal

SHOWN = 3
"""Lines that are named; the others are counted."""


@dataclass(slots=True)
class _Progress:
    """The part of a journal that was checked."""

    at: Position = START
    last: tuple[Position, str] = (START, "")
    """The last event: where it ends, and its id."""
    events: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JournalCheck:
    """The result of a check."""

    folder: Path
    events: int
    problems: int
    """Lines that are no event."""
    locations: tuple[str, ...]
    """The first of them, as `FILE, line N: reason`."""

    @property
    def complaint(self) -> str:
        """Return a message in one sentence; empty: everything is readable."""
        if not self.problems:
            return ""
        more = f"; and {self.problems - len(self.locations):,} more" if self.problems > len(self.locations) else ""
        lines = f"{count(self.problems, 'line')} of the journal {noun(self.problems, 'is', 'are')}"
        return f"{lines} damaged and skipped: {'; '.join(self.locations)}{more}."


_checked: dict[Path, _Progress] = {}
_lock = threading.Lock()


def check(root: Path) -> JournalCheck:
    """Check the journal of the project at a root.

    Raises RefusedError if git's data cannot be opened; StoreError if a file cannot be read, or another process holds
    the journal.
    """
    journal = Journal.of(root)
    with _lock:
        progress = _checked.get(journal.folder, _Progress())
        end = journal.end()
        if end < progress.at or not journal.holds(*progress.last):
            # It was removed, restored to an earlier state, or replaced.
            progress = _Progress()
        if end > progress.at:
            _check_further(journal, progress)
        _checked[journal.folder] = progress
        problems = (*progress.problems, *(journal.torn(progress.at) if end > progress.at else ()))
        locations = tuple(journal.locate(problem) for problem in problems[:SHOWN])
        return JournalCheck(journal.folder, progress.events, len(problems), locations)


def _check_further(journal: Journal, progress: _Progress) -> None:
    for found in journal.scan(progress.at):
        if isinstance(found, Event):
            progress.events += 1
            progress.at = found.position
            progress.last = (found.position, found.id)
        else:
            progress.problems.append(found)
            progress.at = Position(found.position.segment, found.position.offset + found.bytes)
