"""The files of transcripts below a folder, within bounds, and the folder of a session by a shortened name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from cm_tui.engine.memory.transcripts.lines import as_text

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


# --- finding a session's folder from a digest or a shortened name ---

UNKNOWN = f"{os.sep}(unknown){os.sep}"
"""Prefix of a placeholder for an unknown folder; no project's folder has it."""
_PATHS = ("file_path", "path", "absolute_path", "dir_path", "target_file", "target_directory", "working_directory", "cwd")  # fmt: skip
_LONGEST = 4_000
_OTHERS = re.compile(r"[^A-Za-z0-9]+")
_MOST_NAMED = 50_000
"""Entries of folders that are looked at for one name."""
_DEEPEST = 60


def unknown_folder(name: str) -> str:
    """Return the placeholder for a folder known only by a digest or short name."""
    return UNKNOWN + name.replace(os.sep, "-").replace("\0", "")[:200]


def dashed(path: str) -> str:
    """Return a path as a name of letters and digits with a dash between them, which is not unique."""
    return _OTHERS.sub("-", path).strip("-")


def folders_called(name: str) -> list[str]:
    """Return the folders on this machine whose dashed path is a name; links are not followed.

    `name`: as `dashed` returns it.
    """
    found: list[str] = []
    left = _MOST_NAMED
    waiting = [(os.sep, name)]
    while waiting and left > 0:
        at, rest = waiting.pop()
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    left -= 1
                    part = dashed(entry.name)
                    if part and f"{rest}-".startswith(f"{part}-") and entry.is_dir(follow_symlinks=False):
                        if part == rest:
                            found.append(entry.path)
                        else:
                            waiting.append((entry.path, rest[len(part) + 1 :]))
        except OSError:
            continue
    # Of too many folders nothing is known for sure.
    return found if left > 0 else []


def paths_in(given: Any) -> Iterator[str]:
    """Yield the absolute paths in a tool's input."""
    if isinstance(given, dict):
        texts = (as_text(given.get(name)) for name in _PATHS)
        yield from (text for text in texts if text and len(text) <= _LONGEST and os.path.isabs(text))  # noqa: PTH117


def folder_among(paths: Iterable[str], is_it: Callable[[str], bool]) -> str:
    """Return the first of some paths, or of the folders above them, that a test accepts; empty: none."""
    seen: set[str] = set()
    for path in paths:
        at = PurePath(os.path.normpath(path))
        for folder in (at, *list(at.parents)[:_DEEPEST]):
            text = str(folder)
            if text in seen:
                break
            seen.add(text)
            if is_it(text):
                return text
    return ""
