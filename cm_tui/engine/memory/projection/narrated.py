"""Events about the narrator's proposals: decisions, and the texts decided on.

Decisions contain only digests and ids, and stay. The texts are separate events, which are erased with the proposal, or
with an episode of its evidence.
"""

from __future__ import annotations

from cm_tui.engine.platform.journal.event import Event

FAMILY = "narrator."
"""Prefix of the kinds of all such events."""
DECIDED = "narrator.decided"
"""Kind of the event for a decision on a proposal."""
WORDED = "narrator.worded"
"""Kind of the event with the text of a decided proposal; it precedes the decision."""
PROPOSED = "narrator.proposed"
"""Kind of the event with an agent's proposal."""
STANDS_ON = "stands_on"
"""Field with episode ids: an event is erased with any of them."""


def worded_of(event: Event) -> str:
    """Return the id of the proposal whose text is in an event; empty: none."""
    return event.text("proposal") if event.kind in (WORDED, PROPOSED) else ""
