"""Which checkouts share a project's memory: the first that made one, and those that a person linked to it.

A remote's address and a first commit are claims: anybody can put them into an archive, a fork or a copy. So a folder that
merely claims a project which has a memory already gets one of its own, until a person links it. All worktrees of one
repository are one checkout here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.git.verified_dir import verified_git_dir
from cm_tui.errors import StoreError
from cm_tui.files import write_atomically
from cm_tui.locks import locked

_LOCK_SECONDS = 10.0
_JOURNAL_FOLDERS = "roots.json"
"""What journals keep about folders; versions without links left there whose they are."""


def owner_of(root: Path) -> str:
    """Return the name under which a checkout is linked: its repository's git folder, else where it lies."""
    return str(verified_git_dir(root) or os.path.realpath(root))


def main_folder(owner: str) -> str:
    """Return the folder that an owner's name stands for, for people."""
    return owner.removesuffix(f"{os.sep}.git")


def owners(project: str) -> frozenset[str] | None:
    """Return who shares the memory of a project; None while it has none.

    Args:
        project: name of the project's folder among the stores and among the journals.
    """
    entry = _read().get(project)
    if isinstance(entry, list):
        return frozenset(map(str, entry))
    return _owners_before_links(project)


def is_linked(project: str, root: Path) -> bool:
    """Return whether a checkout may use the memory of a project that it claims to be."""
    known = owners(project)
    return known is None or owner_of(root) in known


def claim(project: str, root: Path) -> None:
    """Make a checkout the first owner of a project's memory, where it has none yet.

    Raises:
        StoreError: it cannot be written down.
    """
    if project in _read():
        return
    owner = owner_of(root)

    def first(known: frozenset[str] | None) -> frozenset[str]:
        # Under the lock: of two that begin at once, one was first.
        return frozenset({owner}) if known is None else known

    _change(project, first)


def link(project: str, root: Path) -> None:
    """Let a checkout share a project's memory, as a person said; checkouts that are no longer there are dropped.

    Raises:
        StoreError: it cannot be written down.
    """

    def linked(known: frozenset[str] | None) -> frozenset[str]:
        return frozenset(owner for owner in known or () if Path(owner).exists()) | {owner_of(root)}

    _change(project, linked)


def unlink(project: str, root: Path) -> None:
    """Part a checkout from a project's memory.

    Raises:
        StoreError: it cannot be written down.
    """
    _change(project, lambda known: (known or frozenset()) - {owner_of(root)})


def _owners_before_links(project: str) -> frozenset[str] | None:
    """Return who used a memory that an earlier version made."""
    data = paths.data_dir()
    store, journal = data / "projects" / project, data / "journal" / project
    if not (store / paths.STORE_MANIFEST).is_file() and not journal.is_dir():
        return None
    roots = [folder for folder, one in _json(data / "journal" / _JOURNAL_FOLDERS).items() if _name_in(one) == project]
    indexed = _json(store / paths.STORE_MANIFEST).get("root")
    roots += [indexed] if isinstance(indexed, str) else []
    return frozenset(owner_of(Path(folder)) for folder in roots)


def _name_in(entry: Any) -> object:
    return entry.get("name") if isinstance(entry, dict) else None


def _read() -> dict[str, Any]:
    return _json(paths.links_file())


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _change(project: str, change: Callable[[frozenset[str] | None], frozenset[str]]) -> None:
    file = paths.links_file()
    try:
        paths.private_dir(file.parent)
        with locked(file.with_suffix(".lock"), _LOCK_SECONDS):
            known = _read()
            known[project] = sorted(change(owners(project)))
            write_atomically(file, json.dumps(known, indent=1), durable=True)
    except OSError as error:
        raise StoreError(f"Cannot write {file}: {error}", hint="Check the permissions of its folder.") from error
