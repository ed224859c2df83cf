"""Folders above paths, which are written with `/` and relative to the root."""

from __future__ import annotations

from collections.abc import Container, Iterable


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder above some paths."""
    folders: set[str] = set()
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent and parent not in folders:
            folders.add(parent)
            parent = parent.rpartition("/")[0]
    return frozenset(folders)


def folders_to(folder: str, known: Container[str]) -> list[str]:
    """Return a folder and its unknown parents, from the outermost to the innermost.

    A clone may have thousands of nested folders, too many for recursion.
    """
    missing: list[str] = []
    while folder and folder not in known:
        missing.append(folder)
        folder = folder.rpartition("/")[0]
    return missing[::-1]
