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


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was restored, or would be."""

    file: str
    projects: tuple[RestoredProject, ...]
    dry_run: bool
    notes: tuple[str, ...] = ()
