"""Returning a process's free memory to the system."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def release_memory() -> None:
    """Return free memory to the system, if the C library supports it: it keeps freed memory for a moment."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
