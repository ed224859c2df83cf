"""Worker process that mines episodes: their places come in, observations go out, as pickles on two pipes.

The pickles are exchanged only with a process that this program started itself.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cm_tui.engine.memory.narrator.looking import look
from cm_tui.engine.memory.narrator.reading import Item
from cm_tui.errors import StoreError

NICENESS = 19
"""Answers, editors and index runs go first. Alone on a machine it costs nothing."""
_TASK_S = 30.0
"""CPU limit of a task in seconds: a hundred times the expected time."""


def main() -> None:
    """Serve tasks until the other end closes; the argument is the journal's folder."""
    folder = Path(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    inward = os.fdopen(os.dup(0), "rb")
    outward = os.fdopen(os.dup(1), "wb")
    # Printed output must not get between the pickles.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr
    while True:
        try:
            items: Sequence[Item] = pickle.load(inward)  # noqa: S301 - from our own parent process
        except EOFError:
            return
        _limit(_TASK_S)
        try:
            answer: object = look(folder, items)
        except StoreError as error:
            answer = error.message
        _limit(0.0)
        pickle.dump(answer, outward, protocol=pickle.HIGHEST_PROTOCOL)
        outward.flush()


def _limit(seconds: float) -> None:
    """End this process once it has used so much more CPU; 0: no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
