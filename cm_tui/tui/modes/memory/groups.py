"""The groups in which entries and notes are listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui.model import Entry, Note, Proposal

Item = Entry | Note | Proposal
"""What a row of the list is about."""


@dataclass(frozen=True)
class Group:
    """Rows below one heading."""

    key: str
    """Its kind, as the filter has it."""
    title: str
    holds: Literal["proposals", "entries", "notes"]


GROUPS = (
    Group("proposal", "Agents propose", "proposals"),
    Group("rule", "Rules", "entries"),
    Group("knowledge", "Knowledge", "entries"),
    Group("experience", "Experience", "entries"),
    Group("long-term", "Long-term memory", "notes"),
    Group("day", "Logs of days", "notes"),
    Group("topic", "Topics", "notes"),
    Group("project", "Notes of the project", "notes"),
    Group("user", "Your own notes", "notes"),
    Group("extra", "More folders", "notes"),
    Group("instructions", "Instructions for agents", "notes"),
)
KINDS = tuple(group.key for group in GROUPS if group.holds != "proposals")


def is_same(one: Item | None, other: Item | None) -> bool:
    """Return whether nothing of an item has changed; that a Rule was approved is no part of what it says."""
    if isinstance(one, Entry) and isinstance(other, Entry) and one.unapproved != other.unapproved:
        return False
    return one == other


def key_of(item: Item) -> tuple[str, str]:
    """Return what names an item among all others."""
    kind = "entry" if isinstance(item, Entry) else "note" if isinstance(item, Note) else "proposal"
    return kind, item.id
