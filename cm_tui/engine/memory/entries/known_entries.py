"""Cached entries of the last used projects, valid until one of their files changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from cm_tui.engine.memory.entries.entry_file import Stamps
from cm_tui.lru import LRU

T = TypeVar("T")
_MOST_KEPT = 2
_SETTLED_S = 0.1
"""A file that was written so lately may be written again in the same tick of its clock."""

_kept: LRU[str, Any] = LRU(_MOST_KEPT)


def known(root: str, stamps: Callable[[], Stamps], read: Callable[[], T]) -> T:
    """Return the entries of a project, read again if a file has changed.

    `stamps`: of the files with the entries and of the ledgers; `read`: reads them.
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
