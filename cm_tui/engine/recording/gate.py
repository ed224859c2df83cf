"""The one question of whoever writes down what a session did: may it be?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from cm_tui.engine.journal.location import folder_of
from cm_tui.engine.recording import folders, pauses

# Hooks of agents import this module: nothing here may take long to import.

NEVER = "this folder is never recorded"
SESSION = "this session is never recorded"
PAUSED = "recording is paused"


def why_not(root: Path, session: str = "", *, folder: str = "", at: float | None = None) -> str:
    """Say why nothing of a session may be recorded; empty when it may.

    Args:
        root: of the checkout that the session works in.
        session: its id.
        folder: where in the checkout it works; empty: at its root.
        at: when it happened, in seconds since the epoch; None: now.

    Raises:
        StoreError: nobody knows whether recording is paused.
        ConfigError: nobody knows which folders are never recorded.
        RefusedError: git's data cannot be opened.
    """
    wanted = folders.patterns()
    if wanted and (folders.is_below(root, wanted) or (folder and folders.is_below(folder, wanted))):
        return NEVER
    kept = pauses.read(past=at is not None)
    if session and session in kept.sessions:
        return SESSION
    if not kept.pauses and not kept.past:
        return ""
    project = folder_of(root).name
    if at is None:
        return PAUSED if kept.on(project, time.time()) else ""
    return PAUSED if any(one.holds(project, at) for one in (*kept.pauses, *kept.past)) else ""


def without_never_recorded(root: Path, files: Iterable[str]) -> list[str]:
    """Return the files of a checkout that lie in no folder that is never recorded.

    Args:
        root: of the checkout.
        files: relative to it, with `/`.

    Raises:
        ConfigError: nobody knows which folders those are.
    """
    wanted = folders.patterns()
    if not wanted:
        return list(files)
    return [name for name in files if not folders.is_below(os.path.join(root, name), wanted)]  # noqa: PTH118
