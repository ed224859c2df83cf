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

    A cached identity holds as long as git's configuration, the branch and the links stay: a remote, a first commit, an
    orphan branch and a person change them.

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


def claim(name: str, root: Path) -> None:
    """Make a checkout the owner of the journal that it is about to begin.

    Args:
        name: of the journal's folder, as `folder_of` gave it.
        root: of the checkout.

    Raises:
        StoreError: it cannot be written down.
    """
    from cm_tui.engine.git import checkout_links

    folder = os.path.realpath(root)
    checkout_links.claim(name, Path(folder))
    # It is the same journal as before; only the links have changed.
    put(base() / _MAP, folder, {"sign": _sign(Path(folder)), "name": name})


def _sign(root: Path) -> list[Any]:
    """Return what an identity depends on, cheap to look at."""
    folders = git_folders(root)
    if folders is None:
        return []
    head = head_of(folders)
    # Another `.git` in the same place is another repository, or points at one.
    marker = (root / ".git").lstat()
    own = [marker.st_dev, marker.st_ino]
    return [head.text, head.sha is not None, *own, *_stamp(folders.common / "config"), *_stamp(paths.links_file())]


def _stamp(file: Path) -> list[int]:
    try:
        found = file.stat()
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_size, found.st_ino]
