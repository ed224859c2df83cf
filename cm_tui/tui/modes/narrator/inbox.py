"""What waits for a person, and what was decided: proposals of the narrator, and what agents wish to do with entries."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cm_tui.errors import CmError, StoreError
from cm_tui.model import NarratedFilter, NarratedProposal, NarratedState, Proposal
from cm_tui.tui.modes.narrator.query import ENTRY, InboxFilter
from cm_tui.tui.widgets.text import one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

Item = NarratedProposal | Proposal
"""What a row of the list is about: a `Proposal` is what an agent wishes to do with an entry."""
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
    """Return what names an item among all others."""
    return ("narrated" if isinstance(item, NarratedProposal) else ENTRY), item.id


def state_of(item: Item) -> NarratedState:
    """Return what became of an item so far; what agents wish to do with entries waits."""
    return item.state if isinstance(item, NarratedProposal) else "waiting"


def read_inbox(engine: Engine, where: InboxFilter, limit: int) -> Inbox:
    """Ask for what fits.

    Args:
        engine: is asked.
        where: what is wanted.
        limit: how many rows at most.
    """
    notes: list[str] = []
    wishes: tuple[Proposal, ...] = ()
    try:
        every = engine.proposals().rows
        wishes = tuple(one for one in every if where.has_words(one.words, one.reason, one.agent, one.target))
    except StoreError as error:
        # The others can be read, and are shown.
        every = ()
        notes.append(f"{error.message} {error.hint}".strip())
    listed: tuple[Item, ...] = wishes if where.wants_wishes else ()
    total = len(listed)
    if (narrated := where.narrated) is not None:
        page = engine.narrated(narrated, limit=limit)
        listed, total = (*listed, *page.rows), total + page.total
        notes += [page.note] if page.note else []
    waiting, deferred = _count(engine, "waiting") + len(every), _count(engine, "deferred")
    has_episodes = bool(total or waiting or deferred) or _has_episodes(engine)
    return Inbox(listed, total, waiting, deferred, tuple(dict.fromkeys(map(one_line, notes))), has_episodes)


def _count(engine: Engine, state: NarratedState) -> int:
    return engine.narrated(NarratedFilter((state,)), limit=1).total


def _has_episodes(engine: Engine) -> bool:
    with suppress(CmError):
        return bool(engine.episodes(limit=1).total)
    # What cannot be told is no reason to say that there are none.
    return True
