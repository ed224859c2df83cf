"""Explicit statements: rules, preferences and requests to remember something, in the user's own words.

Each sentence is weighed by its cues and its vector (`cues.py`), `1 / (1 + e^-(bias + weights + sound · vector))`; an
order that begins with `always` or `never`, without a cue against it, gets at least 0.97. From 0.4 on it is observed
with that weight, which the model of prose corrects in a second look (`grouping.py`); `confidence.py` computes the
confidence.
"""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.engine.memory.narrator.observation import Observation
from cm_tui.engine.memory.narrator.said import kind_of, observation, said_in
from cm_tui.engine.memory.narrator.turn import Turn


class Statements:
    """Finds explicit statements."""

    name = "statements"

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return the user's statements in a turn."""
        found = (observation(turn, "statement", one) for one in said_in(turn) if kind_of(one) == "statement")
        return [one for one in found if one is not None]
