"""Valid data of a backup's events: the types that later events and `cm undo` rely on, by known kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cm_tui.engine.memory.entries import entry_events
from cm_tui.engine.memory.entries.entry_events import CHANGED, REVERTED

_FAMILIES = ("entry.", "episode.", "change.", "memory.", "narrator.")
"""Prefixes of the checked kinds, whose data is acted upon."""


def is_sound(kind: str, data: Mapping[str, Any]) -> bool:
    """Return whether an event's data has the types that readers of the journal expect."""
    if not kind.startswith(_FAMILIES):
        return True
    if not all(fits(data[name]) for name, fits in _FIELDS.items() if data.get(name) is not None):
        return False
    return kind not in (CHANGED, REVERTED) or entry_events.is_sound(data)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_rating(value: object) -> bool:
    return not isinstance(value, bool) and value in (-1, 0, 1)


_FIELDS: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("id", "scope", "change", "kind", "actor", "agent", "session", "proposal", "target"), _is_text),
    **dict.fromkeys(("ids", "add_tags", "remove_tags", "claims", "stands_on"), _are_texts),
    "pinned": _is_flag,
    "rating": _is_rating,
}
"""Type of an optional field."""
