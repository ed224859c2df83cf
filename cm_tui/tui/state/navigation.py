"""Where a person was: back, and forth again."""

from __future__ import annotations

from typing import Generic, TypeVar

P = TypeVar("P")

KEPT = 200


class Navigation(Generic[P]):
    """Places that were gone to, in order. What is only looked at is no step; `back` leaves it again."""

    def __init__(self) -> None:
        self.here: P | None = None
        self._steps: list[P] = []
        self._at = -1

    def look(self, place: P) -> None:
        """Look at a place without going there."""
        self.here = place

    def go(self, place: P) -> None:
        """Go to a place; what was ahead is forgotten."""
        left = self._steps[: self._at + 1]
        for step in (self.here, place):
            if step is not None and (not left or left[-1] != step):
                left.append(step)
        self._steps = left[-KEPT:]
        self._at = len(self._steps) - 1
        self.here = place

    @property
    def _off(self) -> bool:
        return self._at >= 0 and self.here != self._steps[self._at]

    @property
    def can_go_back(self) -> bool:
        """True when there is a place before this one."""
        return self._at > 0 or self._off

    @property
    def can_go_forward(self) -> bool:
        """True when a place was left by going back."""
        return self._at < len(self._steps) - 1

    def back(self) -> P:
        """The place before this one."""
        if not self._off:
            self._at -= 1
        return self._arrive()

    def forward(self) -> P:
        """The place that was left by going back."""
        self._at += 1
        return self._arrive()

    def _arrive(self) -> P:
        self.here = self._steps[self._at]
        return self.here
