"""Stores of a project's further checkouts, worktrees and linked clones: each has a copy, which follows its own branch.

With one store, every checkout that asks costs an index run. The first one keeps the project's store. What is remembered
is in the journal and in files, which all of them share.
"""

from __future__ import annotations

import glob
import logging
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cm_tui import paths
from cm_tui.errors import CmError

MOST = 16
"""Most copies of a store."""
_MOST_BYTES = 4 << 30
_UNUSED_S = 86_400.0
"""A copy that was opened later is not removed for another checkout's: they would take turns at being made."""
_NOT_COPIED = {paths.STORE_DATABASE, f"{paths.STORE_DATABASE}.wal", paths.STORE_MANIFEST}

_log = logging.getLogger(__name__)


def copies_of(store: Path) -> list[Path]:
    """Return the folders of the copies of a project's store, finished or not."""
    return sorted(store.parent.glob(f"{glob.escape(store.name)}+*"))


def shared_with(root: Path, store: Path) -> Path | None:
    """Return the other checkout, if it exists, whose store this one has; None for one with a store of its own."""
    from cm_tui.engine.platform.git.identity import manifest_root

    if store != paths.project_store(store) or (other := manifest_root(store)) in (None, root):
        return None
    # The same folder may be spelled in another way.
    return other if other.is_dir() and not other.samefile(root) else None


def own_store(root: Path, store: Path, remove: Callable[[Path], object]) -> Path:
    """Return the store for a checkout: a new copy where one is due and possible, else the given one.

    `store`: closed, in this process too. `remove`: removes another copy; raises CmError while that is in use.
    """
    from cm_tui.engine.platform.git.identity import identify

    if shared_with(root, store) is None:
        return store
    own = paths.worktree_store(store, root)
    if identify(root).store_of(root) == own:
        # Made while this one waited.
        return own
    try:
        if _has_room(store, own, remove):
            _copy(store, own, root)
            return own
    except (CmError, OSError) as error:
        # Without one, both take turns.
        _log.info("no store of its own for %s: %s", root, error)
    return store


def is_removed(store: Path) -> bool:
    """Return whether a store is a copy that was removed; its folder must not be filled again."""
    return store != paths.project_store(store) and not (store / paths.STORE_MANIFEST).is_file()


def mark_used(store: Path) -> None:
    """Note that a store is opened, if it is a copy: the least recently used one is removed first."""
    if store != paths.project_store(store):
        with suppress(OSError):
            os.utime(store / paths.STORE_MANIFEST)


def _has_room(store: Path, own: Path, remove: Callable[[Path], object]) -> bool:
    """Remove copies of missing checkouts, and the one unused longest if necessary; return whether there is room."""
    size = max((store / paths.STORE_DATABASE).stat().st_size, 1)
    others = {one: _used(one) for one in copies_of(store) if one != own}
    for one in [one for one, used in others.items() if used is None]:
        remove(one)
        del others[one]
    oldest, used = min(others.items(), key=lambda item: item[1] or 0.0, default=(own, 0.0))
    if len(others) >= min(MOST, _MOST_BYTES // size):
        if time.time() - (used or 0.0) < _UNUSED_S:
            return False
        remove(oldest)
    return shutil.disk_usage(store).free > 4 * size


def _used(copy: Path) -> float | None:
    """Return when a copy was opened last; None: it was not finished, or its checkout is missing."""
    from cm_tui.engine.platform.git.identity import manifest_root

    root = manifest_root(copy)
    return (copy / paths.STORE_MANIFEST).stat().st_mtime if root is not None and root.is_dir() else None


def _copy(store: Path, own: Path, root: Path) -> None:
    from cm_tui.engine.code.mainline.user_marks import FILE
    from cm_tui.engine.platform.git.identity import identify
    from cm_tui.engine.platform.store.rewrite import copy_store
    from cm_tui.engine.search.vectors.snapshot import FOLDERS

    if own.exists():
        # What is left of another one: the log of its last changes would be taken for this one's.
        shutil.rmtree(own)
    for folder in FOLDERS:
        if (store / folder).is_dir():
            paths.private_dir(own / folder)
            for file in (one for one in (store / folder).iterdir() if one.is_file()):
                if file.name not in {*_NOT_COPIED, FILE}:
                    shutil.copy2(file, own / folder / file.name)
    copy_store(store, own)
    # Last: without it, a copy does not count.
    identify(root).write_manifest(root, own)
