"""Whether a file is as git put it there: then nobody saved it, and it is meant as it is."""

from __future__ import annotations

from pathlib import Path

import pygit2

from cm_tui.engine.git.git_dir import git_folders


def is_gits_doing(root: Path, path: str, data: bytes) -> bool:
    """Return whether a file says what HEAD says, or git is at work and may be writing it.

    Args:
        root: of the checkout.
        path: of the file, relative to it with `/`.
        data: that the file holds.
    """
    folders = git_folders(root)
    if folders is None:
        return False
    if (folders.own / "index.lock").exists():
        return True
    try:
        found = pygit2.Repository(str(root)).revparse_single(f"HEAD:{path}")
    except (KeyError, ValueError, pygit2.GitError):
        return False
    return found.id == pygit2.hash(data)
