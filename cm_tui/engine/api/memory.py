"""The memory: what agents' sessions recorded."""

from __future__ import annotations

from typing import Protocol

from cm_tui.engine.api.needs import needs
from cm_tui.model import Episode, Page


class MemoryApi(Protocol):
    """Episodes of agents' sessions, by every checkout of the project."""

    @needs("head")
    def episodes(self, *, match: str = "", before: str | None = None, limit: int = 200) -> Page[Episode]:
        """Return what agents' sessions recorded, newest first, without patches.

        Args:
            match: only those that have these words in prompts, answer, agent, session, paths, day, sha or `#17`.
            before: the id of the last one of a page asks for the next page.
            limit: how many at most; the total counts all that match, whatever `before` is.
        """

    @needs("head")
    def episode(self, name: str) -> Episode:
        """Return one of them whole, with its patch and the revision that it can be replayed at.

        Args:
            name: its id, or a beginning that no other has; `last` is the newest.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
        """

    @needs("nothing")
    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw, in order."""
