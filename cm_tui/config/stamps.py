"""Change stamps of the settings files."""

from __future__ import annotations

from pathlib import Path

from cm_tui import paths

Stamps = tuple[tuple[int, int, int] | None, ...]
"""Inode, time and size of the user's and the project's file; None for a missing file."""


def stamps_of(root: Path | None) -> Stamps:
    """Return the change stamps of the settings files.

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
