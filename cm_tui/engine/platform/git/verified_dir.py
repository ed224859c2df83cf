"""Verifying which repository a folder belongs to: its `.git` file must match the repository's own data.

Anyone can put a file `.git` into a folder that points at another repository. So the repository is checked, too:
`gitdir` of a linked worktree, `core.worktree` of a submodule (gitrepository-layout(5), git-config(1)). Only files are
read, and nothing is imported or started: a hook has milliseconds.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cm_tui.engine.platform.git.config_text import CONFIG_BYTES, settings_in
from cm_tui.files import read_regular

_POINTER_BYTES = 8_192

# Plain strings and os.path: a hook's time is counted in milliseconds.
_join, _real = os.path.join, os.path.realpath


def verified_git_dir(root: Path) -> Path | None:
    """Return the git folder of a checkout's repository, as its real path; all its worktrees share it.

    Accepted are a checkout's own folder `.git`, a linked worktree, and a submodule or a folder elsewhere that names the
    checkout in `core.worktree`. `root`: the top folder of the checkout. Returns None: no `.git`, not valid for git, or
    the repository has no reference to this checkout.
    """
    dot = _join(root, ".git")
    try:
        mode = os.lstat(dot).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode):
        # Git never leaves a `commondir` here: one would make any repository's branches and settings this folder's own.
        own = _real(dot)
        is_own = _is_git_dir(own) and not os.path.lexists(_join(own, "commondir"))
        return Path(own) if is_own else None
    pointed = _pointed_at(dot)
    if pointed is None:
        return None
    common = _text(_join(pointed, "commondir"), _POINTER_BYTES)
    if common is not None:
        return _of_worktree(root, pointed, _real(_join(pointed, common.strip())))
    is_named = _is_git_dir(pointed) and _names_checkout(pointed, root)
    return Path(pointed) if is_named else None


def _pointed_at(dot: str) -> str | None:
    """The folder that a file or a link `.git` leads to."""
    if os.path.isdir(dot):  # noqa: PTH112
        return _real(dot)
    text = _text(dot, _POINTER_BYTES)
    if text is None or not text.startswith("gitdir:"):
        return None
    target = _plain(text.removeprefix("gitdir:"))
    return _real(_join(os.path.dirname(dot), target)) if target else None  # noqa: PTH120


def _of_worktree(root: Path, own: str, common: str) -> Path | None:
    """The common folder, if it lists this worktree: a folder elsewhere could claim any."""
    if os.path.dirname(own) != _join(common, "worktrees") or not _is_git_dir(common):  # noqa: PTH120
        return None
    back = _plain(_text(_join(own, "gitdir"), _POINTER_BYTES) or "")
    if back is None:
        return None
    folder, name = os.path.split(_join(own, back))
    return Path(common) if name == ".git" and _is_same(folder, root) else None


def _names_checkout(own: str, root: Path) -> bool:
    named: str | None = None
    for name in ("config", "config.worktree"):
        text = _text(_join(own, name), CONFIG_BYTES)
        named = (_core_worktree(text) if text is not None else None) or named
    return named is not None and _is_same(_join(own, named), root)


def _core_worktree(text: str) -> str | None:
    """The last `core.worktree` of a settings file of git."""
    found = None
    for section, key, value in settings_in(text):
        if (section, key) == ("core", "worktree"):
            found = _plain(value)
    return found


def _plain(text: str) -> str | None:
    """The path in a pointer file; None: invalid."""
    text = text.strip("\r\n \t")
    return text if text and "\0" not in text and "\n" not in text else None


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


def _text(file: str, limit: int) -> str | None:
    """Content of an ordinary file; None: missing, or too long."""
    data = read_regular(file, limit)
    return os.fsdecode(data) if data is not None else None
