"""Entries and notes below the headings of their groups."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import Entry, Note
from cm_tui.model.dates import local_day, short_age
from cm_tui.tui.modes.memory.groups import Group, Item, Marks, key_of, signs_of, title_of
from cm_tui.tui.modes.memory.inventory import Inventory
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_path, number_of, one_line

_LEAST_TITLE = 16
_LOOKED_AT = 400
"""Characters of a text that a row begins with."""


@dataclass(frozen=True)
class HeadingRow:
    """The name of a group, and how much is in it."""

    group: Group
    read: int
    total: int


@dataclass(frozen=True)
class ItemRow:
    """An entry or a note."""

    group: Group
    item: Item


@dataclass(frozen=True)
class UnreadRow:
    """A row of a group that was not read yet."""

    group: Group


Row = HeadingRow | ItemRow | UnreadRow


def rows_of(inventory: Inventory) -> list[Row]:
    """Return the rows of all groups, also those that are still to be read: the list is as long as it will be."""
    rows: list[Row] = []
    for page in inventory.pages:
        rows.append(HeadingRow(page.group, len(page.items), page.total))
        rows += [ItemRow(page.group, item) for item in page.items]
        rows += [UnreadRow(page.group)] * (page.total - len(page.items))
    return rows


class ItemList(RowList[Row]):
    """Rows below headings; asks for rows that come on screen and are not read yet."""

    marks = Marks()
    """What rows are marked with, as far as that was asked."""

    @property
    def item(self) -> Item | None:
        """What the row under the cursor is about."""
        row = self.current
        return row.item if isinstance(row, ItemRow) else None

    def is_heading(self, row: Row) -> bool:
        """Return whether a row is the name of a group."""
        return isinstance(row, HeadingRow)

    def key_of(self, row: Row) -> Hashable:
        """Return the name of an item, or of a group."""
        return key_of(row.item) if isinstance(row, ItemRow) else row.group if self.is_heading(row) else None

    def read_of(self, group: Group, many: int) -> int:
        """Return how many rows of a group are among the first rows of the list."""
        return many - 1 - (self.place_of(group) or 0)

    def jump(self, by: int) -> bool:
        """Go to the first row of the group after this one, or before it; return whether there was one."""
        heads = [place for place, row in enumerate(self.rows) if self.is_heading(row)]
        if by > 0:
            goal = next((place for place in heads if place > self.cursor), None)
        else:
            goal = next((place for place in reversed(heads) if place < self.cursor - 1), None)
        if goal is not None:
            self.cursor = goal + 1
        return goal is not None

    # --- drawing ---

    def draw(self, row: Row, width: int) -> Content:
        """Heading with its count; or signs, title, how the text begins, and when."""
        if isinstance(row, HeadingRow):
            return _heading(row, width)
        if isinstance(row, UnreadRow):
            return self.placeholder(row.group)
        item, signs = row.item, signs_of(row.item, self.marks)
        return _entry(item, signs, width) if isinstance(item, Entry) else _note(item, signs, width)


def _heading(row: HeadingRow, width: int) -> Content:
    number = number_of(row.read, row.total)
    title = f" {row.group.title}"
    gap = " " * max(1, width - cell_len(title) - len(number) - 1)
    return Content.assemble((title, "bold $primary"), gap, (number, "$muted"))


def _entry(entry: Entry, signs: Content, width: int) -> Content:
    title, (first, _, rest) = title_of(entry), entry.content.strip()[:_LOOKED_AT].partition("\n")
    # What the title says already is not said twice.
    text = _flat(rest if _flat(first).startswith(title.rstrip("…")) and len(title) > len(first) // 2 else entry.content)
    gone = entry.forgotten is not None or entry.held or entry.never_recall
    return _line(signs, title, text, short_age(time.time() - entry.timestamp / 1000), width, muted=gone)


def _note(note: Note, signs: Content, width: int) -> Content:
    when = (
        local_day(note.time) if note.kind == "day" and note.time is not None else short_age(time.time() - note.modified)
    )
    place = note.id.removeprefix("user:").removeprefix("extra:")
    return _line(signs, title_of(note), place, when, width, path=True)


def _line(
    signs: Content, title: str, rest: str, when: str, width: int, *, muted: bool = False, path: bool = False
) -> Content:
    """Signs, title, what gives way first, and when at the right."""
    room = width - 5 - cell_len(when)
    title = elide_end(title, max(_LEAST_TITLE, room))
    left = room - cell_len(title) - 2
    rest = "" if left < 6 else elide_path(rest, left) if path else elide_end(rest, left)
    gap = " " * max(1, room - cell_len(title) - (cell_len(rest) + 2 if rest else 0) + 1)
    return Content.assemble(
        signs, " ", (title, "$muted" if muted else "$foreground"), ("  " if rest else "", ""), (rest, "$muted"),
        gap, (when, "$muted"), " ",
    )  # fmt: skip


def _flat(text: str) -> str:
    return " ".join(one_line(text[:_LOOKED_AT]).split())
