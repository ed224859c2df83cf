"""What layers find: items with a text, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cm_tui.engine.context.definitions.template import plain

Item = Mapping[str, Any]
"""`text`, and if known `path`, `time` (seconds since the epoch), `score` (0 to 1) and further fields."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Content of a reference."""

    items: tuple[Item, ...]
    title: str = ""
    value: Any = None
    """For layers with values."""
    expires: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return it as it is handed over."""
        return "\n\n".join(text for item in self.items if (text := text_of(item).strip()))

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the shown items, each once."""
        return paths_of(self.items)


def paths_of(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the paths of items, each once."""
    return tuple(dict.fromkeys(str(item["path"]) for item in items if item.get("path")))


def text_of(item: Item) -> str:
    """Return the text of an item."""
    return plain(item.get("text"))
