"""What passages come from: code, episodes, and whatever else a project remembers.

A source is a class in a file of its own and one line in `engine/memory/sources.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from cm_tui.engine.store.database import Database


class SourcePassage(NamedTuple):
    """A passage as its source gives it; lines are 1-based, inclusive."""

    path: str
    """Relative with `/`: a file of the project, or a name such as `episode/ID` that stays the same."""
    start_line: int
    end_line: int
    title: str
    text: str
    names: str = ""
    """What it is called: words here count twice as much as in the text."""
    inside: str = ""
    """Names of what it stands in, such as its class: they count as if they were said in the text."""
    time: int | None = None
    """When it was written, seconds since the epoch; None: undated, never decays."""
    blob: int | None = None
    """The blob that it is a part of: what has one is code."""
    symbol: int | None = None
    """Index of the blob's symbol that it belongs to."""
    thread: str | None = None
    """What it is a part of beyond its path, such as a session: its neighbours there say what it is about."""
    place: int | None = None
    """Where in the thread it stands; all of one path have one place, and equal places are told apart by time."""


class Changes(NamedTuple):
    """Differences between a source and what the store holds of it."""

    gone: Sequence[int]
    """Ids of passages that are no more."""
    new: Iterable[SourcePassage]
    """Passages that the store lacks; taken once, after those that are gone were removed."""
    notes: Sequence[str] = ()
    """What could not be looked at, and why."""
    more: bool = False
    """Whether the source has more than one transaction should hold: it is to be asked again after this one."""


class Source(Protocol):
    """One kind of thing that is remembered, as passages."""

    @property
    def name(self) -> str:
        """Name in profiles and hits: one lower-case word."""

    def has_changed(self, db: Database) -> bool:
        """Return whether there may be something that the store has not seen; asked by every index run, so cheap."""

    def changes(self, db: Database, *, anew: bool) -> Changes:
        """Compare with the store.

        Called inside the transaction that writes the answer: a source may keep in `meta` how far it was read.

        Args:
            db: the project's store.
            anew: everything is to come again; passages that the store holds are removed without being named.
        """


ReadText = Callable[[str, str], str]
"""Text of a file by path and object id."""


@dataclass(frozen=True, slots=True)
class SourceContext:
    """Facts that a source may need to be made."""

    root: Path
    """Root of the project."""
    read_blob: ReadText
    check: Callable[[], None] = lambda: None
    """Called between two things that are read: lets questions go first, and raises where nobody wants more."""
    most: int = 0
    """Turns that are read in one transaction at most; 0: as many as fit in memory."""


MakeSource = Callable[[SourceContext], Source]
