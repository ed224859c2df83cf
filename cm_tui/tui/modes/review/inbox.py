"""The review queue: the narrator's proposals, agents' requests, stale memories and entries included in the clone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.model import NarratedFilter, NarratedProposal, NarratedState
from cm_tui.tui.modes.review.others import Other, read_others
from cm_tui.tui.modes.review.query import InboxFilter
from cm_tui.tui.widgets.text import one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

Item = NarratedProposal | Other
"""What a row of the list is about."""
Key = tuple[str, str]
PAGE = 200
"""Rows that are read at first."""


@dataclass(frozen=True)
class Inbox:
    """What fits a filter: as many rows as were looked at, and honest totals."""

    rows: tuple[Item, ...] = ()
    total: int = 0
    waiting: int = 0
    """All that wait for a person, whatever is filtered."""
    deferred: int = 0
    notes: tuple[str, ...] = ()
    """Warnings."""
    has_episodes: bool = True
    """False: nothing was recorded, so nothing can be proposed."""


def key_of(item: Item) -> Key:
    """Return a name for an item, unique among all."""
    return ("narrated" if isinstance(item, NarratedProposal) else item.kind), item.id


def state_of(item: Item) -> NarratedState:
    """Return the state of an item; items of other sources wait."""
    return item.state if isinstance(item, NarratedProposal) else "waiting"


def read_inbox(engine: Engine, where: InboxFilter, limit: int) -> Inbox:
    """Ask for the items that match a filter.

    Args:
        engine: is asked.
        where: the filter.
        limit: most rows.
    """
    others, notes = read_others(engine)
    listed: tuple[Item, ...] = tuple(one for one in others if where.wants(one.kind, one.title, one.facts))
    total = len(listed)
    if (narrated := where.narrated) is not None:
        page = engine.narrated(narrated, limit=limit)
        listed, total = (*listed, *page.rows), total + page.total
        notes += [page.note] if page.note else []
    waiting, deferred = _count(engine, "waiting") + len(others), _count(engine, "deferred")
    has_episodes = bool(total or waiting or deferred) or _has_episodes(engine)
    return Inbox(listed, total, waiting, deferred, tuple(dict.fromkeys(map(one_line, notes))), has_episodes)


def _count(engine: Engine, state: NarratedState) -> int:
    return engine.narrated(NarratedFilter((state,)), limit=1).total


def _has_episodes(engine: Engine) -> bool:
    with suppress(CmError):
        return bool(engine.episodes(limit=1).total)
    # What cannot be told is no reason to say that there are none.
    return True
