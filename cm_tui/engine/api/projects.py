"""What can be asked about projects and their stores without opening an engine.

Everything is imported when it is called: the command line imports this module before it knows what is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cm_tui.errors import CmError
    from cm_tui.model import Check


def locate(folder: Path | None, *, force: bool = False, around: bool = False) -> tuple[Path, Path]:
    """Return the root of the project around a folder, and the folder of its store, whether that exists or not.

    Args:
        folder: the current one when not given.
        force: take a root that is refused as unsafe.
        around: the folder is where someone stands, not one that they named.

    Raises:
        RefusedError: the root is unsafe and `force` is not set.
        NotFoundError: there is no such folder.
    """
    from cm_tui.engine.store import locations

    return locations.locate(folder, force=force, around=around)


def store_of(folder: Path | None = None) -> Path:
    """Return the folder of a project's store, whether it exists or not."""
    from cm_tui.engine.store import locations

    return locations.store_of(folder)


def store_file(store: Path) -> Path:
    """Return the file that makes a folder a store."""
    from cm_tui.engine.store import locations

    return locations.store_file(store)


def has_store(store: Path) -> bool:
    """Return whether there is a store in a folder; nothing is made to find out."""
    return store_file(store).exists()


def is_indexed(folder: Path | None = None) -> bool:
    """Return whether a project has a store at all; nothing is made to find out."""
    return has_store(locate(folder)[1])


def all_stores() -> list[Path]:
    """Return the folders of all stores."""
    from cm_tui.engine.store import locations

    return locations.all_stores()


def remove_store(store: Path) -> None:
    """Remove a store that no daemon has open; `daemon.open_engine.remove` asks one that has.

    Raises:
        StoreBusyError: another process has it.
        StoreError: it cannot be removed.
    """
    from cm_tui.engine.store import locations

    locations.remove(store)


def clear_store(store: Path) -> None:
    """Remove of a store what can be made again: all but the marks that a person set.

    Raises:
        StoreBusyError: another process has it.
        StoreError: it cannot be removed.
    """
    from cm_tui.engine.store import locations

    locations.clear(store)


def examine_installation(root: Path) -> tuple[Check, ...]:
    """Check all that an engine needs but the store: for a project that does not open."""
    from cm_tui.engine.doctor import examine

    return examine(root)


def examine_without_store(root: Path, error: CmError) -> tuple[Check, ...]:
    """Check what can be checked without the store of a root, and say why that did not open."""
    from cm_tui.model import Check

    return (*examine_installation(root), Check("store", "failed", error.message, error.hint))
