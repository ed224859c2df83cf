"""Strict, bounded reading of YAML and JSON, with the place of every key and value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_BYTES = 1_000_000
MAX_DEPTH = 40
MAX_NODES = 200_000
HALF = "half of a surrogate pair, which is not a character"

Path = tuple[str | int, ...]
"""The keys and numbers that lead to a value; empty: the whole document."""


class Place(NamedTuple):
    """A place in the file, both numbers from 1."""

    line: int
    column: int


class DocumentError(Exception):
    """An invalid document.

    Args:
        place: of the mistake.
        message: the mistake.
        hint: how to fix it.
    """

    def __init__(self, place: Place, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.place = place
        self.message = message
        self.hint = hint


@dataclass(slots=True)
class Document:
    """Content of a file as plain values, with the place of each."""

    value: Any = None
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    unread: Callable[[], Document] | None = None
    """Reads the places on demand; None: they are known."""

    def place(self, path: Sequence[str | int]) -> Place:
        """Return the place of the value at a path, or the nearest one around it."""
        self._read_places()
        around = (self.values.get(tuple(path[:end])) for end in range(len(path), -1, -1))
        return next(filter(None, around), Place(1, 1))

    def key_place(self, path: Sequence[str | int]) -> Place:
        """Return the place of the key at the end of a path, else of the value."""
        self._read_places()
        return self.keys.get(tuple(path)) or self.place(path)

    def at(self, path: Sequence[str | int]) -> Any:
        """Return the value at a path; None: no value."""
        value: Any = self.value
        for part in path:
            if isinstance(value, list):
                value = value[part] if isinstance(part, int) and part < len(value) else None
            else:
                value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def inner(self, path: Path, value: Any) -> Document:
        """Return the part of a document at a path as a document."""
        self._read_places()
        size = len(path)
        cut = {
            name: {place[size:]: where for place, where in table.items() if place[:size] == path}
            for name, table in (("values", self.values), ("keys", self.keys))
        }
        return Document(value, cut["values"], cut["keys"])

    def _read_places(self) -> None:
        if self.unread is not None:
            read, self.unread = self.unread, None
            with suppress(DocumentError):  # Of its places, not of its content: they are then the beginning.
                found = read()
                self.values, self.keys = found.values, found.keys
