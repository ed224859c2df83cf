"""Finding a session's folder from a digest or a shortened name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any

from cm_tui.engine.memory.transcripts.lines import as_text

UNKNOWN = f"{os.sep}(unknown){os.sep}"
"""Prefix of a placeholder for an unknown folder; no project's folder has it."""
_PATHS = ("file_path", "path", "absolute_path", "dir_path", "target_file", "target_directory", "working_directory", "cwd")  # fmt: skip
_LONGEST = 4_000
_OTHERS = re.compile(r"[^A-Za-z0-9]+")
_MOST = 50_000
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
    left = _MOST
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
