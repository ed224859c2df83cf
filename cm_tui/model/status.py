"""Records of a project's state and of the installation's health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

NO_MODEL = "none"
"""Fingerprint where vectors are switched off."""
Recording = Literal["on", "paused", "never", "off"]
"""`never`: the folder is one that is never recorded. `off`: the settings say so. `paused`: for a time, or until resumed."""


@dataclass(frozen=True, slots=True)
class TeamVectors:
    """A version of the vectors that a team shares, or what was published or taken of it."""

    of: str
    """The commit that it belongs to."""
    model: str
    files: int = 0
    """Source files whose vectors it has, as far as they are this checkout's."""
    vectors: int = 0
    damaged: int = 0
    """Files of it that could not be used."""
    behind: int = -1
    """Commits from HEAD back to it; -1: HEAD does not descend from it, or that was not asked."""
    time: int = 0
    """Of the commit, seconds since the epoch; 0: not asked."""
    usable: bool = True
    """Whether it is of the model in use."""


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    """One view of a project and its index."""

    root: str
    name: str
    identity: str
    """`remote:…`, `root-commit:…` or `path:…`."""
    store: str
    """Folder of the store."""
    indexed: bool
    git: bool
    branch: str | None
    head: str | None
    indexed_head: str | None
    files: int
    languages: Mapping[str, int]
    """Files by language."""
    symbols: int
    references: int
    passages: int
    embedded: int
    """Passages with a vector of the current model."""
    skipped: Mapping[str, int]
    errors: int
    """Files that were not read in full: searched by lines only, or some definitions lost to an error."""
    model: str
    """Fingerprint of the embedding model."""
    mode: str
    """What a search would use now: hybrid, keyword or vector."""
    vectors: str
    """`graph`, `exact` or `none`: how vectors are searched."""
    disk_bytes: int
    indexed_at: float | None
    """Seconds since the epoch."""
    fallback: str = ""
    """Why `model` is used instead of the one that the settings ask for; empty when it is that one."""
    notes: tuple[str, ...] = ()
    stale: int = 0
    """Entries and notes that name code that is gone or renamed."""
    conflicts: int = 0
    """Notes with overwritten lines that an earlier version kept and that were not shown yet."""
    claims_other: bool = False
    """Git names a project with a memory that this checkout is not linked to."""

    @property
    def has_vectors(self) -> bool:
        """Return whether there is a model at all; without one no passage will have a vector."""
        return self.model != NO_MODEL

    @property
    def is_behind_head(self) -> bool:
        """Return whether the index reflects another commit than HEAD."""
        return self.git and self.head != self.indexed_head


@dataclass(frozen=True, slots=True)
class CheckoutHead:
    """What is checked out, as git's own file says at this moment."""

    branch: str | None
    """None: no branch, but a commit by itself."""
    sha: str | None
    """None before the first commit, and where git keeps its references in another form."""


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """What an index run would do: `cm index --dry-run`, and the first screen on a new project."""

    files: int
    bytes: int
    languages: Mapping[str, int]
    skipped: Mapping[str, int]
    added: tuple[str, ...]
    modified: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    estimated_seconds: float
    full: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `cm doctor`."""

    name: str
    state: Literal["ok", "warning", "failed"]
    message: str
    mend: str = ""
    """What to do about it."""
    finding: str = ""
    """Name of the damage; empty when nothing is damaged."""


@dataclass(frozen=True, slots=True)
class KnownProject:
    """A project that has an index or a journal."""

    id: str
    """Name of the folder of both."""
    name: str
    """For people."""
    identity: str
    """`remote:HOST/PATH`, `root-commit:SHA` or `path:FOLDER`; empty where it was never indexed."""
    roots: tuple[str, ...]
    """Checkouts of it that are there, the one that was indexed last first."""
    gone: tuple[str, ...]
    """Checkouts of it that are no longer there: moved, or removed."""
    indexed: bool
    recorded: bool
    """Something was recorded of its sessions."""
    last: float
    """When it was used last, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class RecordingState:
    """Whether what sessions do in a project is recorded."""

    state: Recording
    root: str
    """Of the checkout; empty where no project was asked about."""
    since: float | None = None
    """When the pause began, in seconds since the epoch."""
    until: float | None = None
    """When it ends automatically; None: when the user resumes recording."""
    everywhere: bool = False
    """The pause is one of all projects."""
    sessions: tuple[str, ...] = ()
    """Ids of the sessions that are never recorded."""
