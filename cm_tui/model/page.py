"""A list with its honest total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows of a list, and how many there are in all.

    `note` says what a count hides, such as a depth limit or an ambiguous name.
    """

    rows: tuple[T, ...]
    total: int
    note: str = ""
