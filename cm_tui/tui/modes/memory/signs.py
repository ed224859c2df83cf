"""Signs and words for entries and notes: what is said of them in a row, and in the panel."""

from __future__ import annotations

from textual.content import Content

from cm_tui.model import Entry, Note, Proposal
from cm_tui.tui.modes.memory.about import Marks
from cm_tui.tui.modes.memory.groups import Item
from cm_tui.tui.widgets.text import one_line

PINNED, HELD, FORGOTTEN, OF_USER, PROBLEM = "★", "◌", "✗", "⌂", "▲"
NEVER, UNAPPROVED, DOUBLE, PROPOSED = "⊘", "!", "≈", "?"
_LONGEST = 400


def signs_of(item: Item, marks: Marks) -> Content:
    """Return two cells: the most pressing thing there is to say of an item, then whether it is pinned, and whose it is."""
    if isinstance(item, Proposal):
        return Content.styled(f"{PROPOSED} ", "bold $warning")
    pressing = _pressing(item, marks)
    if isinstance(item, Entry) and item.pinned:
        return Content.assemble(pressing, (PINNED, "$accent"))
    return Content.assemble(pressing, (OF_USER, "$secondary") if item.scope == "user" else " ")


def _pressing(item: Entry | Note, marks: Marks) -> tuple[str, str]:
    if isinstance(item, Note):
        return (PROBLEM, "$warning") if item.problem or marks.is_stale(item) else (" ", "")
    found = (
        (item.forgotten is not None, FORGOTTEN, "$muted"),
        (item.held, HELD, "$warning"),
        (item.unapproved, UNAPPROVED, "bold $warning"),
        (marks.is_stale(item), PROBLEM, "$warning"),
        (marks.has_double(item), DOUBLE, "$accent"),
        (item.never_recall, NEVER, "$muted"),
    )
    return next(((sign, style) for holds, sign, style in found if holds), (" ", ""))


def title_of(item: Entry | Note) -> str:
    """Return what an entry or a note is called, in one line."""
    return " ".join(one_line(item.title[:_LONGEST]).split()) or one_line(item.id)


def name_of(item: Item) -> str:
    """Return what an item is called, for a question about it."""
    return " ".join(one_line(item.words[:_LONGEST]).split()) if isinstance(item, Proposal) else title_of(item)
