"""What there is of entries and notes, group by group, with honest totals, and the list of it below the headings of the groups."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.cells import cell_len
from textual.content import Content

from cm_tui.errors import StoreError
from cm_tui.model import Entry, Note, Page
from cm_tui.model.dates import local_day, short_age
from cm_tui.model.page import MOST_ROWS
from cm_tui.tui.modes.memory import groups
from cm_tui.tui.tasks.ask import Engine, Listing, Repeated
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_path, flat, number_of, one_line

PAGE = 200
"""Rows of a group that are read at first."""
TOGETHER = 300
"""Entries or notes, of all groups, that are read by one question."""


@dataclass(frozen=True)
class GroupPage:
    """The first rows of a group."""

    group: groups.Group
    items: tuple[groups.Item, ...]
    total: int


@dataclass(frozen=True)
class Inventory:
    """What fits a filter."""

    pages: tuple[GroupPage, ...] = ()
    """Groups that have something."""
    notes: tuple[str, ...] = ()
    """Warnings, such as an unreadable file."""

    def is_same(self, other: Inventory | None) -> bool:
        """Return whether nothing has changed."""
        return self == other and all(
            groups.is_same(*pair)
            for mine, theirs in zip(self.pages, other.pages, strict=True)
            for pair in zip(mine.items, theirs.items, strict=True)
        )

    def total(self, of: str) -> int:
        """Return how many entries or notes there are."""
        return sum(page.total for page in self.pages if page.group.of == of)


def read_inventory(engine: Engine, where: groups.MemoryFilter, limits: Mapping[str, int]) -> Inventory:
    """Ask for what fits.

    Args:
        engine: is asked.
        where: what is wanted.
        limits: how many rows of a group, where more than `PAGE` are wanted.
    """
    pages: list[GroupPage] = []
    notes: list[str] = []
    for of, read in (("entries", _entries), ("notes", _notes)):
        wanted = [group for group in groups.GROUPS if group.of == of and where.wants(group.key)]
        try:
            found = _of_groups(partial(read, engine, where), wanted, limits)
        except StoreError as error:
            # The others can be read, and are shown.
            notes.append(error.one_line)
            continue
        for group, page in found:
            notes += [page.note] if page.note else []
            pages += [GroupPage(group, page.rows, page.total)] if page.total else []
    return Inventory(tuple(pages), tuple(dict.fromkeys(map(one_line, notes))))


def _of_groups(
    read: Callable[[str, int], Page[groups.Item]], wanted: Sequence[groups.Group], limits: Mapping[str, int]
) -> list[tuple[groups.Group, Page[groups.Item]]]:
    """Read groups: all of them at once where that is not much, as each question looks at every file."""
    if not wanted:
        return []
    every = read("", TOGETHER)
    if every.total > len(every.rows):
        return [(group, read(group.key, limits.get(group.key, PAGE))) for group in wanted]
    found = []
    for group in wanted:
        rows = [item for item in every.rows if _group_of(item) == group.key]
        found.append((group, Page(tuple(rows), len(rows), every.note)))
    return found


def _group_of(item: groups.Item) -> str:
    """Return the key of the group that an item belongs to."""
    return item.category.lower() if isinstance(item, Entry) else item.kind


def _entries(engine: Engine, where: groups.MemoryFilter, key: str, limit: int) -> Page[groups.Item]:
    category = key.capitalize()
    if where.state in _KEPT_ENTRIES:
        every = engine.entries(match=where.text, category=category, scope=where.scope, limit=MOST_ROWS)
        fits = _KEPT_ENTRIES[where.state](engine)
        fitting = [entry for entry in every.rows if fits(entry)]
        return Page(tuple(fitting[:limit]), len(fitting), every.note)
    forgotten = where.state == "forgotten"
    page = engine.entries(match=where.text, category=category, scope=where.scope, forgotten=forgotten, limit=limit)
    return Page(page.rows, page.total, page.note)


def _notes(engine: Engine, where: groups.MemoryFilter, key: str, limit: int) -> Page[groups.Item]:
    if where.state:
        every = engine.notes(match=where.text, kind=key, scope=where.scope, limit=MOST_ROWS)
        fits = _KEPT_NOTES[where.state](engine)
        fitting = [note for note in every.rows if fits(note)]
        return Page(tuple(fitting[:limit]), len(fitting), every.note)
    page = engine.notes(match=where.text, kind=key, scope=where.scope, limit=limit)
    return Page(page.rows, page.total, page.note)


def _stale(engine: Engine) -> Callable[[groups.Item], bool]:
    paths = groups.stale_paths(engine)
    return lambda item: groups.path_of(item) in paths


def _double(engine: Engine) -> Callable[[Entry], bool]:
    ids = groups.doubles(engine)
    return lambda entry: entry.id in ids


_KEPT_ENTRIES: dict[str, Callable[[Engine], Callable[[Entry], bool]]] = {
    "pinned": lambda _: lambda entry: entry.pinned,
    "held": lambda _: lambda entry: entry.held,
    "never": lambda _: lambda entry: entry.never_recall,
    "unapproved": lambda _: lambda entry: entry.unapproved,
    "stale": _stale,
    "double": _double,
}
_KEPT_NOTES: dict[str, Callable[[Engine], Callable[[Note], bool]]] = {
    "problem": lambda _: lambda note: bool(note.problem),
    "stale": _stale,
}


class InventoryWatch(Listing[groups.MemoryFilter, Inventory]):
    """Keeps what fits a filter.

    Args:
        question: asks for it.
        changed: called when there is something else than before.
    """

    def __init__(self, question: Repeated[Inventory], changed: Callable[[Inventory], None]) -> None:
        super().__init__(question, groups.MemoryFilter())
        self._changed = changed

    def read(self, *, delay: float = 0.0) -> None:
        """Request the same rows again, as far as they were read."""
        where, limits = self.where, dict(self._limits)

        def got(found: Inventory) -> None:
            before, self.found = self.found, found
            if not found.is_same(before):
                self._changed(found)

        self._question.read(lambda engine: read_inventory(engine, where, limits), got, delay=delay)

    def read_on(self, group: str, many: int) -> None:
        """Load a group up to the visible rows and well beyond."""
        pages = self.found.pages if self.found is not None else ()
        page = next((page for page in pages if page.group.key == group), None)
        if page is not None:
            self.read_further(len(page.items), page.total, many, group)


_LEAST_TITLE = 16
_LOOKED_AT = 400
"""Characters of a text that a row begins with."""


@dataclass(frozen=True)
class HeadingRow:
    """The name of a group, and how much is in it."""

    group: groups.Group
    read: int
    total: int


@dataclass(frozen=True)
class ItemRow:
    """An entry or a note."""

    group: groups.Group
    item: groups.Item


@dataclass(frozen=True)
class UnreadRow:
    """A row of a group that was not read yet."""

    group: groups.Group


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

    marks = groups.Marks()
    """What rows are marked with, as far as that was asked."""

    @property
    def item(self) -> groups.Item | None:
        """What the row under the cursor is about."""
        row = self.current
        return row.item if isinstance(row, ItemRow) else None

    def is_heading(self, row: Row) -> bool:
        """Return whether a row is the name of a group."""
        return isinstance(row, HeadingRow)

    def key_of(self, row: Row) -> Hashable:
        """Return the name of an item, or of a group."""
        return groups.key_of(row.item) if isinstance(row, ItemRow) else row.group if self.is_heading(row) else None

    def read_of(self, group: groups.Group, many: int) -> int:
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
        item, signs = row.item, groups.signs_of(row.item, self.marks)
        return _entry(item, signs, width) if isinstance(item, Entry) else _note(item, signs, width)


def _heading(row: HeadingRow, width: int) -> Content:
    number = number_of(row.read, row.total)
    title = f" {row.group.title}"
    gap = " " * max(1, width - cell_len(title) - len(number) - 1)
    return Content.assemble((title, "bold $primary"), gap, (number, "$muted"))


def _entry(entry: Entry, signs: Content, width: int) -> Content:
    title, (first, _, rest) = groups.title_of(entry), entry.content.strip()[:_LOOKED_AT].partition("\n")
    # What the title says already is not said twice.
    text = flat(rest if flat(first).startswith(title.rstrip("…")) and len(title) > len(first) // 2 else entry.content)
    gone = entry.forgotten is not None or entry.held or entry.never_recall
    return _line(signs, title, text, short_age(time.time() - entry.timestamp / 1000), width, muted=gone)


def _note(note: Note, signs: Content, width: int) -> Content:
    when = (
        local_day(note.time) if note.kind == "day" and note.time is not None else short_age(time.time() - note.modified)
    )
    place = note.id.removeprefix("user:").removeprefix("extra:")
    return _line(signs, groups.title_of(note), place, when, width, path=True)


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
