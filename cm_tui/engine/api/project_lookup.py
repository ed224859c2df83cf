"""The project of a folder, by names of folders alone: no library, no process."""

from __future__ import annotations

import os
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.platform.git.markers import folders_around, marked_around


def root_around(folder: Path) -> Path | None:
    """The nearest folder upwards that holds `.git` or `.cm`, else the nearest that is indexed; never the home folder."""
    marked = marked_around(folder)
    if marked is not None or not (paths.data_dir() / "projects").is_dir():
        return marked
    return next((Path(at) for at in folders_around(folder) if _is_indexed(at)), None)


def _is_indexed(folder: str) -> bool:
    """Whether a folder without git has an index: its store is named after its path."""
    return (paths.store_dir(f"path:{folder}", os.path.basename(folder)) / paths.STORE_MANIFEST).is_file()  # noqa: PTH119
