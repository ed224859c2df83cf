"""What the application does itself where no owner process does it: asked of any door, true of the local one alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cm_tui.model import Cancel, Progress

if TYPE_CHECKING:
    from cm_tui.engine.local import Door


def wants_history(door: Door) -> bool:
    """True when the configuration wants more of the past than is known, and nobody else reads it."""
    from cm_tui.engine.local import Memory

    return isinstance(door, Memory) and door.wants_history()


def catch_up(door: Door, cancel: Cancel) -> Iterator[Progress]:
    """Read the past as far as that."""
    from cm_tui.engine.local import Memory

    if isinstance(door, Memory):
        yield from door.catch_up(cancel)
