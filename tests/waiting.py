"""Waiting for a condition, never for time."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds after which a busy machine is no excuse."""


def let_others_go() -> None:
    """Let all other threads that can go on do so first, for what is tested of threads that come at once."""
    for _ in range(20):
        time.sleep(0)


def until(condition: Callable[[], object], what: str = "the condition", *, every: float = 0.01) -> None:
    """Wait for something that another thread or process does.

    Args:
        condition: asked again and again.
        what: it is, for the message.
        every: seconds between two looks.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(every)
