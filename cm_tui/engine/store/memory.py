"""Memory that a process has no use for any more, given back to the system."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress


def give_back() -> None:
    """Give free memory back to the system, where the C library can: it keeps what it had for a moment."""
    # Parts of a project know each other, and cycles are hardly ever looked for otherwise.
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
