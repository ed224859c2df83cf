"""Counts of what was recalled, in this process."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.engine.local.rooms import LocalRooms
from cm_tui.model import Actor, Recalls


class LocalRecalls(LocalRooms):
    """How often what is remembered was in an answer."""

    def note_recalled(self, paths: Sequence[str], *, actor: Actor = "person", agent: str = "") -> None:
        """Count what somebody was given."""
        from cm_tui.engine.recording.gate import why_not

        if paths and not why_not(self._root, ""):
            self._recall_log.note(paths, actor if actor == "person" else agent or actor)

    def recall_counts(self, paths: Sequence[str]) -> tuple[Recalls, ...]:
        """Return how often each was recalled."""
        found = self._recall_log.counts(set(paths))
        return tuple(found.get(path) or Recalls(path) for path in paths)

    def cache_for_session(self, session: str, key: str, value: str) -> None:
        """Keep a text for a session for half an hour."""
        from cm_tui.engine.recalls.session_cache import SessionCache

        SessionCache(self._root, session).put(key, value)

    def cached_for_session(self, session: str, key: str) -> str | None:
        """Return what a session keeps by a name."""
        from cm_tui.engine.recalls.session_cache import SessionCache

        return SessionCache(self._root, session).get(key)
