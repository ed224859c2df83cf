"""Lists of words and tools (`lists.toml`), and patterns (`patterns.toml`)."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))


_LISTS, _PATTERNS = _read("lists.toml"), _read("patterns.toml")


def words(name: str) -> frozenset[str]:
    """Return a list of words."""
    found = _LISTS[name]
    return frozenset(found.split() if isinstance(found, str) else found)


def pairs(name: str) -> dict[str, str]:
    """Return a table of texts."""
    found: dict[str, str] = _LISTS[name]
    return found


def pattern(module: str, name: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """Return a pattern of a module."""
    return re.compile("".join(_PATTERNS[module][name]), flags)
