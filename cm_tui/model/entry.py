"""Records of what people and agents wrote down: entries, changes of them, and what agents propose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cm_tui.model.episode import Actor, Forgetting
from cm_tui.model.search import ScorePart

Category = Literal["Knowledge", "Rule", "Experience"]
"""`Knowledge`: how things are; `Rule`: what is to be done or left; `Experience`: what was learned by doing."""
Scope = Literal["user", "project"]
"""`user`: for all projects of this user; `project`: in the project's own file."""
REASON_CHARACTERS = 500
"""What is kept of why something is forgotten, or proposed."""
ProposalKind = Literal["write", "change", "forget"]
"""`write`: an entry for all projects, which is none yet."""
Remembered = Literal["entry", "episode", "note"]
"""What of the memory is meant."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was written down to be remembered.

    Texts are those of people and agents: they may hold control characters. What looked like a secret was taken out before
    they were stored.
    """

    id: str
    """Seven letters and digits."""
    category: Category
    title: str
    content: str
    keywords: tuple[str, ...]
    scope: Scope
    timestamp: int
    """When it was written or last changed: milliseconds since the epoch."""
    actor: Actor = "person"
    """Who wrote it."""
    agent: str = ""
    """Name of the agent that wrote it."""
    changed_by: Actor | Literal[""] = ""
    """Who changed it last, or let an agent change it; empty: unchanged since it was written."""
    changed_agent: str = ""
    """Name of the agent that changed it last."""
    session: str = ""
    commit: str = ""
    """HEAD when it was written; empty: there was none."""
    pinned: bool = False
    never_recall: bool = False
    """It is listed, and in no answer, no pack and nothing that an agent is given."""
    made_from: tuple[str, ...] = ()
    """What it was made from, such as `episode/18ea…`: the episode that was promoted, the entries that were merged into it."""
    redacted: int = 0
    """Number of redacted secrets."""
    held: bool = False
    """Included in the clone and not trusted yet: excluded from every result."""
    unapproved: bool = field(default=False, compare=False)
    """An unapproved Rule: search finds it, but it is never injected."""
    again: bool = field(default=False, compare=False)
    """Already saved: nothing was written."""
    forgotten: Forgetting | None = field(default=None, compare=False)
    """Who forgot it; None: not forgotten."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Warnings from writing it, such as a damaged file that was moved aside."""


@dataclass(frozen=True, slots=True)
class EntryEdit:
    """Changes to an entry; None keeps a field."""

    content: str | None = None
    title: str | None = None
    category: Category | None = None
    keywords: tuple[str, ...] | None = None
    pinned: bool | None = None
    never_recall: bool | None = None


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Two entries that say nearly the same, and why that is thought."""

    first: Entry
    """The one that was written earlier."""
    second: Entry
    likeness: float
    """From 0 to 1: the mean of `words` and `cosine`, or `words` alone."""
    words: float
    """Words that both have, as a share of the words that either has."""
    cosine: float | None
    """Of their vectors; None: one of them has none."""
    only_first: tuple[str, ...]
    """Words that the second one lacks."""
    only_second: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that an agent may not do by itself: it waits until a person accepts or declines it."""

    id: str
    kind: ProposalKind
    of: Remembered
    target: str
    """Id of what it would change."""
    words: str
    """How that begins."""
    reason: str
    agent: str
    session: str
    time: float
    """When it was made: seconds since the epoch."""
    before: Entry | None = None
    """The entry as it was then; None for an episode, and for one that is none yet."""
    after: Entry | None = None
    """The entry as it would be; None: it would be forgotten."""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A change of the memory that was made, or that waits for a person."""

    id: str
    """Of the entry or episode."""
    of: Remembered
    words: str
    """What was done, for people: `forgot the entry k3m9x2a`."""
    change: str = ""
    """Id of the change, for undo; empty: nothing was changed."""
    proposal: str = ""
    """Id of the proposal that was made instead."""
    entry: Entry | None = None
    """The entry as it is now."""


@dataclass(frozen=True, slots=True)
class InjectedEntry:
    """An entry that is given to an agent."""

    entry: Entry
    value: float
    parts: tuple[ScorePart, ...]
    """What the value is the sum of: pinned, rule, recent, used, prompt, files."""
    tokens: int
    """What its line takes, estimated."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry for which there was no room."""

    id: str
    title: str
    value: float


@dataclass(frozen=True, slots=True)
class Injection:
    """Entries as text for a prompt, within a budget."""

    text: str
    """By scope and category, a line an entry: `- [Category] Title: Content`; empty where there is nothing to give."""
    tokens: int
    budget: int
    rows: tuple[InjectedEntry, ...]
    """The most valuable first."""
    left_out: tuple[LeftOut, ...] = ()
    """The most valuable first, at most 200 of them."""
    left_out_total: int = 0
    held: int = 0
    """Entries that came with the repository and wait for trust."""
    never_recall: int = 0
    unapproved: int = 0
    """Number of unapproved Rules."""
    took_ms: float = 0.0
    notes: tuple[str, ...] = ()
    """Warnings about the files."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """What is known about an action that an agent is about to take."""

    kind: Literal["rule", "lesson", "note", "rejected", "failure"]
    path: str
    """Of the memory: `entry/k3m9x2a`, `note/.cm/MEMORY.md`, `episode/…`."""
    text: str


@dataclass(frozen=True, slots=True)
class RecalledBy:
    """How often one person or agent was given something."""

    who: str
    """`person`, or the name of the agent."""
    times: int
    last: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Recalls:
    """How often something was in an answer."""

    path: str
    """Such as `entry/k3m9x2a`."""
    times: int = 0
    last: float | None = None
    """Seconds since the epoch; None: never."""
    by: tuple[RecalledBy, ...] = ()
    """Recipients, latest first."""
