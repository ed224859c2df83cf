"""Who forgot an item, when and why, from its event."""

from __future__ import annotations

from cm_tui.engine.memory.entries.entry_record import storable
from cm_tui.engine.platform.journal.event import Event
from cm_tui.model import Forgetting
from cm_tui.model.entry import REASON_CHARACTERS


def forgetting_of(event: Event) -> Forgetting:
    """Return who forgot an item, from the event."""
    actor, agent, reason = (_text(event.data.get(name)) for name in ("actor", "agent", "reason"))
    return Forgetting(actor or "person", agent, event.time, reason)


def _text(found: object) -> str:
    return " ".join(storable(found).split())[:REASON_CHARACTERS] if isinstance(found, str) else ""
