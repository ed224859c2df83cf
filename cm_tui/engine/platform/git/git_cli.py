"""Status by the git program, where libgit2 cannot read the index (split, sparse) or HEAD's commit."""

from __future__ import annotations

import os
from pathlib import Path

from pygit2.enums import FileStatus

from cm_tui.engine.platform.git import safe_git
from cm_tui.errors import CmError

_SECONDS = 600.0
"""A large working tree on a slow disk takes a while to compare."""

_INDEX = {"A": FileStatus.INDEX_NEW, "D": FileStatus.INDEX_DELETED, " ": FileStatus.CURRENT}
_DISK = {"D": FileStatus.WT_DELETED, "T": FileStatus.WT_TYPECHANGE, " ": FileStatus.CURRENT}


def status(root: Path) -> dict[str, FileStatus]:
    """Return `git status` with the flags of libgit2; files outside a sparse checkout count as deleted on disk.

    Raises CmError if git is missing, or fails.
    """
    found = dict.fromkeys(not_checked_out(root), FileStatus.WT_DELETED)
    for line in _lines(root, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"):
        if line.startswith("??"):
            found[line[3:]] = found.get(line[3:], FileStatus.CURRENT) | FileStatus.WT_NEW
        else:
            staged = _INDEX.get(line[0], FileStatus.INDEX_MODIFIED)
            found[line[3:]] = (
                found.get(line[3:], FileStatus.CURRENT) | staged | _DISK.get(line[1], FileStatus.WT_MODIFIED)
            )
    return found


def not_checked_out(root: Path) -> list[str]:
    """Return the files that a sparse checkout leaves out. Raises CmError if git is not there, or fails."""
    lines = _lines(root, "ls-files", "-t", "-z")
    return [line[2:] for line in lines if line.startswith("S ") and not (root / line[2:]).exists()]


def _lines(root: Path, *words: str) -> list[str]:
    found = safe_git.run(root, *words, seconds=_SECONDS)
    if found.code:
        raise CmError(f"git cannot compare {root}.", hint="Check it with `git status`.")
    return [os.fsdecode(line) for line in found.data.split(b"\0") if line]
