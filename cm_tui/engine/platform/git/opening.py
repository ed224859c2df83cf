"""Opening repositories: the one around a folder, and a private one for a project without git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pygit2

from cm_tui.engine.platform.git.broken_head import refuse_broken_head
from cm_tui.engine.platform.git.git_dir import GitFolders, git_folders
from cm_tui.engine.platform.git.special_files import refuse_special
from cm_tui.engine.platform.git.storage_format import (
    READABLE_EXTENSIONS,
    UnreadableGit,
    checkout_around,
    unreadable_format,
)
from cm_tui.errors import RefusedError


def repository_around(folder: Path) -> pygit2.Repository | None:
    """Return the git repository around a folder; None: none, or in a format that git's library cannot read.

    Raises RefusedError if it belongs to another user, contains a pipe or a device, or its HEAD is damaged.
    """
    found = open_around(folder)
    return found if isinstance(found, pygit2.Repository) else None


def open_around(folder: Path) -> pygit2.Repository | UnreadableGit | None:
    """Return the git repository around a folder, or why git's library cannot read it.

    Raises RefusedError as for `repository_around`.
    """
    refuse_special(folder)
    found = pygit2.discover_repository(str(folder))
    around = checkout_around(folder)
    # Whether the library finds a repository of another format depends on its version.
    unreadable = unreadable_format(*around) if around is not None and _is_nearest(around, found) else None
    if unreadable is not None:
        return unreadable
    if found is None:
        _refuse_unfound(folder)
        return None
    refuse_broken_head(Path(found))
    if not set(READABLE_EXTENSIONS).issubset(pygit2.settings.extensions):
        pygit2.settings.set_extensions(list(READABLE_EXTENSIONS))
    try:
        # By the folder: git's own may be elsewhere without a reference to the files.
        return pygit2.Repository(str(folder))
    except pygit2.GitError as error:
        said = str(error)
        if around is not None and _is_about_format(said):
            return UnreadableGit(*around, said)
        raise RefusedError(f"Cannot open the git repository {found}: {said}", hint=_way_out(said, found)) from error


def _is_nearest(around: tuple[Path, GitFolders], found: str | None) -> bool:
    """Whether the nearest `.git` leads to the found repository: that may be a bare one further down."""
    return found is None or os.path.realpath(found) == os.path.realpath(around[1].own)


def _is_about_format(error: str) -> bool:
    return "not owned" not in error and any(
        word in error for word in ("extension", "object format", "repository version")
    )


def _refuse_unfound(folder: Path) -> None:
    """Raise if git's library finds nothing only because of a damaged HEAD.

    Raises RefusedError if the HEAD of a repository there is damaged.
    """
    for one in (folder, *folder.parents):
        found = git_folders(one)
        if found is not None and (found.common / "objects").is_dir() and (found.common / "refs").is_dir():
            refuse_broken_head(found.own)
            return


def _way_out(error: str, found: str) -> str:
    if "not owned" in error:
        return f"If you trust it: git config --global --add safe.directory {found.rstrip('/').removesuffix('/.git')}"
    return "Check it with `git fsck`."


def private_repository(folder: Path, root: Path) -> pygit2.Repository:
    """Return a repository in our own folder with a working tree outside git; create it if needed."""

    def make() -> pygit2.Repository:
        made = pygit2.init_repository(str(folder), bare=True)
        made.config["core.bare"] = False
        made.config["core.worktree"] = str(root)
        return pygit2.Repository(str(folder))

    try:
        kept = pygit2.Repository(str(folder))
        if kept.workdir is not None and Path(kept.workdir) == root:
            return kept
        return make()
    except (pygit2.GitError, ValueError):
        # Missing or damaged: it holds nothing of value, and is recreated.
        shutil.rmtree(folder, ignore_errors=True)
        return make()
