"""Returning a process's free memory to the system."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from functools import _lru_cache_wrapper


def release_memory() -> None:
    """Return free memory to the system, if the C library supports it: it keeps freed memory for a moment."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def release_caches() -> None:
    """Empty the bounded caches of functions: unlike `@cache`, they may be emptied at any time."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("cm_tui.")]
    for value in [value for module in modules for value in list(vars(module).values())]:
        if isinstance(value, _lru_cache_wrapper) and value.cache_parameters()["maxsize"] is not None:
            value.cache_clear()
