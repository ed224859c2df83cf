"""Root folders of projects, by names of folders alone, without a library or process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cm_tui.paths import PROJECT_FOLDER


def marked_around(folder: Path) -> Path | None:
    """Return the nearest folder upwards with `.git` or `.cm`; never the home folder."""
    for at in folders_around(folder):
        if os.path.lexists(os.path.join(at, ".git")) or os.path.isdir(os.path.join(at, PROJECT_FOLDER)):  # noqa: PTH112, PTH118
            return Path(at)
    return None


def folders_around(folder: Path) -> Iterator[str]:
    """Yield a folder and its parents below the home folder, or below the root of the disk."""
    home = os.path.realpath(Path.home())
    at = os.path.realpath(folder)
    while at not in (home, os.path.dirname(at)):  # noqa: PTH120 - a hook's time is counted in milliseconds
        yield at
        at = os.path.dirname(at)  # noqa: PTH120
