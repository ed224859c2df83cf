"""The first commit of a checkout's line, remembered: to find it means to walk the whole line."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pygit2

from cm_tui import paths
from cm_tui.engine.git.commits import Commits
from cm_tui.engine.git.fact_cache import get, put
from cm_tui.engine.git.git_dir import folders_at

FILE = "origins.json"
_MARKS = 64


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a line comes from.

    A commit that was seen once comes from there for ever, so only what is new has to be walked; and the origin stays
    when commits between are lost, or cut off by a shallow fetch.
    """

    root: str
    """The first commit; nothing when this clone did not have it when it was first asked."""
    marks: dict[str, int]
    """Some commits of that origin, close to each other at the line's end, and how high up the line they are."""
    is_new: bool = True
    """False when it is remembered just so."""


def find(repository: pygit2.Repository) -> Origin | None:
    """Origin of HEAD's first-parent line; None before the first commit."""
    if repository.head_is_unborn:
        return None
    kept = _recall(repository)
    commits = Commits(repository)
    walked: list[str] = []
    sha: str | None = str(repository.head.target)
    while sha is not None:
        if kept is not None and sha in kept.marks:
            if not walked:
                return replace(kept, is_new=False)
            return _extended(kept, walked, kept.marks[sha] + len(walked))
        commit = commits.get(sha)
        if commit is None:
            break
        walked.append(sha)
        sha = next(iter(commit.parents), None)
    if sha is None and not repository.is_shallow:
        return _extended(Origin(walked[-1], {}), walked, len(walked))
    return _extended(kept or Origin("", {}), walked, len(walked))


def keep(repository: pygit2.Repository, origin: Origin) -> None:
    """Remember it."""
    put(paths.data_dir() / FILE, _key(repository), {"root": origin.root, "marks": origin.marks})


def _recall(repository: pygit2.Repository) -> Origin | None:
    match get(paths.data_dir() / FILE).get(_key(repository)):
        case {"root": str(root), "marks": dict(marks)} if all(isinstance(height, int) for height in marks.values()):
            return Origin(root, marks)
    return None


def _key(repository: pygit2.Repository) -> str:
    return os.path.realpath(folders_at(Path(repository.path)).common)


def _extended(origin: Origin, walked: list[str], height: int) -> Origin:
    """With marks on what was walked, newest first: at the end of the line, and then further and further apart."""
    steps = [0, *(1 << power for power in range(len(walked).bit_length()))]
    marks = {walked[step]: height - step for step in steps if step < len(walked)} | origin.marks
    if len(marks) > _MARKS:
        thinned, last = {}, 0.0
        for sha, at in sorted(marks.items(), key=lambda mark: -mark[1]):
            if height - at >= last * 1.5:
                thinned[sha] = at
                last = max(1, height - at)
        marks = thinned
    return Origin(origin.root, marks)
