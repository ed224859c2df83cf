"""Opening repositories: the one that a folder is part of, and a private one for a project without git."""

from __future__ import annotations

import shutil
from pathlib import Path

import pygit2

from cm_tui.engine.git.broken_head import refuse_broken_head
from cm_tui.engine.git.git_dir import git_folders
from cm_tui.engine.git.special_files import refuse_special
from cm_tui.errors import RefusedError


def repository_around(folder: Path) -> pygit2.Repository | None:
    """Return the git repository that a folder is part of, or None.

    Raises:
        RefusedError: it belongs to someone else, is in a form that cannot be read here, holds a pipe or a device, or its
            HEAD is damaged.
    """
    refuse_special(folder)
    found = pygit2.discover_repository(str(folder))
    if found is None:
        _refuse_unfound(folder)
        return None
    refuse_broken_head(Path(found))
    # A partial clone reads well as long as what it lacks is taken from disk.
    if "partialclone" not in pygit2.settings.extensions:
        pygit2.settings.set_extensions(["partialclone"])
    try:
        # By the folder: git's own may lie elsewhere and not know where the files are.
        return pygit2.Repository(str(folder))
    except pygit2.GitError as error:
        raise RefusedError(
            f"Cannot open the git repository {found}: {error}", hint=_way_out(str(error), found)
        ) from error


def _refuse_unfound(folder: Path) -> None:
    """Stop where git's library finds nothing only because of the HEAD that it looks for.

    Raises:
        RefusedError: the HEAD of a repository there is damaged.
    """
    for one in (folder, *folder.parents):
        found = git_folders(one)
        if found is not None and (found.common / "objects").is_dir() and (found.common / "refs").is_dir():
            refuse_broken_head(found.own)
            return


def _way_out(error: str, found: str) -> str:
    if "not owned" in error:
        return f"If you trust it: git config --global --add safe.directory {found.rstrip('/').removesuffix('/.git')}"
    if "unknown object format" in error or "extension" in error:
        return "Its storage format is not supported yet; a clone in git's classic format works."
    return "Check it with `git fsck`."


def private_repository(folder: Path, root: Path) -> pygit2.Repository:
    """Return a repository in a folder of ours whose working tree is a project without git; made where there is none."""

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
        # Not there yet, or damaged: it holds nothing of value, and is made anew.
        shutil.rmtree(folder, ignore_errors=True)
        return make()
