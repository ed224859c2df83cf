"""What a person has chosen for a pack, shared by all modes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from cm_tui.model import PackRequest


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
            self.replace((*self._items, *new))
        return len(new)

    def replace(self, items: Iterable[PackRequest]) -> None:
        """Set everything at once: after dropping, moving or undo."""
        self._items = tuple(items)
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
