"""A list with its honest total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_ROWS = 2**31 - 1
"""No list is as long: what asks for more asks for all of it."""


def bounded(count: int) -> int:
    """Return a number of rows, or a place in a list, that a store can count to: from 0 to `MOST_ROWS`."""
    return max(0, min(count, MOST_ROWS))


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows of a list, and how many there are in all.

    `note` says what a count hides, such as a depth limit or an ambiguous name.
    """

    rows: tuple[T, ...]
    total: int
    note: str = ""
    generation: int | None = None
    """State of the index that it is of; None where it is not of the present."""
    unresolved: int = 0
    """Of callers: how many more call sites bear the name, of which is not known what they call."""
