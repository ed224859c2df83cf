"""What is left to do once the screen is gone."""

from __future__ import annotations

import sys
import threading

from cm_tui.tui.gateway import Gateway

PATIENCE = 0.3
"""Seconds that the shell may take to come back without a word."""


def finish(gateway: Gateway) -> None:
    """Wait for the step that is being done and let go of the store; say so on stderr where that takes a while."""
    closing = threading.Thread(target=gateway.close, name="cm-close")
    closing.start()
    closing.join(PATIENCE)
    if closing.is_alive():
        sys.stderr.write("cm: finishing the step that was begun…\n")
        sys.stderr.flush()
        closing.join()
