"""Rejected alternatives: the user's statements of what was considered and turned down.

A sentence counts if it has the cue `turned down` (rejected, ruled out, decided against, not an option, we do not want,
…); the plainness of all its cues (`cues.py`) is the weight.
"""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.engine.memory.narrator.observation import Observation
from cm_tui.engine.memory.narrator.said import kind_of, observation, said_in
from cm_tui.engine.memory.narrator.turn import Turn


class Rejected:
    """Finds alternatives that were turned down."""

    name = "rejected"

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return the alternatives that the user rejects."""
        found = (observation(turn, "rejected", one) for one in said_in(turn) if kind_of(one) == "rejected")
        return [one for one in found if one is not None]
