"""The gate for recording: may a session's work be recorded?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from cm_tui.engine.memory.recording import folders, pauses
from cm_tui.engine.platform.journal.location import folder_of

# Hooks of agents import this module: nothing here may take long to import.

NEVER = "this folder is never recorded"
SESSION = "this session is never recorded"
PAUSED = "recording is paused"


def why_not(root: Path, session: str = "", *, folder: str = "") -> str:
    """Return why a session may not be recorded now; empty: it may.

    `root`: of the checkout that the session works in. `folder`: where in the checkout it works; empty: at its root.
    Raises StoreError if it is unknown whether recording is paused; ConfigError if the list of folders that are never
    recorded cannot be read; RefusedError if git's data cannot be opened.
    """
    wanted = folders.patterns()
    if wanted and (folders.is_below(root, wanted) or (folder and folders.is_below(folder, wanted))):
        return NEVER
    kept = pauses.read()
    if session and session in kept.sessions:
        return SESSION
    return PAUSED if kept.pauses and kept.on(folder_of(root).name, time.time()) else ""


class PastGate:
    """The same for earlier turns, for imports of many turns: the files are read once.

    `root`: of the checkout that turns are imported for; None: unknown, and any pause counts. Raises StoreError if it is
    unknown when recording was paused; ConfigError if the list of folders that are never recorded cannot be read;
    RefusedError if git's data cannot be opened.
    """

    def __init__(self, root: Path | None) -> None:
        self.never = self._patterns = folders.patterns()
        """Patterns of folders that are never recorded."""
        self._is_never = root is not None and folders.is_below(root, self._patterns)
        kept = pauses.read(past=True)
        self._sessions = frozenset(kept.sessions)
        projects = {pauses.EVERYWHERE, folder_of(root).name} if root is not None else None
        self._pauses = [one for one in (*kept.pauses, *kept.past) if projects is None or one.project in projects]

    def why_not(self, session: str, times: Iterable[float | None], *, folder: str = "") -> str:
        """Return why a turn may not be recorded; empty: it may.

        `times`: its start and end, if known. `folder`: its working folder; empty: at the root.
        """
        if self._is_never or (self._patterns and folder and folders.is_below(folder, self._patterns)):
            return NEVER
        if session in self._sessions:
            return SESSION
        known = [at for at in times if at is not None]
        if not self._pauses:
            return ""
        if not known:
            # It may have been in one of them.
            return PAUSED
        begin, end = min(known), max(known)
        # Also a turn that a pause lies inside of.
        inside = any(one.since <= end and (one.until is None or begin < one.until) for one in self._pauses)
        return PAUSED if inside else ""


def without_never_recorded(root: Path, files: Iterable[str]) -> list[str]:
    """Return the files of a checkout outside the folders that are never recorded.

    `files`: relative to it, with `/`. Raises ConfigError if the list of those folders cannot be read.
    """
    wanted = folders.patterns()
    if not wanted:
        return list(files)
    return [name for name in files if not folders.is_below(os.path.join(root, name), wanted)]  # noqa: PTH118
