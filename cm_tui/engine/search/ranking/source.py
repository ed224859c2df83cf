"""Sources of passages: code, episodes, and all other memories of a project.

A source is a class in its own file and one line in `engine/memory/projection/sources.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from cm_tui.engine.platform.store.database import Database


class SourcePassage(NamedTuple):
    """A passage from its source; lines are 1-based, inclusive."""

    path: str
    """Relative with `/`: a file of the project, or a stable name such as `episode/ID`."""
    start_line: int
    end_line: int
    title: str
    text: str
    names: str = ""
    """Its name: words here count twice as much as in the text."""
    inside: str = ""
    """Names of its containers, such as its class: they count as words of the text."""
    time: int | None = None
    """When it was written, seconds since the epoch; None: undated, never decays."""
    blob: int | None = None
    """The blob that it is a part of: only code has one."""
    symbol: int | None = None
    """Index of the blob's symbol that it belongs to."""
    thread: str | None = None
    """Its unit beyond the path, such as a session: neighbours in it indicate its subject."""
    place: int | None = None
    """Position in the thread; all passages of one path have the same, and time orders equal ones."""


class Changes(NamedTuple):
    """Differences between a source and the store."""

    gone: Sequence[int]
    """Ids of passages that are no more."""
    new: Iterable[SourcePassage]
    """New passages; read once, after removed ones were deleted."""
    notes: Sequence[str] = ()
    """What could not be looked at, and why."""
    more: bool = False
    """Whether the source has more than one transaction should hold: call it again after this one."""


class Source(Protocol):
    """One kind of memory, as passages."""

    @property
    def name(self) -> str:
        """Name in profiles and hits: one lower-case word."""

    def has_changed(self, db: Database) -> bool:
        """Return whether there may be changes; called by every index run, so it must be cheap."""

    def changes(self, db: Database, *, rebuild: bool) -> Changes:
        """Return what differs from the store.

        Called inside the transaction that writes the result: a source may store its position in `meta`.

        Args:
            db: the project's store.
            rebuild: return everything; the stored passages are removed by the caller.
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
    """Called between two reads: lets requests run first, and raises on cancellation."""
    most: int = 0
    """Turns that are read in one transaction at most; 0: as many as fit in memory."""
    journal: Path | None = None
    """The journal's folder, looked up once for all checks for changes; None: each looks it up."""


MakeSource = Callable[[SourceContext], Source]
