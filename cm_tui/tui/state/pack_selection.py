"""What a person has chosen for a pack, shared by all modes; each change can be undone and redone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.counts import count
from cm_tui.engine.api.secrets import redact_values
from cm_tui.files import Stamp, read_bounded, stamp_of, write_atomically
from cm_tui.locks import locked
from cm_tui.model import PackRequest
from cm_tui.tui.state.remembered import state_file
from cm_tui.tui.widgets.text import elide_end, one_line

Items = tuple[PackRequest, ...]


def merged(before: Sequence[PackRequest], mine: Sequence[PackRequest], theirs: Sequence[PackRequest]) -> Items:
    """Return a pack with what was done here applied to what others made of it meanwhile.

    A piece that one side added is there, one that either side took out is not; where both changed the lines of a piece,
    both are kept. The order is theirs, with what was moved here moved.

    Args:
        before: the pack that both sides began with.
        mine: what was made of it here.
        theirs: what was made of it elsewhere.
    """
    had, have = set(before), set(mine)
    result = [item for item in theirs if item in have or item not in had]
    result = _moved(before, mine, result)
    for place, item in enumerate(mine):
        if item not in had and item not in result:
            result.insert(_after(mine[:place], result), item)
    return tuple(dict.fromkeys(result))


def _after(ahead: Sequence[PackRequest], result: Sequence[PackRequest]) -> int:
    """Return where a new piece goes: behind the nearest of those that stand ahead of it here."""
    for item in reversed(ahead):
        if item in result:
            return result.index(item) + 1
    return 0


def _moved(before: Sequence[PackRequest], mine: Sequence[PackRequest], result: list[PackRequest]) -> list[PackRequest]:
    """Return pieces with those that were moved here in their order of here, at the places that they have together."""
    known = set(result) & set(before) & set(mine)
    order = [item for item in mine if item in known]
    if order == [item for item in before if item in known]:
        return result
    ordered = iter(order)
    return [next(ordered) if item in known else item for item in result]


_LONGEST = 60


class PackChange(NamedTuple):
    """A change that a person made."""

    before: Items
    after: Items
    question: tuple[str, str] | None = None
    """The question before and after it; None where it stayed."""

    @property
    def words(self) -> str:
        """What was done: `added report to the pack`."""
        added, removed = self.added, self.removed
        if not added and not removed:
            return "moved pieces in the pack" if self.before != self.after else "changed the question of the pack"
        if not self.after:
            return f"removed all {count(len(removed), 'piece')} from the pack"
        if added and removed:
            same = len(added) == len(removed) == 1 and added[0].path == removed[0].path
            return f"changed the lines of {_named(added)} in the pack" if same else "replaced pieces of the pack"
        return f"added {_named(added)} to the pack" if added else f"removed {_named(removed)} from the pack"

    @property
    def added(self) -> Items:
        """Pieces that are new."""
        return tuple(item for item in self.after if item not in self.before)

    @property
    def removed(self) -> Items:
        """Pieces that are gone."""
        return tuple(item for item in self.before if item not in self.after)

    @property
    def about(self) -> frozenset[str]:
        """What it changed, for changes that build on it."""
        pieces = {f"pack {item.path}:{item.start_line}-{item.end_line}" for item in (*self.added, *self.removed)}
        return frozenset(pieces | ({"pack question"} if self.question else set()))


def _named(items: Items) -> str:
    first = one_line(items[0].title or items[0].path.rpartition("/")[2])
    return elide_end(first, _LONGEST) if len(items) == 1 else count(len(items), "piece")


@dataclass
class PackSelection:
    """Requests in their order; lines of one file that are already covered are not added twice.

    Args:
        changed: called after every change that was made here.
        taken: called after every change that came from elsewhere.
        note: gets every change that was made here, to be undone.
    """

    _changed: Callable[[], None]
    _taken: Callable[[], None]
    _note: Callable[[PackChange], None] = lambda _: None
    _items: tuple[PackRequest, ...] = ()
    question: str = ""
    """Stands first in the pack."""

    @property
    def items(self) -> tuple[PackRequest, ...]:
        """What was chosen."""
        return self._items

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, request: PackRequest) -> bool:
        return any(_covers(item, request) for item in self._items)

    def add(self, requests: Iterable[PackRequest]) -> int:
        """Add requests at the end; returns how many were new."""
        new: list[PackRequest] = []
        for request in requests:
            if request not in self and not any(_covers(item, request) for item in new):
                new.append(request)
        if new:
            self.change((*self._items, *new))
        return len(new)

    def change(self, items: Iterable[PackRequest], *, question: str | None = None) -> None:
        """Put other pieces in place of these, and another question where given."""
        change = PackChange(self._items, tuple(items), None if question is None else (self.question, question))
        self._put(change.after, question)
        self._note(change)

    def undo(self, change: PackChange) -> None:
        """Undo a change; what was done since stays, also by another application."""
        self._put(merged(change.after, change.before, self._items), change.question and change.question[0])

    def redo(self, change: PackChange) -> None:
        """Redo a change that was undone."""
        self._put(merged(change.before, change.after, self._items), change.question and change.question[1])

    def _put(self, items: Items, question: str | None) -> None:
        self._items = items
        if question is not None:
            self.question = question
        self._changed()

    def take(self, items: tuple[PackRequest, ...]) -> None:
        """Show the project's pack as changed elsewhere, without saving it."""
        if items != self._items:
            self._items = items
            self._taken()


def values_of(items: Iterable[PackRequest]) -> list[dict[str, Any]]:
    """Return pieces for a JSON file."""
    return [asdict(item) for item in items]


def readable(values: Any) -> tuple[PackRequest, ...]:
    """Return the pieces from the values of `values_of`, without invalid ones."""
    return tuple(PackRequest(**value) for value in values if _readable(value)) if isinstance(values, list) else ()


def _readable(value: Any) -> bool:
    if not isinstance(value, dict) or not set(value) <= {"path", "start_line", "end_line", "title", "why"}:
        return False
    start, end = value.get("start_line"), value.get("end_line")
    lines_fine = isinstance(start, int) and isinstance(end, int) and 1 <= start <= end
    words_fine = all(isinstance(value.get(name, ""), str) for name in ("path", "title", "why"))
    return lines_fine and words_fine and bool(value.get("path"))


def _covers(item: PackRequest, other: PackRequest) -> bool:
    return item.path == other.path and item.start_line <= other.start_line and other.end_line <= item.end_line


LOCK_SECONDS = 5.0
"""How long a change waits for that of another application; each holds the lock for a few milliseconds."""
MOST_BYTES = 16_000_000


class PackFile:
    """Pieces in a file, changed under a lock.

    Args:
        root: the project's root folder.
    """

    def __init__(self, root: Path) -> None:
        self._file = state_file(root).with_suffix(".pack.json")
        self._lock = self._file.with_suffix(".lock")

    def stamp(self) -> Stamp | None:
        """Return the file's change stamp; None: missing."""
        return stamp_of(self._file)

    def read(self) -> Items | None:
        """Return the pieces; None where no application wrote any yet, or what is there cannot be read."""
        try:
            values = json.loads(read_bounded(self._file, MOST_BYTES))
        except (OSError, ValueError):
            return None
        return readable(values.get("items")) if isinstance(values, dict) else None

    def exchange(self, before: Items, mine: Items) -> Items:
        """Apply what was done here since the last exchange, and return the pack as all have it now.

        Args:
            before: the pack after the last exchange.
            mine: what was made of it since.

        Raises:
            StoreError: another process holds the lock.
            OSError: the folder cannot be written.
        """
        if mine == before:
            return self._or(self.read(), mine)
        paths.private_dir(self._file.parent)
        with locked(self._lock, LOCK_SECONDS):
            there = self.read()
            items = merged(before, mine, self._or(there, before))
            values = redact_values({"items": values_of(items)})
            if items != there:
                write_atomically(self._file, json.dumps(values, ensure_ascii=False, indent=1))
        return readable(values["items"])

    @staticmethod
    def _or(found: Items | None, other: Items) -> Items:
        return other if found is None else found
