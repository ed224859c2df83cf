"""Verifying which repository a folder belongs to: its `.git` file must match the repository's own data.

Anyone can put a file `.git` into a folder that points at another repository. So the repository is checked, too:
`gitdir` of a linked worktree, `core.worktree` of a submodule (gitrepository-layout(5), git-config(1)). Only files are
read, and nothing is imported or started: a hook has milliseconds.
"""

from __future__ import annotations

import os
from pathlib import Path

from cm_tui.engine.platform.git.config_text import settings_in
from cm_tui.engine.platform.git.git_dir import git_folders, small_text

# Plain strings and os.path: a hook's time is counted in milliseconds.
_join, _real = os.path.join, os.path.realpath


def verified_git_dir(root: Path) -> Path | None:
    """Return the git folder of a checkout's repository, as its real path; all its worktrees share it.

    Accepted are a checkout's own folder `.git`, a linked worktree, and a submodule or a folder elsewhere that names the
    checkout in `core.worktree`. `root`: the top folder of the checkout. Returns None: no `.git`, not valid for git, or
    the repository has no reference to this checkout.
    """
    found = git_folders(root)
    if found is None:
        return None
    own, common = _real(found.own), _real(found.common)
    dot, has_common = _join(root, ".git"), os.path.lexists(_join(own, "commondir"))
    if os.path.isdir(dot) and not os.path.islink(dot):  # noqa: PTH112, PTH114
        # Git never leaves a `commondir` here: one would make any repository's branches and settings this folder's own.
        is_own = not has_common
    elif has_common:
        # A folder elsewhere could claim any worktree: the repository must list this one.
        back, name = os.path.split(_join(own, (small_text(Path(own, "gitdir")) or "").strip()))
        is_own = os.path.dirname(own) == _join(common, "worktrees") and name == ".git" and _is_same(back, root)  # noqa: PTH120
    else:
        named = _core_worktree(own)
        is_own = bool(named) and _is_same(_join(own, named), root)
    return Path(common) if is_own and _is_git_dir(common) else None


def _core_worktree(own: str) -> str:
    """Return the last `core.worktree` of a repository's settings; empty: not set."""
    named = ""
    for name in ("config", "config.worktree"):
        for section, key, value in settings_in(small_text(Path(own, name)) or ""):
            if (section, key) == ("core", "worktree"):
                named = value
    return named


def _is_git_dir(folder: str) -> bool:
    """Whether git would accept it, roughly: HEAD, objects and references exist."""
    return os.path.lexists(_join(folder, "HEAD")) and all(
        os.path.isdir(_join(folder, name))  # noqa: PTH112
        for name in ("objects", "refs")
    )


def _is_same(folder: str, root: Path) -> bool:
    try:
        return os.path.samefile(folder, root)  # noqa: PTH121
    except (OSError, ValueError):
        return False
