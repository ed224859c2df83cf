"""Returning a process's free memory to the system."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Return free memory to the system, if the C library supports it: it keeps freed memory for a moment."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
