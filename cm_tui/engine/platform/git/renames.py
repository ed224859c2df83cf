"""Renames between two commits, by git's own measure of likeness."""

from __future__ import annotations

import pygit2
from pygit2.enums import DeltaStatus, DiffFind

from cm_tui.engine.platform.git.commits import MissingError

_ALIKE = 50
"""Least per cent of common lines of a renamed file: git's own default."""
_MOST_FILES = 1_000
"""Deleted files that are compared with the new ones, each with each; of more, only equal contents are paired."""


def renames_between(repository: pygit2.Repository, before: str, after: str) -> dict[str, str]:
    """Return the new path of each file renamed by a commit, by its old one; empty if objects are missing.

    `repository`: an open pygit2 repository; `before`: sha of the older commit; `after`: sha of the newer one.
    """
    try:
        diff = repository.diff(before, after)
        diff.find_similar(flags=DiffFind.FIND_RENAMES, rename_threshold=_ALIKE, rename_limit=_MOST_FILES)
        return {one.old_file.path: one.new_file.path for one in diff.deltas if one.status == DeltaStatus.RENAMED}
    except (MissingError, KeyError, ValueError, pygit2.GitError):
        return {}
