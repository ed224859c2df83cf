"""Memories as items for checking mentions: a text with a time and, if known, a commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from cm_tui.engine.code.history.revisions import Revisions
from cm_tui.engine.platform.git.commits import MissingError
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError
from cm_tui.model import CODE

_SHA = re.compile(r"[0-9a-f]{40}")
_TEXTS = """
SELECT path, source, title, time, start_line, text FROM passage
WHERE source <> ? AND path IN (SELECT unnest(?::VARCHAR[])) ORDER BY path, start_line, end_line
"""


class MemoryItem(NamedTuple):
    """A memory."""

    kind: str
    """Its source: `entry`, `note`, `episode`."""
    path: str
    """As of its passages: `entry/ID`, `note/…`."""
    title: str
    text: str
    commit: str = ""
    """Sha of its commit; empty: unknown."""
    time: int | None = None
    """When it was written, seconds since the epoch; None: not known."""

    @property
    def id(self) -> str:
        """Return its id, as people type it."""
        return self.path.partition("/")[2] or self.path


CommitsOf = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns the known commits at which items of some paths were written."""


def read(db: Database, paths: Sequence[str], commits_of: CommitsOf) -> list[MemoryItem]:
    """Return the items of some paths, from their passages. `paths`: of passages that are not code."""
    commits = commits_of(paths)
    found = []
    for path, rows in groupby(db.rows(_TEXTS, [CODE, list(paths)]), key=itemgetter(0)):
        lines: list[str] = []
        kind, title, time = "", "", None
        for _, source, named, written, start, text in rows:
            kind, title, time = kind or source, title or named, written
            # Blank lines between two passages belong to neither; an overlapping one begins at its stated line.
            lines += [""] * (start - 1 - len(lines))
            lines[start - 1 :] = text.split("\n")
        found.append(MemoryItem(kind, path, title, "\n".join(lines), commits.get(path, ""), time))
    return found


class WrittenAt:
    """Places items on the mainline. `revisions`: finds where commits lie that are off it."""

    def __init__(self, db: Database, revisions: Revisions) -> None:
        self._revisions = revisions
        rows = db.rows("SELECT sha, ord, time FROM line_commit ORDER BY ord")
        self._ordinals: dict[str, int] = {sha: ordinal for sha, ordinal, _ in rows}
        # Times need not rise along a mainline: as many commits as were made before count as there.
        self._times = np.sort(np.array([time for _, _, time in rows], dtype=np.int64))
        self._placed: dict[str, int | None] = {}

    def ordinal(self, commit: str, time: int | None) -> int:
        """Return the ordinal for a commit, or for a time; -1: neither is known."""
        if commit and (found := self._of_commit(commit)) is not None:
            return found
        if time is None or not len(self._times):
            return -1
        return int(np.searchsorted(self._times, time, side="right"))

    def _of_commit(self, sha: str) -> int | None:
        if sha in self._ordinals:
            return self._ordinals[sha]
        if sha not in self._placed:
            try:
                self._placed[sha] = self._revisions.point(sha).ordinal or None if _SHA.fullmatch(sha) else None
            except (CmError, MissingError):
                self._placed[sha] = None
        return self._placed[sha]
