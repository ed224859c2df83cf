"""Signs and words for entries and notes: what is said of them in a row, and in the panel."""

from __future__ import annotations

from cm_tui.model import Entry, Note, Proposal
from cm_tui.tui.widgets.text import one_line

PINNED, HELD, FORGOTTEN, OF_USER, PROBLEM = "★", "◌", "✗", "⌂", "▲"
_LONGEST = 400


def entry_sign(entry: Entry) -> tuple[str, str]:
    """Return the sign of an entry and its style: the most pressing thing there is to say."""
    if entry.forgotten is not None:
        return FORGOTTEN, "$muted"
    if entry.held:
        return HELD, "$warning"
    if entry.pinned:
        return PINNED, "$accent"
    return (OF_USER, "$secondary") if entry.scope == "user" else (" ", "")


def note_sign(note: Note) -> tuple[str, str]:
    """Return the sign of a note and its style."""
    if note.problem:
        return PROBLEM, "$warning"
    return (OF_USER, "$secondary") if note.scope == "user" else (" ", "")


def title_of(item: Entry | Note) -> str:
    """Return what an entry or a note is called, in one line."""
    return " ".join(one_line(item.title[:_LONGEST]).split()) or one_line(item.id)


def name_of(item: Entry | Note | Proposal) -> str:
    """Return what an item is called, for a question about it."""
    return " ".join(one_line(item.words[:_LONGEST]).split()) if isinstance(item, Proposal) else title_of(item)
