"""Which notes came with a repository, so that a stranger may have written them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pygit2

from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.platform.git.opening import repository_around
from cm_tui.engine.platform.git.reach import has_foreign_history
from cm_tui.errors import CmError

Origins = Callable[[Found], bool]
"""Returns whether a note came with the repository."""


def origins_of(root: Path) -> Origins:
    """Return a test whether notes of a project came with it: tracked by git, or unknown."""
    index = _index(root)

    def came_along(place: Found) -> bool:
        if place.scope == "user":
            return False
        # A submodule's files are in its own index, and came with the repository all the same.
        folders = PurePosixPath(place.path).parents
        return (
            index is None or place.path in index or any((root / one / ".git").exists() for one in folders if one.name)
        )

    return came_along


def _index(root: Path) -> pygit2.Index | None:
    """Return git's index; None: the folder has no repository of its own, or it cannot be read."""
    try:
        found = repository_around(root)
        is_own = found is not None and found.workdir and Path(found.workdir).resolve() == root.resolve()
        return found.index if found is not None and is_own and not has_foreign_history(root) else None
    except (CmError, ValueError, OSError, pygit2.GitError):
        return None
