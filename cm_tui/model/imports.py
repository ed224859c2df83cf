"""What is found of agents' own transcripts, and what came of importing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The transcripts of one agent that are of this project."""

    agent: str
    sessions: int
    """Those of sub-agents included."""
    new: int
    """How many have something that was not read yet."""
    bytes: int
    """How much there is to read; 0 where a database does not say."""
    folders: tuple[str, ...]
    """Where they worked."""
    moved: tuple[str, ...] = ()
    """Which of these have gone: the project lay there, or a worktree of it."""
    first: float | None = None
    """When the first of them began: seconds since the epoch."""
    last: float | None = None
    """When one of them was changed last."""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would read for this project."""

    sources: tuple[ImportSource, ...]
    others: int
    """Sessions on this machine that are another project's."""
    imported: bool
    """Something was imported before."""
    notes: tuple[str, ...] = ()

    @property
    def sessions(self) -> int:
        """Return how many sessions there are."""
        return sum(source.sessions for source in self.sources)

    @property
    def new(self) -> int:
        """Return how many of them have something that was not read yet."""
        return sum(source.new for source in self.sources)


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did."""

    transcripts: int
    """How many had something new."""
    sessions: int
    """How many sessions got episodes."""
    episodes: int
    """How many episodes were recorded."""
    known: int
    """Turns that were there already: recorded by hooks, or repeated in another transcript."""
    waiting: int
    """Turns that are under way, and are taken when they have ended."""
    withheld: int
    """Turns that are not to be recorded."""
    redacted: int
    """Secrets that were taken out."""
    bytes: int
    """How much was read."""
    seconds: float
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Kinds of records that are not known, with how many; they stay in the transcripts."""
    broken: Mapping[str, int] = field(default_factory=dict)
    """Lines that could not be read, by reason."""
    notes: tuple[str, ...] = ()
