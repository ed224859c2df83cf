"""Opening repositories: the one around a folder, and a private one for a project without git."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pygit2

from cm_tui.engine.platform.git.git_dir import GitFolders, folders_at, git_folders, reference_text, small_text
from cm_tui.engine.platform.git.special_files import refuse_special
from cm_tui.engine.platform.git.storage_format import (
    READABLE_EXTENSIONS,
    UnreadableGit,
    checkout_around,
    unreadable_format,
)
from cm_tui.errors import RefusedError

# --- a damaged HEAD: reported, with the command that repairs it ---

FINDING = "git-head-damaged"

_UNDERSTOOD = re.compile(r"^(?:ref:\s*refs/[^\0\r\n]+|[0-9a-f]{40}|[0-9a-f]{64})$")
_SHA = re.compile(r"^[0-9a-f]{40}(?:[0-9a-f]{24})?$")
_MOVED = re.compile(r"\tcheckout: moving from .* to (\S+)$")
_HEADS = "refs/heads/"


def refuse_broken_head(repository: Path) -> None:
    """Raise if a checkout's HEAD is damaged: neither git nor its library can then read anything.

    `repository`: git's folder of the checkout. Raises RefusedError: HEAD is empty, garbage, or a folder.
    """
    folders = folders_at(repository)
    head = folders.own / "HEAD"
    text = "" if head.is_dir() else (small_text(head) or "").strip()
    if _UNDERSTOOD.match(text):
        return
    said = "a folder" if head.is_dir() else f"{text[:40]!r}, which is no branch and no commit" if text else "empty"
    raise RefusedError(
        f"{head} is damaged: it is {said}. Git cannot read this repository, so it can be neither indexed nor searched.",
        hint=f"Run {_command(folders, head)}",
        finding=FINDING,
    )


def _command(folders: GitFolders, head: Path) -> str:
    """Return the command that restores the last HEAD, if the repository still has it."""
    place = shlex.quote(str(head))
    clear = f"rm -r -- {place} && " if head.is_dir() else ""
    return f"`{clear}echo {shlex.quote(_former(folders))} > {place}`, then `git status`."


def _former(folders: GitFolders) -> str:
    """Return the last HEAD: its log names the branch, and the commit."""
    lines = (small_text(folders.own / "logs" / "HEAD") or "").strip().split("\n")
    moves = [found[1] for line in lines if (found := _MOVED.search(line))]
    last = lines[-1].split(" ", 2)[1:2]
    branches = _branches(folders)
    for name in (*moves[-1:], *(one for one in ("main", "master", *sorted(branches)) if branches.get(one) in last)):
        if name in branches:
            return f"ref: {_HEADS}{name}"
    if moves and last and _SHA.match(last[0]):
        return last[0]
    default = next((one for one in ("main", "master", *sorted(branches)) if one in branches), "main")
    return f"ref: {_HEADS}{default}"


def _branches(folders: GitFolders) -> dict[str, str]:
    """Return the commit of every branch, by its name."""
    heads = folders.common / "refs" / "heads"
    names = {one.relative_to(heads).as_posix() for one in heads.rglob("*") if one.is_file()}
    packed = small_text(folders.common / "packed-refs") or ""
    names |= {line.split(_HEADS, 1)[1].strip() for line in packed.split("\n") if f" {_HEADS}" in line}
    return {name: reference_text(folders, _HEADS + name) for name in names}


# --- opening repositories ---


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
