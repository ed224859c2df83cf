"""Whether somebody wrote or removed a file of settings."""

from __future__ import annotations

from pathlib import Path

from cm_tui import paths

Stamps = tuple[tuple[int, int, int] | None, ...]
"""Of the user's file and the project's: inode, time, size; None where there is none."""


def stamps_of(root: Path | None) -> Stamps:
    """Return what differs when a file of settings was written or removed.

    Args:
        root: the project's root, whose file counts too.
    """
    files = (paths.config_file(), *((paths.project_config_file(root),) if root is not None else ()))
    return tuple(map(_stamp, files))


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
