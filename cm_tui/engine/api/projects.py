"""Projects and their stores: found, listed, checked and removed without opening an engine.

Everything is imported when it is called: the command line imports this module before it knows what is asked for.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import paths
from cm_tui.errors import StoreError

if TYPE_CHECKING:
    from cm_tui.errors import CmError
    from cm_tui.model import Check


def locate(folder: Path | None, *, force: bool = False, around: bool = False) -> tuple[Path, Path]:
    """Return the root of the project around a folder and the folder of its store, whether that exists or not.

    Args:
        folder: the current one when not given.
        force: take a root that is refused as unsafe.
        around: the folder is where someone stands, not one that they named.

    Raises:
        RefusedError: the root is unsafe and `force` is not set.
        NotFoundError: there is no such folder.
    """
    from cm_tui.engine.git.identity import identify
    from cm_tui.engine.git.roots import find_root

    root = find_root(folder, force=force, around=around)
    return root, identify(root).folder


def store_of(folder: Path | None = None) -> Path:
    """Return the folder of a project's store, whether it exists or not."""
    return locate(folder, force=True)[1]


def has_store(store: Path) -> bool:
    """Return whether there is a store in a folder; nothing is made to find out."""
    return store_file(store).exists()


def is_indexed(folder: Path | None = None) -> bool:
    """Return whether a project has a store at all; nothing is made to find out."""
    return has_store(locate(folder)[1])


def store_file(store: Path) -> Path:
    """Return the file that makes a folder a store."""
    from cm_tui.engine.store.database import FILE

    return store / FILE


def all_stores() -> list[Path]:
    """Return the folders of all stores."""
    return sorted(path for path in (paths.data_dir() / "projects").glob("*") if path.is_dir())


def remove_store(store: Path, *, keep: str = "") -> None:
    """Remove a store that no daemon has open; with `keep`, all in it but the file of that name.

    Raises:
        StoreBusyError: another process has it.
        StoreError: it cannot be removed.
    """
    from cm_tui.engine.store.database import refuse_busy

    if not store.exists():
        return
    refuse_busy(store)
    try:
        if not (store / keep).is_file():
            shutil.rmtree(store)
            return
        for entry in store.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != keep:
                entry.unlink()
    except OSError as error:
        raise StoreError(f"Cannot remove {store}: {error}", hint="Check its permissions.") from error


def clear_store(store: Path) -> None:
    """Remove of a store what can be made again: all but the marks that a person set.

    Raises:
        StoreBusyError: another process has it.
        StoreError: it cannot be removed.
    """
    from cm_tui.engine.mainline.user_marks import FILE

    remove_store(store, keep=FILE)


def examine_installation(root: Path) -> tuple[Check, ...]:
    """Check all that an engine needs but the store: for a project that does not open."""
    from cm_tui.engine.doctor import examine

    return examine(root)


def examine_without_store(root: Path, error: CmError) -> tuple[Check, ...]:
    """Check what can be checked without the store of a root, and say why that did not open."""
    from cm_tui.model import Check

    return (*examine_installation(root), Check("store", "failed", error.message, error.hint))
