"""The review queue: the narrator's proposals, agents' requests, stale memories and entries included in the clone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from cm_tui.errors import CmError, StoreError
from cm_tui.model import Entry, FactKind, NarratedFilter, NarratedProposal, NarratedState, Proposal, Relation, StaleItem
from cm_tui.model.dates import age
from cm_tui.tui.state.filter_line import one_of, read_fields
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.text import flat, one_line

WISH, OUTDATED, INCLUDED = "entry", "outdated", "included"
"""Kinds of other sources: an agent's request about an entry, a memory that names missing code, an entry of the clone."""
KINDS: tuple[str, ...] = (*get_args(FactKind), WISH, OUTDATED, INCLUDED)
FILTERED_STATES: dict[str, tuple[NarratedState, ...]] = {
    "waiting": ("waiting",), "deferred": ("deferred",), "decided": ("approved", "rejected"), "automatic": ("approved",),
    "approved": ("approved",), "rejected": ("rejected",), "all": (),
}  # fmt: skip
"""What of them is listed; `automatic`: what a policy approved."""
SHOWN = ("waiting", "deferred", "decided", "automatic", "all")
"""Those that a key goes through in turn."""
_WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """What is listed."""

    text: str = ""
    """Words, each of which has to stand there."""
    kinds: tuple[str, ...] = ()
    """Kinds of proposals; empty: all of them."""
    state: str = _WAITING

    @property
    def narrated(self) -> NarratedFilter | None:
        """The filter for topics of the narrator; None: none of them are listed."""
        kinds = tuple(kind for kind in get_args(FactKind) if kind in self.kinds)
        if self.kinds and not kinds:
            return None
        policy = True if self.state == "automatic" else None
        return NarratedFilter(FILTERED_STATES[self.state], kinds, self.text, policy)

    def wants(self, kind: str, *texts: str) -> bool:
        """Return whether an item of another source matches; it waits, as long as it is listed."""
        text = "\n".join(texts).lower()
        is_listed = self.state in (_WAITING, "all") and (not self.kinds or kind in self.kinds)
        return is_listed and all(word in text for word in self.text.lower().split())


def read_line(text: str) -> tuple[InboxFilter, str]:
    """Parse a filter line; return the filter and the problems, without invalid terms."""
    words, found, wrong = read_fields(text, {"kind": KINDS, "state": FILTERED_STATES}, many=("kind",))
    return InboxFilter(words, found["kind"], one_of(found["state"], _WAITING)), wrong


@dataclass(frozen=True, slots=True)
class Other:
    """An item of another source than the narrator."""

    kind: str
    id: str
    title: str
    """One line."""
    facts: str
    """Who and when, or what is wrong."""
    record: Proposal | StaleItem | Entry


def session_of(item: Other) -> str:
    """Return the session that asked for it, or wrote it."""
    return item.record.session if isinstance(item.record, Proposal | Entry) else ""


def cannot_fix(item: Item | None) -> str | None:
    """Return why approving cannot fix an outdated memory; None for all other items."""
    record = item.record if isinstance(item, Other) else None
    if not isinstance(record, StaleItem):
        return None
    if record.kind != "entry":
        return "it is your own file: e opens it in Memory, d keeps it, x archives it"
    return None if any(one.became for one in record.flagged) else "the new name is unknown: e edits it, d keeps it"


def read_others(engine: Engine) -> tuple[list[Other], list[str]]:
    """Return the items of all other sources, and why one of them cannot be read."""
    found: list[Other] = []
    notes: list[str] = []
    for items in (_agent_proposals(engine), _included(engine.root), _outdated(engine)):
        try:
            found += items
        except StoreError as error:
            # The others can be read, and are shown.
            notes.append(error.one_line)
    return found, notes


def _agent_proposals(engine: Engine) -> Iterator[Other]:
    for one in engine.proposals().rows:
        words = flat(one.words)
        title = f"{one.kind} {one.of}: {words}" if words else f"{one.kind} the {one.of} {one_line(one.target)}"
        why = f" · {flat(one.reason)}" if one.reason else ""
        yield Other(
            WISH, one.id, title, f"{one_line(one.agent) or 'an agent'}, {age(time.time() - one.time)}{why}", one
        )


def _included(root: Path) -> Iterator[Other]:
    from cm_tui.engine.api.entry_trust import undecided

    for one in undecided(root):
        yield Other(
            INCLUDED, one.id, flat(one.title), f"[{one.category}] {age(time.time() - one.timestamp / 1000)}", one
        )


def _outdated(engine: Engine) -> Iterator[Other]:
    # Without an index there is nothing to compare names with.
    with suppress(CmError):
        for one in engine.stale_items().rows:
            yield Other(OUTDATED, one.path, flat(one.title), flat(one.words), one)


Sign = tuple[str, str]
"""A character and its style."""
REFUSED: Sign = ("▲", "bold $warning")
OF_USER: Sign = ("⌂", "$secondary")
SELECTED: Sign = ("▪", "$accent")
RELATIONS: dict[Relation, tuple[Sign, str]] = {
    "new": (("+", "$success"), "new: not saved yet"),
    "reinforces": (("↑", "$secondary"), "reinforces a saved memory"),
    "contradicts": (("≠", "bold $warning"), "contradicts a saved memory"),
    "redundant": (("≈", "$muted"), "already saved"),
}
"""How a proposal stands to what is known."""
OTHERS: dict[str, Sign] = {WISH: ("?", "bold $warning"), OUTDATED: ("†", "$warning"), INCLUDED: ("◌", "$warning")}
STATES: dict[NarratedState, tuple[Sign, str]] = {
    "waiting": ((" ", ""), "waiting"),
    "deferred": (("◷", "$secondary"), "deferred"),
    "approved": (("✓", "$success"), "approved"),
    "rejected": (("✗", "$muted"), "rejected"),
}
_KINDS: dict[str, str] = {
    "command": "command", "workflow": "workflow", "fix": "error and fix", "statement": "stated by a user",
    "decision": "decision", "rejected": "rejected idea", "correction": "correction of an agent",
    "cochange": "changes together", "convention": "convention", "stale": "no longer true", "topic": "topics",
    "size": "size of a note", WISH: "an agent's request about an entry",
    OUTDATED: "memory that names missing code", INCLUDED: "entry included in the clone",
}  # fmt: skip


def kind_words(kind: str) -> str:
    """Return what a kind is, in words."""
    return _KINDS.get(kind, kind)


def sign_of(item: Item, *, refused: bool) -> Sign:
    """Return the most pressing thing there is to say of an item."""
    if refused:
        return REFUSED
    if not isinstance(item, NarratedProposal):
        return OTHERS[item.kind]
    if item.state != "waiting":
        return STATES[item.state][0]
    return RELATIONS[item.relation][0]


def title_of(item: Item) -> str:
    """Return what an item says, in one line."""
    if not isinstance(item, NarratedProposal):
        return item.title
    return flat(item.text) or flat(item.old) or item.id


def place_of(note_id: str) -> str:
    """Return the short name of a note: `project`, `topics/router`, `user:preferences`."""
    name = one_line(note_id).removeprefix(".cm/notes/")
    return name.removesuffix(".md")


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
