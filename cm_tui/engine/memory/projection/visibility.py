"""Erased events and hidden episodes of a journal, from later events."""

from __future__ import annotations

from cm_tui.engine.platform.journal.archive import ARCHIVED
from cm_tui.engine.platform.journal.event import ERASURE, Event

FORGOTTEN = "episode.forgotten"
"""Kind of the event that hides episodes."""
REPLACED_BY = "replaced_by"
"""Field of such an event: the episode that holds all that the hidden ones do."""
RESTORED = "episode.restored"
"""Kind of the event that shows them again."""
PURGED = "episode.purged"
"""Kind of the event behind which they are in no archive either."""
UNDONE = "change.undone"
"""Kind of the event that takes a change back: it names the change, and what that was about."""
_OF_NO_EPISODE = frozenset({"entry.changed", "note.changed"})
"""Changes of these kinds hide no episode, so undoing one shows none."""


def ids_of(event: Event) -> frozenset[str]:
    """Return the ids in an event; unexpected values are skipped."""
    return frozenset(event.texts("ids"))


def change_of(event: Event) -> str:
    """Return the change that an event belongs to, or undoes; by default its own."""
    return event.text("change") or event.id


class Visibility:
    """Ids that are not to be shown, from a journal's events in their order."""

    def __init__(self) -> None:
        self.erased: set[str] = set()
        """Events missing in the journal."""
        self.restored: set[str] = set()
        """Episodes that may have been hidden before, perhaps before the first event read."""
        self._said: list[tuple[str, bool, frozenset[str]]] = []
        """Episodes hidden or shown again, by change."""
        self._undone: set[str] = set()
        self._forgotten: set[str] | None = set()

    @property
    def forgotten(self) -> set[str]:
        """Return the hidden ids, without undone changes."""
        if self._forgotten is None:
            self._forgotten = set()
            for change, hides, ids in self._said:
                if change not in self._undone:
                    self._forgotten.update(ids) if hides else self._forgotten.difference_update(ids)
        return self._forgotten

    def follow(self, event: Event) -> None:
        """Take in an event."""
        if event.kind in (ERASURE, ARCHIVED, PURGED):
            self.erased |= ids_of(event)
        elif event.kind in (FORGOTTEN, RESTORED):
            self._say(change_of(event), event.kind == FORGOTTEN, ids_of(event))
        elif event.kind == UNDONE:
            self._undone.add(change_of(event))
            # A recording by hand is undone, and so hidden, by its own id.
            self._say(event.id, True, frozenset({change_of(event)}))
            if event.data.get("kind") not in _OF_NO_EPISODE:
                self.restored |= ids_of(event)

    @property
    def hidden(self) -> set[str]:
        """Return the ids that are erased, in the archive, or forgotten."""
        return self.erased | self.forgotten

    def _say(self, change: str, hides: bool, ids: frozenset[str]) -> None:
        self._said.append((change, hides, ids))
        self._forgotten = None
        self.restored = self.restored - ids if hides else self.restored | ids
