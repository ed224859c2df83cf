"""Decisions: what the person says was decided, agreed or settled, or what to go with.

A sentence counts that has the cue `decision` (we decided, decision:, settled on, …) or `go with` (let's go with, X it is), with
the plainness of all of its cues (`cues.py`) as its weight.
"""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.engine.narrator.observation import Observation
from cm_tui.engine.narrator.said import kind_of, observation, said_in
from cm_tui.engine.narrator.turn import Turn


class Decisions:
    """Finds decisions."""

    name = "decisions"

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return what the person says was decided."""
        found = (observation(turn, "decision", one) for one in said_in(turn) if kind_of(one) == "decision")
        return [one for one in found if one is not None]
