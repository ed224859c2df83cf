"""Corrections: what the person tells the agent right after it did something else.

A prompt counts that follows an answer in its session and begins by saying that this was wrong (no, wrong, stop, don't, use …
instead, I told you, …): its first sentence has the cue `corrects`, and the plainness of all of its cues (`cues.py`) as their
weight. What was corrected once is seldom sure enough by itself; what is corrected again and again is.
"""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.engine.narrator.observation import Observation
from cm_tui.engine.narrator.said import kind_of, observation, said_in
from cm_tui.engine.narrator.turn import Turn


class Corrections:
    """Finds corrections of the agent by the person."""

    name = "corrections"

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return what the person corrects in a turn."""
        found = (observation(turn, "correction", one) for one in said_in(turn) if kind_of(one) == "correction")
        return [one for one in found if one is not None]
