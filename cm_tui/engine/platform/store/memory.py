"""Returning a process's free memory to the system."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import _lru_cache_wrapper, cache
from pathlib import Path

_DONTNEED = 4
"""MADV_DONTNEED of Linux."""


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


def release_code() -> None:
    """Unmap the code of libraries, most of which is used while they are loaded; it is mapped again on use.

    The system keeps it in its cache as long as it has room. On Linux only.
    """
    with suppress(AttributeError, OSError, ValueError):
        advise = ctypes.CDLL(None).madvise
        for start, end in list(_unchanged_code()):
            advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _DONTNEED)


def _unchanged_code() -> Iterator[tuple[int, int]]:
    """Yield the address ranges of libraries' code and constants that are as in their files."""
    # Those that are being loaded meanwhile are excluded: the loader writes to them.
    loaded = {one[5] for one in _fields("maps") if len(one) == 6 and ".so" in one[5] and _is_loaded(one[5])}
    start = end = 0
    for key, *values in _fields("smaps"):
        if not key.endswith(":"):
            is_code = len(values) == 5 and values[0] in ("r-xp", "r--p") and values[4] in loaded
            start, end = (int(one, 16) for one in key.split("-")) if is_code else (0, 0)
        elif key == "Anonymous:" and end and values[0] == "0":
            yield start, end


def _fields(name: str) -> list[list[str]]:
    text = Path("/proc/self", name).read_text(encoding="utf-8", errors="replace")
    return [line.split(maxsplit=5) for line in text.splitlines()]


@cache
def _is_loaded(path: str) -> bool:
    """Return whether a library is loaded; it stays so. Waits for one that is being loaded."""
    with suppress(OSError):
        ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        return True
    return False
