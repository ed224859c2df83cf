"""What a backup holds, and what restoring one does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProjectBackup:
    """A project in a backup."""

    id: str
    """Name of the folder of its journal."""
    name: str
    """For people."""
    identity: str
    events: int
    """Of the journal."""
    archived: int = 0
    """Episodes of the archive, each with its turn."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was made, or would be."""

    file: str
    made: float
    """Seconds since the epoch."""
    projects: tuple[ProjectBackup, ...]
    bytes: int
    """Of the file; 0 where none was made."""
    dry_run: bool


@dataclass(frozen=True, slots=True)
class RestoredProject:
    """A project of a backup, and where it goes."""

    id: str
    """Name of the folder of the journal that it goes into."""
    name: str
    """For people."""
    identity: str
    here: bool
    """It goes into the project that the person is in."""
    events: int
    """In the backup."""
    new: int
    """Those of them that were not there."""
    archived: int = 0
    """Episodes of the archive, in the backup."""
    new_archived: int = 0
    """Those of them that were not there."""
    entries: int = 0
    """In the backup."""
    new_entries: int = 0
    """Those of them that were not there, and are restored."""
    new_everywhere: int = 0
    """Those of these that speak in all projects of the person."""

    @property
    def changes_something(self) -> bool:
        """Return whether anything of it was not there."""
        return bool(self.new or self.new_archived or self.new_entries)


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was restored, or would be."""

    file: str
    projects: tuple[RestoredProject, ...]
    dry_run: bool
    notes: tuple[str, ...] = ()
