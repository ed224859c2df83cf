"""Which project a folder is part of, found by looking at names only: no library to import, no process to start."""

from __future__ import annotations

import os
from pathlib import Path


def root_around(folder: Path) -> Path | None:
    """The nearest folder upwards that holds `.git` or `.cm`; never the home folder or the whole disk."""
    home = os.path.realpath(Path.home())
    at = os.path.realpath(folder)
    while at not in (home, os.path.dirname(at)):  # noqa: PTH120 - a hook's time is counted in milliseconds
        if os.path.lexists(os.path.join(at, ".git")) or os.path.isdir(os.path.join(at, ".cm")):  # noqa: PTH112, PTH118
            return Path(at)
        at = os.path.dirname(at)  # noqa: PTH120
    return None
