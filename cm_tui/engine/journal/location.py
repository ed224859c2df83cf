"""The journal that belongs to a folder, by the project's identity, cached so that a hook need not work it out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.git.fact_cache import get, put
from cm_tui.engine.git.git_dir import git_folders, head_of

_MAP = "roots.json"


def base() -> Path:
    """Return the folder of all journals."""
    return paths.data_dir() / "journal"


def folder_of(root: Path) -> Path:
    """Return the folder of the journal of the project at a root; not made here.

    A cached identity holds as long as git's configuration and the branch stay: a remote, a first commit and an
    orphan branch change them.

    Raises:
        RefusedError: git's data cannot be opened.
    """
    folder = os.path.realpath(root)
    sign = _sign(Path(folder))
    kept = get(base() / _MAP).get(folder)
    if isinstance(kept, dict) and kept.get("sign") == sign and isinstance(kept.get("name"), str):
        return base().joinpath(kept["name"])
    from cm_tui.engine.git.identity import identify

    name: str = identify(Path(folder)).folder.name
    put(base() / _MAP, folder, {"sign": sign, "name": name})
    return base() / name


def _sign(root: Path) -> list[Any]:
    """Return what an identity depends on, cheap to look at."""
    folders = git_folders(root)
    if folders is None:
        return []
    head = head_of(folders)
    try:
        found = (folders.common / "config").stat()
    except OSError:
        return [head.text, head.sha is not None]
    return [head.text, head.sha is not None, found.st_mtime_ns, found.st_size, found.st_ino]
