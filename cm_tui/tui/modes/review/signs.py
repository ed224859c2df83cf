"""Signs and words for proposals: what is said of them in a row, and in the panel."""

from __future__ import annotations

from cm_tui.model import NarratedProposal, NarratedState, Relation
from cm_tui.tui.modes.review.inbox import Item
from cm_tui.tui.modes.review.others import flat
from cm_tui.tui.modes.review.query import INCLUDED, OUTDATED, WISH
from cm_tui.tui.widgets.text import one_line

Sign = tuple[str, str]
"""A character and its style."""
REFUSED: Sign = ("▲", "bold $warning")
OF_USER: Sign = ("⌂", "$secondary")
SELECTED: Sign = ("▪", "$accent")
RELATIONS: dict[Relation, tuple[Sign, str]] = {
    "new": (("+", "$success"), "new: nothing like it is written down"),
    "reinforces": (("↑", "$secondary"), "reinforces what is written down"),
    "contradicts": (("≠", "bold $warning"), "contradicts what is written down"),
    "redundant": (("≈", "$muted"), "says what is written down already"),
}
"""How a proposal stands to what is known."""
OTHERS: dict[str, Sign] = {WISH: ("?", "bold $warning"), OUTDATED: ("†", "$warning"), INCLUDED: ("◌", "$warning")}
STATES: dict[NarratedState, tuple[Sign, str]] = {
    "waiting": ((" ", ""), "waits for you"),
    "deferred": (("◷", "$secondary"), "put off"),
    "approved": (("✓", "$success"), "approved"),
    "rejected": (("✗", "$muted"), "rejected"),
}
_KINDS: dict[str, str] = {
    "command": "command", "workflow": "workflow", "fix": "error and fix", "statement": "said by a person",
    "decision": "decision", "rejected": "turned down", "correction": "correction of an agent",
    "cochange": "changes together", "convention": "convention", "stale": "no longer true", "topic": "topics",
    "size": "size of a note", WISH: "an agent's request about an entry",
    OUTDATED: "memory that names missing code", INCLUDED: "entry included in the clone",
}  # fmt: skip


def kind_of(item: Item) -> str:
    """Return the kind of an item, as the filter has it."""
    return item.kind


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
