"""Recall counts of remembered items, and a session's own cache."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui import model
from cm_tui.engine.api.needs import needs
from cm_tui.engine.api.rooms import Rooms


class RecallMethods(Rooms):
    """Recall counts of entries, notes and episodes by path, and a small cache for each session."""

    @needs("nothing", writes=("log",))
    def note_recalled(self, paths: Sequence[str], *, actor: model.Actor = "person", agent: str = "") -> None:
        """Count recalled items; nothing is counted in a pause.

        `paths`: such as `entry/k3m9x2a`, each counted once; `actor`: who received them; `agent`: name of the agent, if
        any.
        """
        if paths and not self._why_not_recorded():
            self._recall_log.note(paths, actor if actor == "person" else agent or actor)

    @needs("nothing")
    def recall_counts(self, paths: Sequence[str]) -> tuple[model.Recalls, ...]:
        """Return how often each was recalled, when last and by whom, in the order of the paths.

        `paths`: such as `entry/k3m9x2a`. Raises StoreError if the counts cannot be read.
        """
        found = self._recall_log.counts(set(paths))
        return tuple(found.get(path) or model.Recalls(path) for path in paths)

    @needs("nothing", writes=("log",))
    def cache_for_session(self, session: str, key: str, value: str) -> None:
        """Cache a text for a session for half an hour, with secrets redacted; the oldest of more than three is dropped.

        `session`: its id; other sessions and projects do not see it. `value`: the text, at most 100,000 characters.
        Raises UsageError: session or name is missing, or something is too long; StoreError if it cannot be written.
        """
        from cm_tui.engine.memory.recalls.session_cache import SessionCache

        SessionCache(self._root, session).put(key, value)

    @needs("nothing")
    def cached_for_session(self, session: str, key: str) -> str | None:
        """Return a session's cached text; None: missing or expired.

        Raises UsageError if no session is given.
        """
        from cm_tui.engine.memory.recalls.session_cache import SessionCache

        return SessionCache(self._root, session).get(key)
