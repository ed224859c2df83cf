"""What is left to do once the screen is gone."""

from __future__ import annotations

import os
import sys
import threading

from cm_tui.tui.tasks.engine_tasks import EngineTasks

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
QUIET_SECONDS = 0.3
"""Seconds that the shell may take to come back without a word."""


def finish(tasks: EngineTasks) -> None:
    """Wait for the current step and close the store; report on stderr if that takes a while.

    Ctrl-C ends the process at once; the store recovers when it is opened next.
    """
    closing = threading.Thread(target=tasks.close, name="cm-close")
    try:
        closing.start()
        closing.join(QUIET_SECONDS)
        if closing.is_alive():
            _say("finishing the step that was begun; Ctrl-C leaves at once…")
            closing.join()
    except KeyboardInterrupt:
        _say("left before the step was done; the next run does it again.")
        # Not by an exception: Python would wait for the threads that are to be left.
        os._exit(INTERRUPTED)


def _say(words: str) -> None:
    sys.stderr.write(f"cm: {words}\n")
    sys.stderr.flush()
