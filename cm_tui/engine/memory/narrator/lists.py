"""Lists of words and tools (`lists.toml`)."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

_LISTS: dict[str, Any] = tomllib.loads((files(__package__) / "lists.toml").read_text(encoding="utf-8"))


def words(name: str) -> frozenset[str]:
    """Return a list of words."""
    found = _LISTS[name]
    return frozenset(found.split() if isinstance(found, str) else found)


def pairs(name: str) -> dict[str, str]:
    """Return a table of texts."""
    found: dict[str, str] = _LISTS[name]
    return found
