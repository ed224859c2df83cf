"""Entries, notes and proposals below the headings of their groups."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message

from cm_tui.model import Entry, Note
from cm_tui.model.dates import age, local_day
from cm_tui.tui.modes.memory.about import Marks
from cm_tui.tui.modes.memory.groups import Group, Item, key_of
from cm_tui.tui.modes.memory.inventory import Inventory
from cm_tui.tui.modes.memory.signs import signs_of, title_of
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_path, one_line

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
    """An entry, a note or a proposal."""

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
    """Rows with a cursor that stands on no heading; asks for rows that come on screen and are not read yet."""

    class Wanted(Message):
        """Rows of a group are on screen, or under the cursor, that were not read yet."""

        def __init__(self, group: Group, many: int) -> None:
            super().__init__()
            self.group = group
            self.many = many
            """How many of its rows, from the first."""

    def __init__(self, *, empty: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(empty=empty, id=id)
        self.marks = Marks()
        """What rows are marked with, as far as that was asked."""
        self._heads: dict[Group, int] = {}
        """Where the heading of each group is."""
        self._wanted: set[Group] = set()
        """Groups of which more was asked for since these rows came."""

    @property
    def item(self) -> Item | None:
        """What the row under the cursor is about."""
        row = self.current
        return row.item if isinstance(row, ItemRow) else None

    def show(self, rows: Sequence[Row], empty: str) -> None:
        """Show other rows, with the cursor on what it was on; where that is gone, on what is in its place."""
        here, place = self.item, self.cursor
        if here is not None:
            place = self.place_of(key_of(here), rows) or place
        self.set_rows(rows, cursor=place, empty=empty)

    @staticmethod
    def place_of(key: tuple[str, str], rows: Sequence[Row]) -> int | None:
        """Return where an item is among rows."""
        return next(
            (place for place, row in enumerate(rows) if isinstance(row, ItemRow) and key_of(row.item) == key), None
        )

    def set_rows(self, rows: Sequence[Row], *, cursor: int = 0, empty: str | None = None) -> None:
        """Show other rows; a cursor on a heading goes to the row below it."""
        self._heads = {row.group: place for place, row in enumerate(rows) if isinstance(row, HeadingRow)}
        self._wanted.clear()
        cursor = min(cursor, len(rows) - 1)
        if 0 <= cursor < len(rows) and isinstance(rows[cursor], HeadingRow):
            cursor += 1
        super().set_rows(rows, cursor=cursor, empty=empty)

    def validate_cursor(self, cursor: int) -> int:
        """Keep it on a row that is no heading: beyond one, in the direction in which it goes."""
        cursor = super().validate_cursor(cursor)
        if self._rows and isinstance(self._rows[cursor], HeadingRow):
            return cursor + 1 if cursor >= self.cursor or cursor == 0 else cursor - 1
        return cursor

    def jump(self, by: int) -> None:
        """Go to the first row of the group after this one, or before it."""
        heads = sorted(self._heads.values())
        if by > 0:
            goal = next((place for place in heads if place > self.cursor), None)
        else:
            goal = next((place for place in reversed(heads) if place < self.cursor - 1), None)
        if goal is not None:
            self.cursor = goal + 1

    # --- drawing ---

    def draw(self, row: Row, width: int) -> Content:
        """Heading with its count; or signs, title, how the text begins, and when."""
        if isinstance(row, HeadingRow):
            return _heading(row, width)
        if isinstance(row, UnreadRow):
            self._want(row.group)
            return Content.styled("   …", "$muted")
        item, signs = row.item, signs_of(row.item, self.marks)
        if isinstance(item, Entry):
            return _entry(item, signs, width)
        if isinstance(item, Note):
            return _note(item, signs, width)
        return _line(signs, f"{one_line(item.agent) or 'an agent'}: {item.kind}", _flat(item.words),
                     age(time.time() - item.time), width)  # fmt: skip

    def _want(self, group: Group) -> None:
        if group not in self._wanted:
            self._wanted.add(group)
            last = max(self.cursor, self.scroll_offset.y + self.size.height)
            self.post_message(self.Wanted(group, last - self._heads[group]))


def _heading(row: HeadingRow, width: int) -> Content:
    number = f"{row.read:,} of {row.total:,}" if row.read < row.total else f"{row.total:,}"
    title = f" {row.group.title}"
    gap = " " * max(1, width - cell_len(title) - len(number) - 1)
    return Content.assemble((title, "bold $primary"), gap, (number, "$muted"))


def _entry(entry: Entry, signs: Content, width: int) -> Content:
    title, (first, _, rest) = title_of(entry), entry.content.strip()[:_LOOKED_AT].partition("\n")
    # What the title says already is not said twice.
    text = _flat(rest if _flat(first).startswith(title.rstrip("…")) and len(title) > len(first) // 2 else entry.content)
    gone = entry.forgotten is not None or entry.held or entry.never_recall
    return _line(signs, title, text, age(time.time() - entry.timestamp / 1000), width, muted=gone)


def _note(note: Note, signs: Content, width: int) -> Content:
    when = local_day(note.time) if note.kind == "day" and note.time is not None else age(time.time() - note.modified)
    place = note.id.partition(":")[2] or note.id
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
