"""Projects that there is anything of."""

from __future__ import annotations

from dataclasses import dataclass


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
