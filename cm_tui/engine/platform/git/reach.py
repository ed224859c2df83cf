"""Which checkouts are in given folders, and whether git's data leads out of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal

from cm_tui.engine.platform.git.git_dir import GitFolders, alternates, git_folders, head_chain, verified_git_dir

Reach = Literal["given", "foreign git", "outside"]
FOREIGN = (
    "the `.git` of this folder points to a repository that does not reference it. There, "
    "`git worktree repair` registers a moved worktree, `git config core.worktree FOLDER` any other folder."
)
"""Message on a folder whose history is another repository's."""


def reach(root: Path, folders: Iterable[Path]) -> Reach:
    """Return whether folders cover a checkout: it is in one of them, or is a worktree of a repository in one.

    `folders`: the given folders; links in them and in the root are followed. Returns `foreign git` for a covered folder
    whose `.git` takes HEAD, references, index or objects from elsewhere: from a repository without a reference back
    that is not covered.
    """
    real, given = _real(root), [_real(folder) for folder in folders]
    shared = verified_git_dir(real)
    if not any(real.is_relative_to(folder) or (shared is not None and _keeps(folder, shared)) for folder in given):
        return "outside"
    found = git_folders(real)
    if found is None:
        # Nothing that git's library could open either: a project without git.
        return "given"
    known = [*given, shared] if shared is not None else given
    data = chain(_says_what_is_there(found), _holds_what_is_there(found.common / "objects"))
    return "given" if all(_is_below(path, known) for path in data) else "foreign git"


def has_foreign_history(root: Path) -> bool:
    """Return whether HEAD, a reference or the index of a checkout is another repository's, without a reference back.

    One that only borrows objects, as from `git clone --shared`, has its own history.
    """
    found = git_folders(root)
    if found is None:
        return False
    shared = verified_git_dir(root)
    known = [_real(root), *([shared] if shared is not None else [])]
    return not all(_is_below(path, known) for path in _says_what_is_there(found))


def _keeps(folder: Path, shared: Path) -> bool:
    return shared.is_relative_to(folder) or verified_git_dir(folder) == shared


def _says_what_is_there(folders: GitFolders) -> Iterator[Path]:
    """Yield all git data that decides on the commit and files of a checkout: any of it may be a link."""
    yield from folders
    yield from (folders.own / "HEAD", folders.own / "index", folders.common / "packed-refs", folders.common / "refs")
    yield from _links_below(folders.common / "refs")
    for text in head_chain(folders):
        if text.startswith("ref:"):
            yield from (folder / text.removeprefix("ref:").strip() for folder in folders)


def _holds_what_is_there(objects: Path) -> Iterator[Path]:
    """Yield the sources of objects: any folder of them may be a link, and name others to borrow from."""
    for one in (objects, *alternates(objects)):
        yield from (one, one / "pack", one / "info", one / "info/alternates")
        for folder in (one, one / "pack"):
            yield from _links_in(folder)


def _links_below(folder: Path) -> Iterator[Path]:
    """Yield the links below a folder, not followed: folders of references are nested."""
    folders = [os.fspath(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        yield Path(entry.path)
                    elif entry.is_dir():
                        folders.append(entry.path)
        except OSError:
            continue


def _links_in(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            yield from [Path(entry.path) for entry in entries if entry.is_symlink()]
    except OSError:
        return


def _is_below(path: Path, known: Iterable[Path]) -> bool:
    real = _real(path)
    return any(real.is_relative_to(one) for one in known)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
