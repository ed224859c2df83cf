"""The project of a session, by its folder, even if that was removed or moved."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.engine.platform.git.git_dir import git_folders
from cm_tui.engine.platform.git.identity import Identity, claimed, identify, normalise_remote
from cm_tui.engine.platform.git.markers import marked_around
from cm_tui.engine.platform.git.opening import repository_around
from cm_tui.errors import CmError
from cm_tui.files import read_regular

_SHA = re.compile(r"[0-9a-f]{40}")
_LONGEST = 4_000
_is_dir = os.path.isdir
"""Unlike that of a Path it says no of a name that is too long."""


class Place(NamedTuple):
    """Where a session of the project worked."""

    root: Path
    """Of the checkout, as the session knew it."""
    was_moved: bool = False
    """The folder is missing; the checkout is the project's current one."""


def left_of(folder: str) -> Path | None:
    """Return a folder with links resolved, or the existing part of its path; None: invalid."""
    at = Path(folder)
    if not at.is_absolute() or "\0" in folder or len(folder) > _LONGEST:
        return None
    while not _is_dir(at):
        if at.parent == at:
            return None
        at = at.parent
    return Path(os.path.realpath(at))


def _is_in(folder: str, outer: str) -> bool:
    return folder == outer or folder.startswith(outer.rstrip(os.sep) + os.sep)


class ProjectFolders:
    """Tests whether sessions are of one project. `earlier`: former folders, from the user or the journal."""

    def __init__(self, root: Path, earlier: Sequence[str] = ()) -> None:
        self._root = root
        by_git = claimed(root)
        self._identity: Identity = identify(root, by_git)
        self._claims = {self._identity.text, by_git.text}
        self._earlier = [os.path.normpath(folder) for folder in earlier]
        self._root_of = cache(self._find_root)
        self._seen: set[str] = set()

    @property
    def unheld(self) -> list[str]:
        """Return the user's folders without a session so far."""
        return [folder for folder in self._earlier if not any(_is_in(one, folder) for one in self._seen)]

    @property
    def existing(self) -> list[str]:
        """Return the user's folders that still exist: their sessions stay theirs."""
        return [folder for folder in self._earlier if _is_dir(folder) and self._root_of(folder) is None]

    def place_of(self, facts: SessionFacts) -> Place | None:
        """Return where a session of this project worked; None: another project, or unknown."""
        folder = facts.folder
        if not Path(folder).is_absolute() or "\0" in folder or len(folder) > _LONGEST:
            return None
        folder = os.path.normpath(folder)
        self._seen.add(folder)
        root = self._root_of(folder)
        if root is not None:
            return Place(root)
        if _is_dir(folder):
            return None
        earlier = self._earlier_root(folder)
        if earlier is not None:
            return Place(Path(earlier), was_moved=True)
        return Place(Path(folder), was_moved=True) if self._has_evidence(facts) else None

    def has_name_of(self, folder: str) -> bool:
        """Return whether a missing folder has the project's name."""
        return not _is_dir(folder) and Path(os.path.normpath(folder)).name == self._root.name

    def _find_root(self, folder: str) -> Path | None:
        """Return the checkout of this project around a folder; for a missing one, around the existing part of its path."""
        try:
            real = left_of(folder)
            if real is None:
                return None
            found = marked_around(real)
            if found is None:
                return self._root if real.is_relative_to(self._root) else None
            if found == self._root or identify(found).folder == self._identity.folder:
                return found
        except (CmError, OSError, ValueError):
            # What cannot be opened is not this project.
            return None
        return None

    def _earlier_root(self, folder: str) -> str | None:
        return next((one for one in (*self._earlier, *self._worktrees) if _is_in(folder, one)), None)

    @cached_property
    def _worktrees(self) -> tuple[str, ...]:
        """The folders of git's worktrees, existing or not."""
        return tuple(self._read_worktrees())

    def _read_worktrees(self) -> Iterator[str]:
        try:
            folders = git_folders(self._root)
            names = sorted((folders.common / "worktrees").iterdir())[:1_000] if folders else []
        except (CmError, OSError):
            return
        for name in names:
            data = read_regular(name / "gitdir", _LONGEST)
            where = os.fsdecode(data or b"").strip()
            if Path(where).is_absolute():
                yield os.path.normpath(Path(where).parent)

    def _has_evidence(self, facts: SessionFacts) -> bool:
        """Return whether a session's data on its repository match only this one."""
        if facts.remote and f"remote:{normalise_remote(facts.remote)}" in self._claims:
            return True
        commits = [sha for sha in (facts.commit, facts.first_commit) if _SHA.fullmatch(sha)]
        if not commits:
            return False
        try:
            repository = repository_around(self._root)
            return repository is not None and any(sha in repository for sha in commits)
        except (CmError, OSError, ValueError):
            return False
