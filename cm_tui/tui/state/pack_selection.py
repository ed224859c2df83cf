"""What a person has chosen for a pack, shared by all modes, and the history of its changes, for undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, NamedTuple

from cm_tui.model import PackRequest
from cm_tui.tui.state.pack_merge import Items, merged

_MOST_CHANGES = 100


class PackChange(NamedTuple):
    """A change that a person made."""

    before: Items
    after: Items
    question: tuple[str, str] | None = None
    """The question before and after it; None where it stayed."""


class PackSelection:
    """Requests in the order wanted; lines of one file that are already covered are not taken twice.

    Args:
        changed: called after every change that was made here.
        taken: called after every change that came from elsewhere.
    """

    def __init__(self, changed: Callable[[], None], taken: Callable[[], None]) -> None:
        self._changed = changed
        self._taken = taken
        self._items: tuple[PackRequest, ...] = ()
        self._done: list[PackChange] = []
        self._undone: list[PackChange] = []
        self.question = ""
        """Stands first in the pack."""

    @property
    def can_undo(self) -> bool:
        """True when something was changed."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """True when a change was undone and nothing was changed since."""
        return bool(self._undone)

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
        self._done = [*self._done, change][-_MOST_CHANGES:]
        self._undone.clear()
        self._put(change.after, question)

    def undo(self) -> None:
        """Take the last change back; what another application did since stays."""
        change = self._done.pop()
        self._undone.append(change)
        self._put(merged(change.after, change.before, self._items), change.question and change.question[0])

    def redo(self) -> None:
        """Redo the change that was undone last."""
        change = self._undone.pop()
        self._done.append(change)
        self._put(merged(change.before, change.after, self._items), change.question and change.question[1])

    def forget_changes(self) -> None:
        """Drop the history of undo and redo."""
        self._done.clear()
        self._undone.clear()

    def _put(self, items: Items, question: str | None) -> None:
        self._items = items
        if question is not None:
            self.question = question
        self._changed()

    def take(self, items: tuple[PackRequest, ...]) -> None:
        """Show what the pack of the project is by now: nobody here changed it, so there is nothing to hand over."""
        if items != self._items:
            self._items = items
            self._taken()


def values_of(items: Iterable[PackRequest]) -> list[dict[str, Any]]:
    """Return pieces for a JSON file."""
    return [asdict(item) for item in items]


def readable(values: Any) -> tuple[PackRequest, ...]:
    """Return the pieces that `values_of` gave; what cannot be read is left out."""
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
