"""Names of files that are the same name on macOS and Windows: they differ in case or in the form of their letters alone."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path


def name_key(name: str) -> str:
    """Return a key that is equal for two names that some file system takes for one."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def same_names(folder: Path, name: str) -> list[str]:
    """Return the names in a folder that are the same as a name; that very name is the only one where it is there.

    A folder that is missing or cannot be read has none.
    """
    try:
        names = os.listdir(folder)  # noqa: PTH208 - paths are not needed
    except OSError:
        return []
    key = name_key(name)
    found = sorted(one for one in names if name_key(one) == key)
    return [name] if name in found else found


def twin_of(base: Path, path: str) -> Path | None:
    """Return a file or folder that a path collides with on macOS and Windows, or None.

    `path`: below it, with `/`.
    """
    at = base
    for part in path.split("/"):
        found = same_names(at, part)
        if not found:
            return None
        if found != [part]:
            return at / found[0]
        at /= part
    return None
