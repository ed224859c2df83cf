"""Reads notes and entries that the user saves with other programs, while the daemon runs."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cm_tui.daemon.project_follower import ProjectFollower
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.errors import CmError

INTERVAL_S = 0.5
"""Between two looks; where the system tells of changes, a look costs a millisecond."""
_REST = 4
"""How many times as long as a look took nothing is looked at."""
DEBOUNCE_S = 1.5
"""How long nothing more must be saved before the notes are read."""


@dataclass
class _FollowedState:
    """State of a project's notes and entries."""

    sign: str
    """Found by the last look; empty: not yet."""
    read: str
    """Read last; empty: unknown."""
    since: float
    """Time of the last change."""


class NoteFollower(ProjectFollower):
    """Reads notes and entries of open projects after they were saved.

    `interval_s`: seconds between two looks; `debounce_s`: seconds without a change before they are read.
    """

    def __init__(self, interval_s: float = INTERVAL_S, debounce_s: float = DEBOUNCE_S) -> None:
        super().__init__("following the notes of", "cm-notes", interval_s)
        self._debounce_s = debounce_s
        self._seen: dict[Path, _FollowedState] = {}

    def on_nudge(self, root: Path) -> None:
        """Do nothing: a journal has no event for a note that another program saved."""

    def roots(self) -> list[Path]:
        """Return the open projects."""
        from cm_tui.engine.memory.notes import scan

        roots = {project.root for project in self.dispatcher.pool.opened()}
        for root in self._seen.keys() - roots:
            self.forget(root)
            del self._seen[root]
            scan.forget(root)
        return list(roots)

    def look_at_all(self) -> None:
        """Visit each open project once, and rest."""
        began = time.monotonic()
        super().look_at_all()
        # While thousands of files are written, looking takes one part in five of the time at most.
        self._end.wait(min(_REST * (time.monotonic() - began), self._interval_s))

    def visit(self, root: Path) -> None:
        """Read a project's notes and entries if they were saved, and not since."""
        now = time.monotonic()
        sign = _sign(root)
        seen = self._seen.setdefault(root, _FollowedState("", "", now))
        if sign != seen.sign:
            seen.sign, seen.since = sign, now
        if seen.sign != seen.read and now - seen.since >= self._debounce_s:
            seen.read = seen.sign
            self._read(root)

    def _follow(self) -> None:
        from cm_tui.engine.memory.notes.overwritten import remove_last_texts

        with suppress(CmError):
            remove_last_texts()
        super()._follow()

    def _read(self, root: Path) -> None:
        where = ProjectRef(str(root), force=True)
        with self.dispatcher.pool.acquire(where) as project:
            project.engine.read_recorded()
        self.dispatcher.on_recorded(root, where)


def _sign(root: Path) -> str:
    from cm_tui.engine.memory.entries.entries import Entries
    from cm_tui.engine.memory.notes.scan import places_of, scan_notes

    return f"{scan_notes(places_of(root)).sign} {Entries(root).stamp()}"
