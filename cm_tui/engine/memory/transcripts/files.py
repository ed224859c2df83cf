"""The files of transcripts below a folder, within bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

LINES = (".jsonl", ".jsonl.gz")
"""Endings of transcripts that are files of JSON lines."""
PACKED = (".jsonl.zst", ".jsonl.xz", ".jsonl.bz2", ".jsonl.zip")
"""Endings of unsupported packed files."""
DOCUMENTS = (".json", ".ndjson")
"""Endings of what other programs, and old versions of agents, write instead."""
_MOST = 200_000
"""Entries that are looked at below one folder."""


class FoundFile(NamedTuple):
    """A file, as the folder lists it."""

    path: Path
    size: int
    changed: float
    """Seconds since the epoch."""


def found_files(
    folder: Path,
    suffix: str | tuple[str, ...],
    *,
    depth: int,
    left_out: list[Path] | None = None,
    links: bool = True,
) -> Iterator[FoundFile]:
    """Yield the ordinary files below a folder; links to folders are not followed, unreadable ones are skipped.

    `folder`: where to begin; may be missing. `suffix`: endings of the names. `depth`: most levels of folders.
    `left_out`: receives the folder when it has more files than the limit. `links`: include links to files.
    """
    left = _MOST
    folders = [(folder, depth)]
    while folders and left > 0:
        at, levels = folders.pop()
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    left -= 1
                    if levels > 1 and entry.is_dir(follow_symlinks=False):
                        folders.append((Path(entry.path), levels - 1))
                    elif entry.name.endswith(suffix) and entry.is_file(follow_symlinks=links):
                        found = entry.stat(follow_symlinks=links)
                        yield FoundFile(Path(entry.path), found.st_size, found.st_mtime)
        except OSError:
            # Removed meanwhile, or not accessible: there is nothing to import.
            continue
    if folders and left_out is not None and folder not in left_out:
        left_out.append(folder)


def names_of_folders(folder: Path) -> list[str]:
    """Return the names of the folders in a folder, up to a limit and without links; empty if missing."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in islice(entries, _MOST) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
