"""What has to be done to bring an index up to date: one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Step = Literal["pull", "delta", "full", "dirty"]


@dataclass(frozen=True, slots=True)
class Situation:
    """How an index stands to its project."""

    indexed: bool
    """There is an index of this project."""
    head_moved: bool = False
    """HEAD is another commit than the one that was indexed."""
    dirty: bool = False
    """The working tree differs from HEAD, or from what was indexed of it."""
    reachable: bool = True
    """The commit that was indexed is still there; False: history was rewritten, and its objects are gone."""
    snapshot: Literal["none", "exact", "ancestor"] = "none"
    """A team's snapshot: of HEAD itself, or of a commit before it."""


def decide(situation: Situation) -> tuple[Step, ...]:
    """Steps in their order; none when the index is up to date.

    `pull` takes a snapshot, `delta` reads what differs between two commits, `full` reads everything, and `dirty` what
    differs from HEAD on disk. `full` includes that.
    """
    if situation.indexed and not situation.head_moved:
        return ("dirty",) if situation.dirty else ()
    dirty: tuple[Step, ...] = ("dirty",) if situation.dirty else ()
    if situation.snapshot == "exact":
        return ("pull", *dirty)
    if situation.snapshot == "ancestor":
        return ("pull", "delta", *dirty)
    return ("delta", *dirty) if situation.indexed and situation.reachable else ("full",)
