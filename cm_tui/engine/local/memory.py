"""The memory, in this process."""

from __future__ import annotations

from cm_tui.engine.local.rooms import LocalRooms
from cm_tui.model import Episode, Page


class LocalMemory(LocalRooms):
    """Episodes of agents' sessions."""

    def episodes(self, *, match: str = "", before: str | None = None, limit: int = 200) -> Page[Episode]:
        """Return what agents' sessions recorded, newest first, without patches."""
        return self._episodes.page(match, before, limit)

    def episode(self, name: str) -> Episode:
        """Return one of them, whole."""
        return self._episodes.one(name)

    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw."""
        return self._episodes.ordinals()
