"""Taking over the events of another journal."""

from __future__ import annotations

import json
from typing import Any

from cm_tui.engine.journal.event import without_secrets
from cm_tui.engine.journal.journal import START, Journal


def take_over(source: Journal, target: Journal) -> int:
    """Copy the events of a journal that another one does not have, as they are; gives how many.

    Whoever is killed in between runs it again: what was copied is known by its id.

    Raises:
        StoreError: one of them cannot be read or written.
    """
    known = {event.id for event in target.read(START)}
    copied = 0
    for event in source.read(START):
        if event.id not in known:
            fields: dict[str, Any] = {"id": event.id, "time": event.time, "kind": event.kind, "head": event.head}
            fields["data"] = without_secrets(event.data)
            target.append_line(json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
            copied += 1
    return copied
