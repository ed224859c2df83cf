"""Which episodes the row of a list stands for: those of a session, of every one, or what was recorded by hand."""

from __future__ import annotations

from dataclasses import replace

from cm_tui.model import EpisodeFilter

EVERY = ""
"""The key of all episodes; that of a session is its id."""
BY_HAND = "\0by hand"
"""The key of what was recorded by hand, or in no session: no session has such an id."""


def of_key(where: EpisodeFilter, key: str | None) -> EpisodeFilter:
    """Return what of the episodes that fit a filter belongs to the row of a key."""
    if key == BY_HAND:
        return replace(where, by_hand=True)
    return replace(where, session=key or where.session)


def is_session(key: str | None) -> bool:
    """Return whether a key is the id of a session."""
    return bool(key) and key != BY_HAND
