"""Sorting records after their parents: one that precedes its parent waits for it, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

_T = TypeVar("_T")
_MOST = 50
"""Records that wait."""
_MOST_BYTES = 5_000_000
_KNOWN = 50_000
"""Ids that are known: of more the first ones are forgotten."""


class _Waiting(NamedTuple, Generic[_T]):
    item: _T
    id: str
    parent: str
    size: int


class ParentsFirst(Generic[_T]):
    """Moves records after their parents; without a parent, they stay in order."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._waiting: list[_Waiting[_T]] = []

    def add(self, item: _T, id_: str, parent: str, size: int = 0) -> Iterator[_T]:
        """Yield the records that are due with the next one.

        `id_`: its id; empty: none. `parent`: the id of the record that it follows; empty: none. `size`: bytes that it
        takes while it waits.
        """
        new = _Waiting(item, id_, parent, size)
        if parent and parent not in self._ids:
            self._waiting.append(new)
            if len(self._waiting) > _MOST or sum(one.size for one in self._waiting) > _MOST_BYTES:
                yield from self._take(self._first())
            return
        if not parent:
            # Its parent is unknown: earlier records that do not wait for it come first.
            while (other := next((one for one in self._waiting if self._root_of(one) != id_), None)) is not None:
                self._waiting.remove(other)
                yield from self._take(other)
        yield from self._take(new)

    def rest(self) -> Iterator[_T]:
        """Yield the records that still wait."""
        while self._waiting:
            yield from self._take(self._first())

    def _first(self) -> _Waiting[_T]:
        """Remove and return the first waiting record that does not wait for another waiting one."""
        ids = {one.id for one in self._waiting}
        first = next((one for one in self._waiting if one.parent not in ids), self._waiting[0])
        self._waiting.remove(first)
        return first

    def _take(self, first: _Waiting[_T]) -> Iterator[_T]:
        """Yield a record, and those waiting for it."""
        due = [first]
        while due:
            one = due.pop(0)
            yield one.item
            if not one.id:
                continue
            self._ids[one.id] = None
            if len(self._ids) > _KNOWN:
                self._ids.pop(next(iter(self._ids)))
            due += [other for other in self._waiting if other.parent == one.id]
            self._waiting = [other for other in self._waiting if other.parent != one.id]

    def _root_of(self, one: _Waiting[_T]) -> str:
        """Return the id of the record that is missing before a waiting one."""
        parents = {other.id: other.parent for other in self._waiting if other.id}
        at = one.parent
        for _ in self._waiting:
            if at not in parents:
                break
            at = parents[at]
        return at
