"""Decisions: the user's statements of what was decided, agreed or settled, or what to go with.

A sentence counts if it has the cue `decision` (we decided, decision:, settled on, …) or `go with` (let's go with, X it
is); the plainness of all its cues (`cues.py`) is the weight.
"""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.engine.memory.narrator.observation import Observation
from cm_tui.engine.memory.narrator.said import kind_of, observation, said_in
from cm_tui.engine.memory.narrator.turn import Turn


class Decisions:
    """Finds decisions."""

    name = "decisions"

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return the decisions that the user states."""
        found = (observation(turn, "decision", one) for one in said_in(turn) if kind_of(one) == "decision")
        return [one for one in found if one is not None]
