"""A cache of small facts that take long to compute, in a file that may be deleted at any time."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from cm_tui.errors import StoreError
from cm_tui.state_file import read_object, write_json

_KEPT = 500
"""Most entries; the oldest are dropped first."""


def get(file: Path) -> dict[str, Any]:
    """Return the entries of a cache file, by key."""
    return read_object(file)


def put(file: Path, key: str, entry: Any) -> None:
    """Put an entry into a cache file, as the newest one."""
    known = get(file)
    known.pop(key, None)
    known[key] = entry
    kept = dict(list(known.items())[-_KEPT:])
    # Not kept on a full or read-only disk: it costs time, and the next write of state reports the problem.
    with suppress(StoreError):
        write_json(file, kept, durable=False)
