"""Transcripts that agents delete: how many there are, how long they stay, and what was copied of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RescueSource:
    """The transcripts of one agent."""

    agent: str
    sessions: int
    """Those of sub-agents are not counted."""
    files: int
    """0: it keeps them in a database, which is not copied."""
    bytes: int
    days: int | None
    """Days without a change after which the agent deletes a transcript; None: it deletes none."""
    expiring: int
    """Sessions that the agent deletes within five days."""
    unsaved: int
    """How many of these have no up-to-date copy."""
    new: int
    """Files that are new, or were changed since they were copied."""
    new_bytes: int


@dataclass(frozen=True, slots=True)
class RescuePlan:
    """What a rescue would copy."""

    sources: tuple[RescueSource, ...]
    folder: str
    """Where the copies are kept."""

    @property
    def unsaved(self) -> int:
        """Return how many sessions are deleted within five days and have no up-to-date copy."""
        return sum(source.unsaved for source in self.sources)

    @property
    def new(self) -> int:
        """Return how many files would be copied."""
        return sum(source.new for source in self.sources)


@dataclass(frozen=True, slots=True)
class RescueSummary:
    """What a rescue copied."""

    copied: int
    """Files."""
    kept: int
    """Files whose copies were up to date."""
    prompts: int
    """Sessions without a transcript whose prompts were copied."""
    bytes: int
    """Read."""
    stored: int
    """Bytes written."""
    seconds: float
    folder: str
    withheld: Mapping[str, int] = field(default_factory=dict)
    """Transcripts that were not copied, by reason."""
    notes: tuple[str, ...] = ()
