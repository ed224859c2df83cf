"""The journal of a folder, by the project's identity, cached for hooks."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.platform.git.folder_mark import FolderMark, first_file
from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from cm_tui.errors import StoreError
from cm_tui.files import stamp_of
from cm_tui.state_file import cache_entry, read_object

_MAP = "roots.json"


def base() -> Path:
    """Return the folder of all journals."""
    return paths.data_dir() / "journal"


def folder_of(root: Path) -> Path:
    """Return the journal's folder of the project at a root; not created here.

    A cached identity is valid as long as git's folder, its configuration, the branch and the links are unchanged.
    Raises RefusedError if git's data cannot be opened.
    """
    folder = os.path.realpath(root)
    sign = _sign(Path(folder))
    kept = read_object(base() / _MAP).get(folder)
    if isinstance(kept, dict) and kept.get("sign") == sign and isinstance(kept.get("name"), str):
        return base().joinpath(kept["name"])
    from cm_tui.engine.platform.git import identity

    found = identity.identify(Path(folder))
    name: str = found.folder.name
    if found.is_indexed or (base() / name).is_dir():
        # A memory from an earlier version gets its mark now, before git's data on the checkout changes.
        with suppress(StoreError):
            identity.claim(Path(folder))
        sign = _sign(Path(folder))
    cache_entry(base() / _MAP, folder, {"sign": sign, "name": name, "identity": found.text, "title": found.name})
    return base() / name


def claim(name: str, root: Path) -> None:
    """Make a checkout the owner of the journal that it is about to begin.

    `name`: of the journal's folder, as `folder_of` gave it. Raises StoreError if it cannot be written down.
    """
    from cm_tui.engine.platform.git import checkout_links

    folder = os.path.realpath(root)
    kept = read_object(base() / _MAP).get(folder)
    if not isinstance(kept, dict) or kept.get("name") != name:
        return
    checkout_links.claim(str(kept.get("identity")), str(kept.get("title")), Path(folder))
    # It is the same journal as before; only the links have changed.
    cache_entry(base() / _MAP, folder, {**kept, "sign": _sign(Path(folder))})


def _sign(root: Path) -> list[Any]:
    """Return what an identity depends on, cheap to look at."""
    folders, links = git_folders(root), stamp_of(paths.links_file()) or ()
    if folders is None:
        mark = FolderMark.of(root)
        return [mark.inode, mark.born, *links] if mark is not None else []
    head = head_of(folders)
    # Another `.git` in the same place is another repository, or points at one.
    marker = (root / ".git").lstat()
    own = [marker.st_dev, marker.st_ino, *_first_file(folders.common)]
    return [head.text, head.sha is not None, *own, *(stamp_of(folders.common / "config") or ()), *links]


def _first_file(common: Path) -> tuple[int, ...]:
    """Return the mark of a git folder without its birth time, which takes longer to read."""
    found = first_file(common)
    if found:
        return found
    mark = FolderMark.of(common)
    return (mark.born,) if mark is not None else ()
