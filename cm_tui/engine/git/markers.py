"""Folders that begin a project, found by looking at names only: no library to import and no process to start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cm_tui.paths import PROJECT_FOLDER


def marked_around(folder: Path) -> Path | None:
    """Return the nearest folder upwards that holds `.git` or `.cm`; never the home folder."""
    for at in folders_around(folder):
        if os.path.lexists(os.path.join(at, ".git")) or os.path.isdir(os.path.join(at, PROJECT_FOLDER)):  # noqa: PTH112, PTH118
            return Path(at)
    return None


def folders_around(folder: Path) -> Iterator[str]:
    """Yield a folder and those around it, without the home folder and what is above, and without the whole disk."""
    home = os.path.realpath(Path.home())
    at = os.path.realpath(folder)
    while at not in (home, os.path.dirname(at)):  # noqa: PTH120 - a hook's time is counted in milliseconds
        yield at
        at = os.path.dirname(at)  # noqa: PTH120
