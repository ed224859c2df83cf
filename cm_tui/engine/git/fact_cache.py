"""Small facts that take long to work out, kept in a file from which they may vanish at any time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.files import write_atomically

_KEPT = 500
"""Entries that are remembered; the oldest are forgotten first."""


def get(file: Path) -> dict[str, Any]:
    """What a file remembers, by key."""
    try:
        known = json.loads(file.read_bytes())
    except (OSError, ValueError):
        # Nothing remembered yet, or damaged: it can always be worked out again.
        return {}
    return known if isinstance(known, dict) else {}


def put(file: Path, key: str, entry: Any) -> None:
    """Keep an entry, as the newest one."""
    known = get(file)
    known.pop(key, None)
    known[key] = entry
    kept = dict(list(known.items())[-_KEPT:])
    try:
        paths.private_dir(file.parent)
        write_atomically(file, json.dumps(kept))
    except OSError:
        # Not remembered on a full or read-only disk: it costs time, and whoever writes more will say what is wrong.
        return
