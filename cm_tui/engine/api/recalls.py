"""How often what is remembered was recalled, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cm_tui.engine.api.needs import needs
from cm_tui.model import Actor, Recalls


class RecallsApi(Protocol):
    """Counts of what was in answers: of entries, notes and episodes, by their paths."""

    @needs("nothing")
    def note_recalled(self, paths: Sequence[str], *, actor: Actor = "person", agent: str = "") -> None:
        """Count what somebody was given; nothing is counted in a pause.

        Args:
            paths: such as `entry/k3m9x2a`, each counted once.
            actor: who was given it.
            agent: name of the agent, where one was.
        """

    @needs("nothing")
    def recall_counts(self, paths: Sequence[str]) -> tuple[Recalls, ...]:
        """Return how often each was recalled, when last and by whom, in the order of the paths.

        Args:
            paths: such as `entry/k3m9x2a`.

        Raises:
            StoreError: the counts cannot be read.
        """
