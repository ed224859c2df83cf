"""The first commit of a checkout's mainline, cached, as finding it requires walking the whole mainline."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pygit2

from cm_tui import paths
from cm_tui.engine.platform.git import safe_git
from cm_tui.engine.platform.git.commits import Commits
from cm_tui.engine.platform.git.git_dir import folders_at
from cm_tui.errors import CmError
from cm_tui.state_file import cache_entry, read_object

FILE = "origins.json"
_MARKS = 64


@dataclass(frozen=True, slots=True)
class RootCommit:
    """The commit at the beginning of a mainline.

    The result for a commit is cached forever, so only new ones have to be walked; and the origin stays when commits
    between are lost, or cut off by a shallow fetch.
    """

    root: str
    """Its sha; empty if this clone did not have it at the first lookup."""
    marks: dict[str, int]
    """Some commits of that origin, close to each other at the mainline's end, and their ordinals."""
    is_new: bool = True
    """False when the cache holds it just so."""


def find(repository: pygit2.Repository) -> RootCommit | None:
    """Find the first commit of HEAD's mainline; None before the first commit."""
    if repository.head_is_unborn:
        return None
    cached = _cached(folders_at(Path(repository.path)).common)
    commits = Commits(repository)
    walked: list[str] = []
    sha: str | None = str(repository.head.target)
    while sha is not None:
        if cached is not None and sha in cached.marks:
            if not walked:
                return replace(cached, is_new=False)
            return _extended(cached, walked, cached.marks[sha] + len(walked))
        commit = commits.get(sha)
        if commit is None:
            break
        walked.append(sha)
        sha = next(iter(commit.parents), None)
    if sha is None and not repository.is_shallow:
        return _extended(RootCommit(walked[-1], {}), walked, len(walked))
    return _extended(cached or RootCommit("", {}), walked, len(walked))


def find_without_library(root: Path, common: Path) -> RootCommit | None:
    """Find the first commit where git's library cannot read the repository: in the cache, else by the git program.

    `common`: git's folder shared by its worktrees. Returns None if neither has it.
    """
    cached = _cached(common)
    if cached is not None:
        return replace(cached, is_new=False)
    if (common / "shallow").exists():
        return None
    try:
        found = safe_git.run(root, "rev-list", "--first-parent", "--max-parents=0", "HEAD")
    except CmError:
        return None
    shas = found.data.decode("ascii", "replace").split()
    return RootCommit(shas[0], {}) if found.code == 0 and shas else None


def keep(common: Path, origin: RootCommit) -> None:
    """Store it in the cache. `common`: git's folder shared by its worktrees."""
    cache_entry(paths.data_dir() / FILE, os.path.realpath(common), {"root": origin.root, "marks": origin.marks})


def _cached(common: Path) -> RootCommit | None:
    match read_object(paths.data_dir() / FILE).get(os.path.realpath(common)):
        case {"root": str(root), "marks": dict(marks)} if all(isinstance(height, int) for height in marks.values()):
            return RootCommit(root, marks)
    return None


def _extended(origin: RootCommit, walked: list[str], height: int) -> RootCommit:
    """Add marks on walked commits, newest first: at the end of the mainline, and then further and further apart."""
    steps = [0, *(1 << power for power in range(len(walked).bit_length()))]
    marks = {walked[step]: height - step for step in steps if step < len(walked)} | origin.marks
    if len(marks) > _MARKS:
        thinned, last = {}, 0.0
        for sha, at in sorted(marks.items(), key=lambda mark: -mark[1]):
            if height - at >= last * 1.5:
                thinned[sha] = at
                last = max(1, height - at)
        marks = thinned
    return RootCommit(origin.root, marks)
