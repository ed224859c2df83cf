"""YAML and JSON read strictly, within bounds, with the place of every key and value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_BYTES = 1_000_000
MAX_DEPTH = 40
MAX_NODES = 200_000
HALF = "half of a surrogate pair stands here, which is no letter"

Path = tuple[str | int, ...]
"""The keys and numbers that lead to a value; empty: the whole document."""


class Place(NamedTuple):
    """Where something stands, both counted from 1."""

    line: int
    column: int


def is_text(text: str) -> bool:
    """Return whether it can be written down: half of a surrogate pair, as an escape can name it, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class DocumentError(Exception):
    """A document that cannot be read.

    Args:
        place: where.
        message: what is wrong there.
        hint: what to do.
    """

    def __init__(self, place: Place, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.place = place
        self.message = message
        self.hint = hint


@dataclass(slots=True)
class Document:
    """What a file holds, as plain values, and where each of them stands."""

    value: Any = None
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)

    def place(self, path: Sequence[str | int]) -> Place:
        """Return where the value at a path stands, or the nearest one around it."""
        return self._nearest(self.values, tuple(path))

    def key_place(self, path: Sequence[str | int]) -> Place:
        """Return where the key at the end of a path stands, else the value."""
        found = self.keys.get(tuple(path))
        return found if found is not None else self.place(path)

    def at(self, path: Sequence[str | int]) -> Any:
        """Return the value at a path; None where there is none."""
        value: Any = self.value
        for part in path:
            if isinstance(value, list):
                value = value[part] if isinstance(part, int) and part < len(value) else None
            else:
                value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def inner(self, path: Path, value: Any) -> Document:
        """Return the part of a document at a path as one of its own."""
        size = len(path)
        cut = {
            name: {place[size:]: where for place, where in table.items() if place[:size] == path}
            for name, table in (("values", self.values), ("keys", self.keys))
        }
        return Document(value, cut["values"], cut["keys"])

    @staticmethod
    def _nearest(places: Mapping[Path, Place], path: Path) -> Place:
        for end in range(len(path), -1, -1):
            if (found := places.get(path[:end])) is not None:
                return found
        return Place(1, 1)
