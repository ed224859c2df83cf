"""Small facts that take long to work out, kept in a file from which they may vanish at any time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cm_tui import paths

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
        waiting = file.with_name(f"{file.name}.{os.getpid()}")
        fd = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w", encoding="ascii") as out:
            json.dump(kept, out)
        waiting.replace(file)
    except OSError:
        # Not remembered on a full or read-only disk: it costs time, and whoever writes more will say what is wrong.
        return
