"""The entries of the last projects that were asked about, kept as long as no file of them changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from cm_tui.engine.entries.entry_file import Stamps
from cm_tui.lru import LRU

T = TypeVar("T")
_MOST_KEPT = 2
_SETTLED_S = 0.1
"""A file that was written so lately may be written again in the same tick of its clock."""

_kept: LRU[str, Any] = LRU(_MOST_KEPT)


def known(root: str, stamps: Callable[[], Stamps], read: Callable[[], T]) -> T:
    """Return the entries of a project; they are read where a file of them has changed.

    Args:
        root: of the project.
        stamps: of the files that they are made of, and of those that say what is known of them.
        read: reads them.
    """
    before = stamps()
    key = f"{root}\0{before}"
    kept: T | None = _kept.get(key)
    if kept is not None:
        return kept
    found = read()
    newest = max((stamp.changed_ns for stamp in before if stamp), default=0)
    if time.time_ns() - newest > _SETTLED_S * 1e9 and stamps() == before:
        _kept.put(key, found)
    return found
