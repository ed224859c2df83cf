"""Events about proposals of the narrator: what was decided, and the words of what it was decided on.

What was decided holds digests and ids alone, and stays. The words are events of their own, which go where the proposal is
erased, or an episode that they stand on.
"""

from __future__ import annotations

from cm_tui.engine.journal.event import Event

FAMILY = "narrator."
"""Beginning of the kinds of all such events."""
DECIDED = "narrator.decided"
"""Kind of the event that says what was decided on a proposal."""
WORDED = "narrator.worded"
"""Kind of the event that has the words of a proposal as it was decided on; it stands before the one that decides."""
PROPOSED = "narrator.proposed"
"""Kind of the event that has the words of an agent that proposes something."""
STANDS_ON = "stands_on"
"""Field that names episodes: an event that has it goes with any of them that is erased."""


def stands_on(event: Event) -> frozenset[str]:
    """Return the ids of the episodes with which an event goes."""
    ids = event.data.get(STANDS_ON)
    return frozenset(one for one in ids if isinstance(one, str)) if isinstance(ids, list) else frozenset()


def worded_of(event: Event) -> str:
    """Return the id of the proposal whose words an event has; empty: it has those of none."""
    name = event.data.get("proposal") if event.kind in (WORDED, PROPOSED) else ""
    return name if isinstance(name, str) else ""
