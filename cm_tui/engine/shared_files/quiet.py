"""Waiting until another program has saved: one that saves in place empties the file first."""

from __future__ import annotations

import time
from pathlib import Path

_QUIET_S = 0.02
"""A file that was not written for so long is whole."""
_MOST_S = 1.0
"""Whoever writes without an end is not waited for."""


def until_quiet(file: Path) -> bool:
    """Wait until a file was not written for a moment; returns whether there was something to wait for."""
    waited = False
    end = time.monotonic() + _MOST_S
    while time.monotonic() < end:
        try:
            age = time.time() - file.lstat().st_mtime
        except OSError:
            return waited
        # One that says it is from the future was not written now.
        if not 0 <= age < _QUIET_S:
            return waited
        waited = True
        time.sleep(_QUIET_S - age)
    return waited
