"""Files that ignore files exclude from a checkout, by git's library."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

import pygit2
from pygit2.enums import FileStatus

_FAR_DOWN = 20
"""Nesting depth beyond which git's library is slow to decide on ignored paths: it looks into every parent folder, so a
thousand levels took it 10 s."""


def untracked(root: Path, repository: pygit2.Repository) -> Iterator[tuple[str, FileStatus]]:
    """Yield every readable file of a folder without git that is not ignored.

    `repository`: the private one for comparing it.
    """
    folders = [""]
    while folders:
        inside = folders.pop()
        try:
            entries = sorted(os.scandir(root / inside), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{inside}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if repository.path_is_ignored(f"{path}/" if is_folder else path):
                continue
            if is_folder and not os.path.lexists(os.path.join(entry.path, ".git")):  # noqa: PTH118 - for each folder
                folders.append(f"{path}/")
            else:
                yield (f"{path}/" if is_folder else path), FileStatus.WT_NEW


def is_passed(repository: pygit2.Repository, folder: str) -> bool:
    """Whether a comparison skips a folder: ignored, with nothing tracked in it."""
    try:
        if folder.count("/") > _FAR_DOWN and _holds_tracked(repository, folder):
            return False
        return bool(repository.path_is_ignored(folder)) and not _holds_tracked(repository, folder)
    except (KeyError, ValueError, pygit2.GitError):
        return False


def _holds_tracked(repository: pygit2.Repository, folder: str) -> bool:
    index = repository.index
    # Sorted by bytes, as in git.
    at = bisect_left(range(len(index)), os.fsencode(folder), key=lambda n: os.fsencode(index[n].path))
    return at < len(index) and index[at].path.startswith(folder)
