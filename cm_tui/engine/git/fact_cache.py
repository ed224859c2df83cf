"""A cache of small facts that take long to compute, in a file that may be deleted at any time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.files import write_atomically

_KEPT = 500
"""Most entries; the oldest are dropped first."""


def get(file: Path) -> dict[str, Any]:
    """Return the entries of a cache file, by key."""
    try:
        known = json.loads(file.read_bytes())
    except (OSError, ValueError):
        # Missing or damaged: it can always be computed again.
        return {}
    return known if isinstance(known, dict) else {}


def put(file: Path, key: str, entry: Any) -> None:
    """Put an entry into a cache file, as the newest one."""
    known = get(file)
    known.pop(key, None)
    known[key] = entry
    kept = dict(list(known.items())[-_KEPT:])
    try:
        paths.private_dir(file.parent)
        write_atomically(file, json.dumps(kept))
    except OSError:
        # On a full or read-only disk nothing is cached: slower, and the next real write reports the problem.
        return
