"""Which events of a journal are erased, which episodes are hidden: what later events say about earlier ones."""

from __future__ import annotations

from cm_tui.engine.journal import Event
from cm_tui.engine.journal.event import ERASURE

FORGOTTEN = "episode.forgotten"
"""Kind of the event that hides episodes."""
RESTORED = "episode.restored"
"""Kind of the event that shows them again."""


def ids_of(event: Event) -> frozenset[str]:
    """Return the ids that an event speaks of; what is not as expected is left out."""
    ids = event.data.get("ids")
    return frozenset(one for one in ids if isinstance(one, str)) if isinstance(ids, list) else frozenset()


class Visibility:
    """Ids that are not to be shown, from a journal's events in their order."""

    def __init__(self) -> None:
        self.erased: set[str] = set()
        self.forgotten: set[str] = set()
        self.restored: set[str] = set()
        """Those that were hidden before, perhaps before the first event that was followed."""

    def follow(self, event: Event) -> None:
        """Take in an event."""
        if event.kind == ERASURE:
            self.erased |= ids_of(event)
        elif event.kind == FORGOTTEN:
            self.forgotten |= ids_of(event)
            self.restored -= ids_of(event)
        elif event.kind == RESTORED:
            self.forgotten -= ids_of(event)
            self.restored |= ids_of(event)

    @property
    def hidden(self) -> set[str]:
        """Return the ids that are erased or forgotten."""
        return self.erased | self.forgotten
