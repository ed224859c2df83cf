"""Long work in slices: between two of them, questions go first."""

from __future__ import annotations

from cm_tui.clock import SYSTEM, Clock
from cm_tui.daemon.turns import Turns

SLICE_S = 0.02
"""Time slice of long work between two checks for waiting requests."""
PAUSE_S = 0.2
"""Longest pause for requests after a slice, so that long work progresses under load."""


class Slices:
    """Pauses of one piece of long work, to be called between its steps.

    `turns`: of those who ask; `clock`: measures a slice.
    """

    def __init__(self, turns: Turns, clock: Clock = SYSTEM) -> None:
        self._turns = turns
        self._clock = clock
        self._begun = clock.monotonic()

    def __call__(self) -> None:
        """Let questions go first, for a moment, once a slice is over."""
        if self._clock.monotonic() - self._begun > SLICE_S:
            self._turns.give_way(PAUSE_S)
            self._begun = self._clock.monotonic()
