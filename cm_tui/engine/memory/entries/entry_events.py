"""States of entries in events of the journal, before and after a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cm_tui.engine.memory.entries.entry_record import entry_data
from cm_tui.engine.memory.entries.ledger import entry_in
from cm_tui.engine.platform.journal.event import Event
from cm_tui.model import Entry
from cm_tui.model.author import Author

CHANGED = "entry.changed"
"""Kind of the event with entries before and after a change."""
REVERTED = "entry.reverted"
"""Kind of the event that records an undone change; it cannot itself be undone."""
APPROVED = "entry.approved"
"""Kind of the event for the approval of a Rule."""
_STATES = 200
"""Of one event, at most: so many entries become one at once."""


class State(NamedTuple):
    """One entry before a change and after it: in another scope where it was moved.

    Attributes:
        before: None: there was none.
        after: None: it was forgotten.
    """

    before: Entry | None
    after: Entry | None

    @property
    def told(self) -> Entry:
        """Return the entry that it is about."""
        told = self.before or self.after
        assert told is not None
        return told

    @property
    def is_move(self) -> bool:
        """Return whether the entry moves to another scope."""
        return self.before is not None and self.after is not None and self.before.scope != self.after.scope


def event_data(states: Sequence[State], author: Author, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event data of a change: the first entry, then the others."""
    first, *others = states
    told = {"also": [_plain(one) for one in others]} if others else {}
    who = {"actor": author.actor, "agent": author.agent, "session": author.session}
    return {"scope": first.told.scope, "id": first.told.id, **_plain(first), **told, **who, **more}


def states_of(data: Mapping[str, Any]) -> tuple[State, ...]:
    """Return the states of entries in an event of the kinds above; invalid ones are skipped."""
    others = data.get("also")
    each = [data, *(others[:_STATES] if isinstance(others, list) else ())]
    found = (State(entry_in(one.get("before")), entry_in(one.get("after"))) for one in each if isinstance(one, Mapping))
    return tuple(one for one in found if one.before is not None or one.after is not None)


def ids_told(event: Event) -> tuple[str, ...]:
    """Return the ids of the entries in such an event."""
    own = event.data.get("id")
    return tuple(
        dict.fromkeys((*([own] if isinstance(own, str) else ()), *(one.told.id for one in states_of(event.data))))
    )


def is_sound(data: Mapping[str, Any]) -> bool:
    """Return whether data is only about a change of entries."""
    others = data.get("also", [])
    if not isinstance(others, list) or not all(isinstance(one, Mapping) for one in others):
        return False
    return all(_is_state(one) for one in (data, *others))


def _is_state(data: Mapping[str, Any]) -> bool:
    states = [data.get("before"), data.get("after")]
    return any(states) and all(one is None or entry_in(one) is not None for one in states)


def _plain(state: State) -> dict[str, Any]:
    named = {"before": state.before, "after": state.after}
    return {name: None if one is None else entry_data(one) for name, one in named.items()}
