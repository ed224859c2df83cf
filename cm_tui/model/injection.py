"""Records of memory as it is given to an agent: which entries, and why these."""

from __future__ import annotations

from dataclasses import dataclass

from cm_tui.model.entry import Entry
from cm_tui.model.search import ScorePart


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
