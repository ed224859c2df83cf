"""Watching one project's folder, and reporting changes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.engine.code.freshness.scheduler import EVERYTHING, NOTHING, Changes, PathFilter
from cm_tui.errors import CmError
from cm_tui.model.freshness import LayerState

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

NAME = "watcher"
_TICK_MS = 200
_STEP_MS = 50
_STORM_MS = 400
"""Events that come without a pause are taken after so long."""
_LOOK_MS = 1
"""How long a request waits for events that the system is about to report: in one step, as steps of nothing are a loop
that takes the processor."""
_POLL_MS = 1000
_RETRY_S = 1.0


class Watcher:
    """Watches in a separate thread.

    `make_filter`: makes the test whether a path matters; called again when its rules have changed. `on_change`: called
    with the changes, in that thread or by `drain`; must not wait for another thread. `polling`: scan repeatedly instead
    of using the system's events.
    """

    def __init__(
        self,
        root: Path,
        make_filter: Callable[[], PathFilter],
        on_change: Callable[[Changes], None],
        *,
        polling: bool = False,
    ) -> None:
        self._root = root.resolve()
        self._make_filter = make_filter
        self._on_change = on_change
        self._polling = polling
        self._why = ""
        self._stop = threading.Event()
        self._watching = threading.Event()
        self._thread: threading.Thread | None = None
        self._state = LayerState(NAME, "off")
        self._lock = threading.RLock()
        """Held from looking at events until they are reported."""
        self._events: RustNotify | None = None
        self._accepts: PathFilter = lambda _: True

    @property
    def state(self) -> LayerState:
        """Return its current mode and last report."""
        return self._state

    def drain(self) -> None:
        """Report changes that were not yet taken from the system."""
        with self._lock:
            try:
                found = self._events.watch(0, _LOOK_MS, _LOOK_MS, None) if self._events is not None else "timeout"
            except (OSError, RuntimeError):
                found = "timeout"  # the watching thread gets the same error, and reports it
            if found == "signal":
                raise KeyboardInterrupt
            self._notice(found)

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
        """Stop watching."""
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
                self._fail("the folder no longer exists")
            except CmError as error:
                self._fail(error.message)
            except (OSError, RuntimeError) as error:
                # watchfiles raises RuntimeError for errors of the system while watching.
                self._why = f"the system cannot watch this folder ({error})"
                self._polling = True
                self._fail(self._why)
            except Exception as error:  # noqa: BLE001 - shown, and tried again: a folder is not whole while it is removed
                self._fail(f"{type(error).__name__}: {error}")
            lost = True

    def _fail(self, note: str) -> None:
        self._watching.clear()
        self._state = replace(self._state, state="failed", mode="", note=note)
        self._stop.wait(_RETRY_S)

    def _watch(self, *, lost: bool) -> None:
        """Watch until the folder is replaced; `lost`: changes may have been missed before."""
        # Not `watchfiles.watch`: a question must be able to ask for events that its thread has not taken yet.
        from watchfiles._rust_notify import RustNotify

        identity = _identity(self._root)
        self._accepts = self._make_filter()
        with RustNotify([str(self._root)], False, self._polling, _POLL_MS, True, True) as events:
            self._events = events
            try:
                while (found := events.watch(_STORM_MS, _STEP_MS, _TICK_MS, self._stop)) != "stop":
                    if not self._watching.is_set():
                        self._begin(lost=lost)
                    self._notice(found)
                    if _identity(self._root) != identity:
                        raise FileNotFoundError(self._root)
            finally:
                with self._lock:
                    self._events = None

    def _begin(self, *, lost: bool) -> None:
        mode = "polling" if self._polling else "native"
        self._state = replace(self._state, state="on", mode=mode, note=self._why)
        self._watching.set()
        if lost:
            self._report(EVERYTHING)

    def _notice(self, events: set[tuple[int, str]] | str) -> None:
        """Report relevant events; a word instead of events gives the reason for having none."""
        if isinstance(events, str):
            return
        with self._lock:
            found = Changes.of(path for path in self._relative(path for _, path in events) if self._accepts(path))
            if found == EVERYTHING:
                self._accepts = self._make_filter()
            self._report(found)

    def _relative(self, paths: Iterable[str]) -> Iterable[str]:
        root = f"{self._root}{os.sep}"
        for path in paths:
            if path.startswith(root):
                yield path[len(root) :].replace(os.sep, "/")

    def _report(self, changes: Changes) -> None:
        if changes != NOTHING:
            fired_at = time.time()
            self._on_change(changes)
            # Afterwards: what its state shows, the scheduler has.
            self._state = replace(self._state, fired_at=fired_at, did=f"reported {changes}")


def _identity(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_dev, found.st_ino
