"""Projects and their stores: found, listed and removed without opening one."""

from __future__ import annotations

import shutil
from pathlib import Path

from cm_tui import paths
from cm_tui.errors import StoreError


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


def is_indexed(folder: Path | None = None) -> bool:
    """Whether a project has a store at all; nothing is made to find out."""
    return store_file(locate(folder)[1]).exists()


def store_file(store: Path) -> Path:
    """Return the file that makes a folder a store."""
    from cm_tui.engine.store.database import FILE

    return store / FILE


def all_stores() -> list[Path]:
    """Return the folders of all stores."""
    return sorted(path for path in (paths.data_dir() / "projects").glob("*") if path.is_dir())


def remove(store: Path, *, keep: str = "") -> None:
    """Remove a store's folder; with `keep`, all in it but the file of that name.

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


def clear(store: Path) -> None:
    """Remove of a store what can be made again: all but the marks that a person set."""
    from cm_tui.engine.mainline.user_marks import FILE

    remove(store, keep=FILE)
