"""Which journal belongs to a folder: the project's identity, remembered so that a hook need not work it out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.git.files import git_folders, head_of

_MAP = "roots.json"
_KEPT = 500
"""Roots that are remembered; the oldest are forgotten first."""


def base() -> Path:
    """Folder of all journals."""
    return paths.data_dir() / "journal"


def folder_of(root: Path) -> Path:
    """Folder of the journal of the project at a root; not made here.

    A remembered identity holds as long as git's configuration and the branch stay: a remote, a first commit and an
    orphan branch change them.

    Raises:
        RefusedError: git's data cannot be opened.
    """
    place = os.path.realpath(root)
    sign = _sign(Path(place))
    kept = _read().get(place)
    if isinstance(kept, dict) and kept.get("sign") == sign and isinstance(kept.get("name"), str):
        return base().joinpath(kept["name"])
    from cm_tui.engine.git.identity import identify

    name: str = identify(Path(place)).folder.name
    _remember(place, {"sign": sign, "name": name})
    return base() / name


def _sign(root: Path) -> list[Any]:
    """What an identity depends on, cheap to look at."""
    folders = git_folders(root)
    if folders is None:
        return []
    head = head_of(folders)
    try:
        found = (folders.common / "config").stat()
    except OSError:
        return [head.text, head.sha is not None]
    return [head.text, head.sha is not None, found.st_mtime_ns, found.st_size, found.st_ino]


def _read() -> dict[str, Any]:
    try:
        known = json.loads((base() / _MAP).read_bytes())
    except (OSError, ValueError):
        # Nothing remembered yet, or damaged: it can always be worked out again.
        return {}
    return known if isinstance(known, dict) else {}


def _remember(place: str, entry: dict[str, Any]) -> None:
    known = _read()
    known.pop(place, None)
    known[place] = entry
    kept = dict(list(known.items())[-_KEPT:])
    try:
        file = paths.private_dir(base()) / _MAP
        waiting = file.with_name(f"{_MAP}.{os.getpid()}")
        fd = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w", encoding="ascii") as out:
            json.dump(kept, out)
        waiting.replace(file)
    except OSError:
        # Not remembered on a full or read-only disk: it costs time, and the append itself will say what is wrong.
        return
