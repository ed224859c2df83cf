"""Worker process that mines episodes: their places come in, observations go out, as pickles on two pipes.

The pickles are exchanged only with a process that this program started itself.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cm_tui.engine.memory.narrator.looking import Seen, look
from cm_tui.engine.memory.narrator.reading import Item
from cm_tui.errors import StoreError
from cm_tui.worker_process import serve

NICENESS = 19
"""Answers, editors and index runs go first. Alone on a machine it costs nothing."""
_TASK_S = 30.0
"""CPU limit of a task in seconds: a hundred times the expected time."""


def main() -> None:
    """Serve tasks until the other end closes; the argument is the journal's folder."""
    folder = Path(sys.argv[1])
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    serve(lambda items: _answer(folder, items))


def _answer(folder: Path, items: Sequence[Item]) -> Seen | str:
    """Return the observations, or why the journal cannot be read."""
    _limit(_TASK_S)
    try:
        return look(folder, items)
    except StoreError as error:
        return error.message
    finally:
        _limit(0.0)


def _limit(seconds: float) -> None:
    """End this process once it has used so much more CPU; 0: no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
