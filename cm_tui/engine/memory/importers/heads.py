"""The commit of a checkout at a time: from git's log of HEAD, else from the times of commits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

import pygit2

from cm_tui.engine.platform.git.opening import repository_around
from cm_tui.errors import CmError

_COMMITS = 100_000
NEWEST = "at the commit that was the newest then: git's log of HEAD does not go back so far"


class HeadAt(NamedTuple):
    """The commit of a time."""

    sha: str = ""
    """Empty: not known."""
    note: str = ""
    """A message for the user."""


class Heads:
    """Commits of one checkout by time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._moves: tuple[list[int], list[str]] | None = None
        self._commits: tuple[list[int], list[str]] | None = None

    def at(self, time: float | None) -> HeadAt:
        """Return the commit that was checked out at a time."""
        if time is None:
            return HeadAt()
        if self._moves is None:
            self._moves = self._read(_log)
        times, shas = self._moves
        place = bisect_right(times, time)
        if place:
            return HeadAt(shas[place - 1])
        if self._commits is None:
            self._commits = self._read(_first_parents)
        times, shas = self._commits
        place = bisect_right(times, time)
        return HeadAt(shas[place - 1], NEWEST) if place else HeadAt()

    def _read(self, commits: Callable[[pygit2.Repository], Iterable[tuple[int, str]]]) -> tuple[list[int], list[str]]:
        """Return times and commits, the oldest first; empty: git cannot be read."""
        try:
            repository = repository_around(self._root)
            found = list(commits(repository))[::-1] if repository is not None else []
        except (CmError, pygit2.GitError, KeyError, ValueError, OSError):
            return [], []
        # A clock that was set back must not hide later entries.
        return list(accumulate((time for time, _ in found), max)), [sha for _, sha in found]


def _log(repository: pygit2.Repository) -> Iterator[tuple[int, str]]:
    """Yield the moves of HEAD, the newest first."""
    for entry in repository.references["HEAD"].log():
        if (sha := str(entry.oid_new)).strip("0"):
            yield entry.committer.time, sha


def _first_parents(repository: pygit2.Repository) -> Iterator[tuple[int, str]]:
    if not repository.head_is_unborn:
        walker = repository.walk(repository.head.target, pygit2.enums.SortMode.TOPOLOGICAL)
        walker.simplify_first_parent()
        yield from ((commit.commit_time, str(commit.id)) for commit in islice(walker, _COMMITS))
