"""Records of how often something remembered was recalled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecalledBy:
    """How often one person or agent was given something."""

    who: str
    """`person`, or the name of the agent."""
    times: int
    last: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Recalls:
    """How often something was in an answer."""

    path: str
    """Such as `entry/k3m9x2a`."""
    times: int = 0
    last: float | None = None
    """Seconds since the epoch; None: never."""
    by: tuple[RecalledBy, ...] = ()
    """Recipients, latest first."""
