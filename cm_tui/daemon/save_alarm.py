"""Waking as soon as something is saved in folders, where the system tells of it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

_STEP_MS = 10


class SaveAlarm:
    """Waits for time to pass, or for a save.

    Args:
        end: wakes as well.
    """

    def __init__(self, end: Event) -> None:
        self._end = end
        self._folders: frozenset[str] = frozenset()
        self._events: RustNotify | None = None

    def watch(self, folders: Collection[Path]) -> None:
        """Watch these folders, and all below them, from now on; none: only time passes."""
        wanted = frozenset(str(one) for one in folders if one.is_dir())
        if wanted == self._folders:
            return
        self.close()
        self._folders = wanted
        if wanted:
            from watchfiles._rust_notify import RustNotify

            # Where the system cannot watch, time passes.
            with suppress(OSError, RuntimeError):
                self._events = RustNotify([*wanted], False, False, 0, True, True)

    def wait(self, seconds: float) -> bool:
        """Wait for so long at most; returns whether it is the end."""
        if self._events is None:
            return self._end.wait(seconds)
        try:
            self._events.watch(_STEP_MS, _STEP_MS, int(seconds * 1000), self._end)
        except (OSError, RuntimeError):
            # These folders are not watched again: what fails at once would leave no time for anything else.
            self._events = None
            return self._end.wait(seconds)
        return self._end.is_set()

    def close(self) -> None:
        """Watch nothing more."""
        if self._events is not None:
            with suppress(RuntimeError):
                self._events.close()
        self._events, self._folders = None, frozenset()
