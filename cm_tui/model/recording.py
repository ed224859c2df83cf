"""Whether what sessions do is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Recording = Literal["on", "paused", "never", "off"]
"""`never`: the folder is one that is never recorded. `off`: the settings say so. `paused`: for a time, or until resumed."""


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
