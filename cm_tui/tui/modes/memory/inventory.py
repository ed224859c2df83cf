"""What there is of entries and notes, group by group: as many rows as were looked at, and honest totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from cm_tui.errors import StoreError
from cm_tui.model import Entry, Note, Page
from cm_tui.model.page import MOST_ROWS
from cm_tui.tui.modes.memory.groups import GROUPS, Group, Item, MemoryFilter, doubles, is_same, path_of, stale_paths
from cm_tui.tui.tasks.ask import Engine, Repeated
from cm_tui.tui.widgets.text import one_line

PAGE = 200
"""Rows of a group that are read at first."""
TOGETHER = 300
"""Entries or notes, of all groups, that are read by one question."""


@dataclass(frozen=True)
class GroupPage:
    """The first rows of a group."""

    group: Group
    items: tuple[Item, ...]
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
            is_same(*pair)
            for mine, theirs in zip(self.pages, other.pages, strict=True)
            for pair in zip(mine.items, theirs.items, strict=True)
        )

    def total(self, of: str) -> int:
        """Return how many entries or notes there are."""
        return sum(page.total for page in self.pages if page.group.of == of)


def read_inventory(engine: Engine, where: MemoryFilter, limits: Mapping[str, int]) -> Inventory:
    """Ask for what fits.

    Args:
        engine: is asked.
        where: what is wanted.
        limits: how many rows of a group, where more than `PAGE` are wanted.
    """
    pages: list[GroupPage] = []
    notes: list[str] = []
    for of, read in (("entries", _entries), ("notes", _notes)):
        groups = [group for group in GROUPS if group.of == of and where.wants(group.key)]
        try:
            found = _of_groups(partial(read, engine, where), groups, limits)
        except StoreError as error:
            # The others can be read, and are shown.
            notes.append(error.one_line)
            continue
        for group, page in found:
            notes += [page.note] if page.note else []
            pages += [GroupPage(group, page.rows, page.total)] if page.total else []
    return Inventory(tuple(pages), tuple(dict.fromkeys(map(one_line, notes))))


def _of_groups(
    read: Callable[[str, int], Page[Item]], groups: Sequence[Group], limits: Mapping[str, int]
) -> list[tuple[Group, Page[Item]]]:
    """Read groups: all of them at once where that is not much, as each question looks at every file."""
    if not groups:
        return []
    every = read("", TOGETHER)
    if every.total > len(every.rows):
        return [(group, read(group.key, limits.get(group.key, PAGE))) for group in groups]
    found = []
    for group in groups:
        rows = [item for item in every.rows if _group_of(item) == group.key]
        found.append((group, Page(tuple(rows), len(rows), every.note)))
    return found


def _group_of(item: Item) -> str:
    """Return the key of the group that an item belongs to."""
    return item.category.lower() if isinstance(item, Entry) else item.kind


def _entries(engine: Engine, where: MemoryFilter, key: str, limit: int) -> Page[Item]:
    category = key.capitalize()
    if where.state in _KEPT_ENTRIES:
        every = engine.entries(match=where.text, category=category, scope=where.scope, limit=MOST_ROWS)
        fits = _KEPT_ENTRIES[where.state](engine)
        fitting = [entry for entry in every.rows if fits(entry)]
        return Page(tuple(fitting[:limit]), len(fitting), every.note)
    forgotten = where.state == "forgotten"
    page = engine.entries(match=where.text, category=category, scope=where.scope, forgotten=forgotten, limit=limit)
    return Page(page.rows, page.total, page.note)


def _notes(engine: Engine, where: MemoryFilter, key: str, limit: int) -> Page[Item]:
    if where.state:
        every = engine.notes(match=where.text, kind=key, scope=where.scope, limit=MOST_ROWS)
        fits = _KEPT_NOTES[where.state](engine)
        fitting = [note for note in every.rows if fits(note)]
        return Page(tuple(fitting[:limit]), len(fitting), every.note)
    page = engine.notes(match=where.text, kind=key, scope=where.scope, limit=limit)
    return Page(page.rows, page.total, page.note)


def _stale(engine: Engine) -> Callable[[Item], bool]:
    paths = stale_paths(engine)
    return lambda item: path_of(item) in paths


def _double(engine: Engine) -> Callable[[Entry], bool]:
    ids = doubles(engine)
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


@dataclass
class InventoryWatch:
    """Keeps what fits a filter.

    Args:
        question: asks for it.
        changed: called when there is something else than before.
    """

    _question: Repeated[Inventory]
    _changed: Callable[[Inventory], None]
    _limits: dict[str, int] = field(default_factory=dict)
    where: MemoryFilter = field(default_factory=MemoryFilter)
    found: Inventory | None = None
    """What fits; None: nothing was read yet."""

    def filter_by(self, where: MemoryFilter, *, delay: float = 0.0) -> None:
        """Ask for what fits a filter."""
        if where != self.where:
            self.where = where
            self._limits.clear()
        self.read(delay=delay)

    def look(self, *, due: bool = False) -> None:
        """Ask whether something was written meanwhile, where it is time to, and no answer is on its way."""
        if self.found is not None and (self._question.is_idle if due else self._question.is_due):
            self.read()

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
        if page is not None and len(page.items) < page.total:
            self._limits[group] = min(page.total, max(4 * len(page.items), many + len(page.items)))
            self.read()
