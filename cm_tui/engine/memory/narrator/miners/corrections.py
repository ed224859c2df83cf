"""Corrections: the user's prompts right after an agent did something else.

A prompt counts if it follows an answer in its session and begins with a correction (no, wrong, stop, don't, use …
instead, I told you, …): its first sentence has the cue `corrects`, and the plainness of all its cues (`cues.py`) is the
weight. A single correction is seldom certain enough; repeated ones are.
"""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.engine.memory.narrator.observation import Observation
from cm_tui.engine.memory.narrator.said import kind_of, observation, said_in
from cm_tui.engine.memory.narrator.turn import Turn


class Corrections:
    """Finds corrections of the agent by the person."""

    name = "corrections"

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return the user's corrections in a turn."""
        found = (observation(turn, "correction", one) for one in said_in(turn) if kind_of(one) == "correction")
        return [one for one in found if one is not None]
