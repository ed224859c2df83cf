"""A long list of which only the pages that were looked at are in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

from cm_tui.lru import LRU

R = TypeVar("R")

PAGE = 200
"""Rows of a page."""
KEPT = 40
"""Pages kept; the one that was not looked at for longest goes first."""


class PagedRows(Sequence["R | None"], Generic[R]):
    """Rows by index; one whose page is not there yet is None, and its page is wanted.

    Args:
        length: how many rows there are.
        request: called once with the number of each visible page.
    """

    def __init__(self, length: int, request: Callable[[int], None]) -> None:
        self._length = length
        self._request = request
        self._pages: LRU[int, Sequence[R]] = LRU(KEPT)
        self._requested: set[int] = set()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> R | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[R | None]: ...
    def __getitem__(self, index: int | slice) -> R | Sequence[R | None] | None:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._length))]
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(index)
        number, place = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None:
            if number not in self._requested:
                self._requested.add(number)
                self._request(number)
            return None
        return page[place] if place < len(page) else None

    def put(self, number: int, rows: Sequence[R]) -> None:
        """A page is there."""
        self._requested.discard(number)
        self._pages.put(number, rows)

    def give_up(self, number: int) -> None:
        """Mark a page as unavailable; it is requested again when it is visible."""
        self._requested.discard(number)

    @property
    def loaded(self) -> int:
        """How many pages are in memory."""
        return len(self._pages)
