"""Waiting for conditions, never for time."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 60


def until(there: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + SECONDS
    while not there():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
