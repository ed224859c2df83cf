"""Which project a folder is part of, found by looking at names only: no library to import, no process to start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cm_tui import paths


def root_around(folder: Path) -> Path | None:
    """Return the nearest folder upwards that holds `.git` or `.cm`, else the nearest that is indexed; never the home folder."""
    marked = marked_around(folder)
    if marked is not None or not (paths.data_dir() / "projects").is_dir():
        return marked
    return next((Path(at) for at in _upwards(folder) if _is_indexed(at)), None)


def marked_around(folder: Path) -> Path | None:
    """Return the nearest folder upwards that holds `.git` or `.cm`; never the home folder."""
    for at in _upwards(folder):
        if os.path.lexists(os.path.join(at, ".git")) or os.path.isdir(os.path.join(at, ".cm")):  # noqa: PTH112, PTH118
            return Path(at)
    return None


def _upwards(folder: Path) -> Iterator[str]:
    """Yield a folder and those around it, without the home folder and what is above, and without the whole disk."""
    home = os.path.realpath(Path.home())
    at = os.path.realpath(folder)
    while at not in (home, os.path.dirname(at)):  # noqa: PTH120 - a hook's time is counted in milliseconds
        yield at
        at = os.path.dirname(at)  # noqa: PTH120


def _is_indexed(folder: str) -> bool:
    """Return whether a folder without git has an index: its store is named after where it lies."""
    return (paths.store_dir(f"path:{folder}", os.path.basename(folder)) / paths.CARD).is_file()  # noqa: PTH119
