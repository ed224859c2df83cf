"""The commit of a checkout at a time: from git's log of HEAD, else from the times of commits."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

import pygit2

from cm_tui.engine.platform.git.git_dir import git_folders
from cm_tui.engine.platform.git.opening import repository_around
from cm_tui.errors import CmError
from cm_tui.files import read_regular

_LOG_BYTES = 50_000_000
_COMMITS = 100_000
_LINE = re.compile(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t\n]*> (\d{1,12}) [+-]\d{4}")
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
        self._moves: tuple[list[float], list[str]] | None = None
        self._commits: tuple[list[float], list[str]] | None = None

    def at(self, time: float | None) -> HeadAt:
        """Return the commit that was checked out at a time."""
        if time is None:
            return HeadAt()
        if self._moves is None:
            self._moves = self._read_log()
        times, shas = self._moves
        place = bisect_right(times, time)
        if place:
            return HeadAt(shas[place - 1])
        if self._commits is None:
            self._commits = self._read_commits()
        times, shas = self._commits
        place = bisect_right(times, time)
        return HeadAt(shas[place - 1], NEWEST) if place else HeadAt()

    def _read_log(self) -> tuple[list[float], list[str]]:
        try:
            folders = git_folders(self._root)
        except CmError:
            return [], []
        data = read_regular(folders.own / "logs" / "HEAD", _LOG_BYTES) if folders else None
        moves: list[tuple[float, str]] = []
        for line in (data or b"").splitlines():
            found = _LINE.match(line)
            if found and set(found[2]) != {ord("0")}:
                # A clock that was set back must not hide later entries.
                moves.append((max(float(found[3]), moves[-1][0] if moves else 0.0), found[2].decode()))
        return [time for time, _ in moves], [sha for _, sha in moves]

    def _read_commits(self) -> tuple[list[float], list[str]]:
        try:
            repository = repository_around(self._root)
            if repository is None or repository.head_is_unborn:
                return [], []
            walker = repository.walk(repository.head.target, pygit2.enums.SortMode.TOPOLOGICAL)
            walker.simplify_first_parent()
            found = [
                (float(commit.commit_time), str(commit.id)) for commit, _ in zip(walker, range(_COMMITS), strict=False)
            ]
        except (CmError, pygit2.GitError, KeyError, ValueError, OSError):
            return [], []
        times: list[float] = []
        for time, _ in reversed(found):
            times.append(max(time, times[-1] if times else 0.0))
        return times, [sha for _, sha in reversed(found)]
