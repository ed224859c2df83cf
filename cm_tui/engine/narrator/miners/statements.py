"""Explicit statements: what the person says is always, never, or generally so, prefers, or asks to be remembered.

Each sentence of the person's own words is weighed by its cues and its vector (`cues.py`), `1 / (1 + e^-(bias + weights + sound · vector))`;
an order that begins with `always` or `never`, and has no cue against it, counts 0.97 at least. From 0.4 on it is observed with that
weight, which a second look by the model of prose corrects (`grouping.py`); how sure it makes a fact is told by `confidence.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.engine.narrator.observation import Observation
from cm_tui.engine.narrator.said import kind_of, observation, said_in
from cm_tui.engine.narrator.turn import Turn


class Statements:
    """Finds explicit statements."""

    name = "statements"

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return what the person states in a turn."""
        found = (observation(turn, "statement", one) for one in said_in(turn) if kind_of(one) == "statement")
        return [one for one in found if one is not None]
