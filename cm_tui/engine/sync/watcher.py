"""Watching one project's folder, and telling what changed once it has come to rest."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from cm_tui.engine.sync.changes import EVERYTHING, NOTHING, Changes
from cm_tui.errors import CmError
from cm_tui.model.freshness import LayerState

NAME = "watcher"
_TICK_SECONDS = 0.2
_STEP_MS = 50
_POLL_MS = 1000
_LONGEST = 5
"""A tree that never comes to rest is told after so many times the debounce."""
_RETRY_SECONDS = 1.0


class Watcher:
    """Watches in a thread of its own.

    Args:
        root: the project's root.
        sieve: makes the function that says whether a path matters; called again when what decides that has changed.
        tell: called in that thread with what changed.
        debounce: seconds of rest before it is told.
        polling: look again and again instead of being told by the system.
    """

    def __init__(
        self,
        root: Path,
        sieve: Callable[[], Callable[[str], bool]],
        tell: Callable[[Changes], None],
        *,
        debounce: float = 2.0,
        polling: bool = False,
    ) -> None:
        self._root = root.resolve()
        self._make_sieve = sieve
        self._tell = tell
        self._debounce = debounce
        self._polling = polling
        self._why = ""
        self._stop = threading.Event()
        self._watching = threading.Event()
        self._thread: threading.Thread | None = None
        self._state = LayerState(NAME, "off")
        self._lock = threading.Lock()
        self._pending = NOTHING
        self._first = self._last = 0.0

    @property
    def state(self) -> LayerState:
        """How it works at the moment, and what it told last."""
        return self._state

    @property
    def pending(self) -> Changes:
        """What changed and has not been told yet."""
        return self._pending

    def hurry(self) -> None:
        """Tell now what waits to come to rest; a question does not want to wait for that."""
        self._hand_over()

    def start(self) -> None:
        """Begin to watch; changes from before are not noticed."""
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._work, name=f"watch {self._root.name}", daemon=True)
            self._thread.start()

    def wait_until_watching(self, seconds: float) -> bool:
        """Wait until the first change would be noticed."""
        return self._watching.wait(seconds)

    def stop(self) -> None:
        """End it; what was not told yet is told no more."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None
        self._watching.clear()
        self._state = replace(self._state, state="off", mode="")

    def _work(self) -> None:
        lost = False
        while not self._stop.is_set():
            try:
                self._watch(lost=lost)
            except FileNotFoundError:
                self._fail("the folder is gone")
            except CmError as error:
                self._fail(error.message)
            except (OSError, RuntimeError) as error:
                # watchfiles raises RuntimeError for what the system says while it watches.
                self._why = f"the system cannot watch this folder ({error})"
                self._polling = True
                self._fail(self._why)
            except Exception as error:  # noqa: BLE001 - shown, and tried again: a folder is not whole while it is removed
                self._fail(f"{type(error).__name__}: {error}")
            lost = True

    def _fail(self, note: str) -> None:
        self._watching.clear()
        self._state = replace(self._state, state="failed", mode="", note=note)
        self._stop.wait(_RETRY_SECONDS)

    def _watch(self, *, lost: bool) -> None:
        """Watch until the folder is another one; `lost`: something may have changed while nobody looked."""
        from watchfiles import watch

        identity = _identity(self._root)
        looks_at = self._make_sieve()
        steps = watch(
            self._root, watch_filter=None, debounce=400, step=_STEP_MS, rust_timeout=int(_TICK_SECONDS * 1000),
            yield_on_timeout=True, stop_event=self._stop, raise_interrupt=False, force_polling=self._polling,
            poll_delay_ms=_POLL_MS, ignore_permission_denied=True,
        )  # fmt: skip
        with closing(steps):
            for step in steps:
                if not self._watching.is_set():
                    self._begin(lost=lost)
                found = Changes.of(path for path in self._relative(path for _, path in step) if looks_at(path))
                if found == EVERYTHING:
                    looks_at = self._make_sieve()
                self._collect(found)
                if _identity(self._root) != identity:
                    raise FileNotFoundError(self._root)

    def _begin(self, *, lost: bool) -> None:
        mode = "polling" if self._polling else "native"
        self._state = replace(self._state, state="on", mode=mode, note=self._why)
        self._watching.set()
        if lost:
            self._collect(EVERYTHING)

    def _relative(self, paths: Iterable[str]) -> Iterable[str]:
        root = f"{self._root}{os.sep}"
        for path in paths:
            if path.startswith(root):
                yield path[len(root) :].replace(os.sep, "/")

    def _collect(self, found: Changes) -> None:
        now = time.monotonic()
        with self._lock:
            if found != NOTHING:
                self._first = now if self._pending == NOTHING else self._first
                self._last = now
                self._pending |= found
        if now - self._last >= self._debounce or now - self._first >= self._debounce * _LONGEST:
            self._hand_over()

    def _hand_over(self) -> None:
        with self._lock:
            told, self._pending = self._pending, NOTHING
        if told != NOTHING:
            self._state = replace(self._state, fired_at=time.time(), did=f"told of {told}")
            self._tell(told)


def _identity(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_dev, found.st_ino
