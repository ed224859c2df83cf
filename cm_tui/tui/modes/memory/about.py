"""What is asked about items beside what they say: recalls, names of the code that are gone, entries that say the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from cm_tui.errors import NotFoundError, StoreError, UsageError
from cm_tui.model import Duplicates, Entry, Note, Recalls, StaleItem
from cm_tui.tui.modes.memory.groups import Item

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

T = TypeVar("T")
MOST = 10_000
"""Items that are marked in the list."""


@dataclass(frozen=True)
class About:
    """What is asked about one item; None: it is not known."""

    recalls: Recalls | None = None
    stale: StaleItem | None = None


@dataclass(frozen=True)
class Marks:
    """What rows are marked with."""

    stale: dict[str, str] = field(default_factory=dict)
    """What is stale of an item, in words, by its path."""
    doubles: dict[str, tuple[Duplicates, ...]] = field(default_factory=dict)
    """Entries that say nearly the same as another one, by id."""

    def is_stale(self, item: Item) -> bool:
        """Return whether an item names something that is gone."""
        return path_of(item) in self.stale

    def has_double(self, item: Item) -> bool:
        """Return whether another entry says nearly the same."""
        return isinstance(item, Entry) and item.id in self.doubles


def path_of(item: Item) -> str:
    """Return the name of an item among passages; empty for a proposal."""
    return f"entry/{item.id}" if isinstance(item, Entry) else f"note/{item.id}" if isinstance(item, Note) else ""


def read_about(engine: Engine, path: str) -> About:
    """Read the details of an item; unavailable ones are None."""
    recalls = _or_none(lambda: engine.recall_counts([path]))
    return About(recalls[0] if recalls else None, _or_none(lambda: engine.mentions_of(path)))


def read_marks(engine: Engine) -> Marks:
    """Ask what the rows of the list are marked with."""
    return Marks(stale_paths(engine), doubles(engine))


def stale_paths(engine: Engine) -> dict[str, str]:
    """Return what is stale of entries and notes, by their paths."""
    page = _or_none(lambda: engine.stale_items(limit=MOST))
    return {item.path: item.words for item in page.rows} if page is not None else {}


def doubles(engine: Engine) -> dict[str, tuple[Duplicates, ...]]:
    """Return pairs of entries that say nearly the same, by the id of either."""
    page = _or_none(lambda: engine.duplicate_entries(limit=MOST))
    found: dict[str, tuple[Duplicates, ...]] = {}
    for pair in page.rows if page is not None else ():
        for entry in (pair.first, pair.second):
            found[entry.id] = (*found.get(entry.id, ()), pair)
    return found


def _or_none(call: Callable[[], T]) -> T | None:
    try:
        return call()
    except (NotFoundError, UsageError, StoreError):
        # Gone meanwhile, or not to be told now: the item itself is shown all the same.
        return None
