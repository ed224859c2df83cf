"""The user's confirmations that stale items are true: events of the journal, which `undo` undoes."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.engine.memory.episodes.changes import CONFIRMED, texts
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.platform.journal.event import Position
from cm_tui.errors import CmError

Confirmed = frozenset[tuple[str, str]]
"""Path of an item, and the confirmed state of one of its names."""


class Confirmations:
    """The confirmations of one project. `episodes`: of the project; their tables exclude undone changes."""

    def __init__(self, episodes: Episodes) -> None:
        self._episodes = episodes
        self._read: tuple[list[tuple[int, int]], Confirmed] = ([], frozenset())

    def all(self) -> Confirmed:
        """Return all current ones; if the journal is unreadable, the previous ones."""
        try:
            self._episodes.index.follow()
            sql = "SELECT segment, place FROM change WHERE kind = ? AND NOT undone ORDER BY event"
            places = self._episodes.tables.rows(sql, [CONFIRMED])
            if places != self._read[0]:
                self._read = places, frozenset(one for place in places for one in self._at(Position(*place)))
        except CmError:
            return self._read[1]
        return self._read[1]

    def add(self, path: str, fates: Sequence[str], head: str | None) -> str:
        """Record that an item is still true; return the id of the change.

        `fates`: the states of its names; `head`: the commit that is checked out. Raises StoreError if the journal
        cannot be written.
        """
        data = {"path": path, "fates": list(fates), "actor": "person"}
        event = self._episodes.journal.append(CONFIRMED, data, head=head)
        self._episodes.index.follow()
        return event.id

    def _at(self, position: Position) -> list[tuple[str, str]]:
        event = next(self._episodes.journal.read(position), None)
        path = event.data.get("path") if event is not None else None
        if event is None or not isinstance(path, str):
            return []
        return [(path, fate) for fate in texts(event.data.get("fates"))]
