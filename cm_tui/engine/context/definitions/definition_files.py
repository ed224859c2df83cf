"""The files of definitions in a project: little to import, as most projects have none and each prompt asks for them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cm_tui.files import read_below
from cm_tui.model import DefinitionKind
from cm_tui.paths import PROJECT_FOLDER

FOLDERS: dict[DefinitionKind, str] = {"retrieval": "retrieval", "rule": "rules", "ingestion": "ingestion"}
"""Folders below `.cm`, by kind."""
ENDINGS = (".yaml", ".yml", ".json")
MOST_FILES = 2_000

Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class DefinitionFile:
    """A file of definitions."""

    kind: DefinitionKind
    path: str
    """Relative to the root, with `/`."""
    stamp: Stamp
    """Inode, both times and size: one differs when it was written, also by a tool that sets the time back."""

    def read(self, root: Path, limit: int) -> bytes:
        """Return its content.

        Raises:
            OSError: it is missing, too long, a link or below one, or unreadable.
        """
        return read_below(root, self.path, limit)


def listed(root: Path) -> tuple[tuple[DefinitionFile, ...], bool]:
    """Return the files in order of precedence, and whether there are more than the limit."""
    found: list[DefinitionFile] = []
    for kind, name in FOLDERS.items():
        folder = f"{PROJECT_FOLDER}/{name}"
        try:
            with os.scandir(root / folder) as entries:
                files = [entry for entry in entries if entry.name.endswith(ENDINGS) and not entry.name.startswith(".")]
                found += sorted(
                    (DefinitionFile(kind, f"{folder}/{entry.name}", _stamp(entry)) for entry in files),
                    key=lambda one: one.path,
                )
        except OSError:
            continue  # Missing or unreadable.
    return tuple(found[:MOST_FILES]), len(found) > MOST_FILES


def has_files(root: Path, *kinds: DefinitionKind) -> bool:
    """Return whether a project has files of definitions of these kinds, valid or not."""
    return any(file.kind in kinds for file in listed(root)[0])


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return 0, 0, 0, 0
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size
