"""What joins the daemon: applications that are mounted beside its own paths, and work that is done behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from starlette.types import ASGIApp

from cm_tui.daemon.dispatcher import Dispatcher


class Background(Protocol):
    """Work that the daemon does by itself: the journal, watchers. Called on threads; must return soon."""

    def start(self, dispatcher: Dispatcher) -> None:
        """The daemon answers from now on."""

    def on_nudge(self, root: Path) -> None:
        """The journal of the project at this root has news."""

    def close(self) -> None:
        """The daemon ends."""


@dataclass(frozen=True)
class Extensions:
    """What joins the daemon.

    Mounted applications get requests below their path; their lifespan is run with the daemon's.
    """

    mounts: Mapping[str, ASGIApp] = field(default_factory=dict)
    background: tuple[Background, ...] = ()


MakeExtensions = Callable[[Dispatcher], Extensions]
"""Makes them for a daemon, which hands its dispatcher: the way to the projects, jobs and events."""
