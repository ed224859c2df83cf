"""All layers of one project: watcher, staleness check and external signals, with one scheduler and one index."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import WatchConfig
from cm_tui.counts import count
from cm_tui.engine.code.freshness import staleness, watcher
from cm_tui.engine.code.freshness.scheduler import DEBOUNCE_S, EVERYTHING, LONGEST_S, Changes, PathFilter, Scheduler
from cm_tui.engine.code.freshness.staleness import StalenessCheck
from cm_tui.engine.code.freshness.watcher import Watcher
from cm_tui.errors import NotIndexedError, RefusedError
from cm_tui.model import IndexSummary
from cm_tui.model.freshness import Freshness, LayerState

if TYPE_CHECKING:
    from cm_tui.engine.code.index.index_run import IndexOutcome

START = "start"
_JUST_S = 0.1
"""Between requests that come so soon after each other, the system's reports are enough: a check takes a fifth of the
time of a query."""

RunIndex = Callable[[Sequence[str]], "IndexOutcome"]
"""Updates the index from the working tree, or only from given paths; returns when that is done."""


class ProjectSync:
    """Keeps the index of one project fresh, during the lifetime of its daemon.

    `root`: the project's root folder; `run_index`: called in a separate thread; `make_filter`: makes the test whether a
    changed path matters; `config`: how to watch the folder; `check`: what earlier runs were compared with, if any;
    `debounce_s`: seconds without a signal before a run; `longest_s`: seconds after which a run begins anyway; `clock`:
    measures the time between requests.
    """

    def __init__(
        self,
        root: Path,
        run_index: RunIndex,
        make_filter: Callable[[], PathFilter],
        config: WatchConfig,
        check: StalenessCheck | None = None,
        *,
        debounce_s: float = DEBOUNCE_S,
        longest_s: float = LONGEST_S,
        clock: Clock = SYSTEM,
    ) -> None:
        self._run_index = run_index
        self.staleness = check or StalenessCheck(root, make_filter)
        self._staleness_state = LayerState(staleness.NAME, "on")
        self.scheduler = Scheduler(self._index, self.staleness.is_current, debounce_s=debounce_s, longest_s=longest_s)
        self.watcher = self._watcher(root, make_filter, config)
        self._clock = clock
        self._checked = -math.inf
        self._lifecycle = threading.Lock()
        self._ended = False

    def start(self) -> None:
        """Start: first the index catches up; does nothing after the end."""
        with self._lifecycle:
            if self._ended:
                return
            if self.watcher is not None:
                self.watcher.start()
            self.scheduler.signal(START, EVERYTHING, "catching up with changes made before")
            self.scheduler.start()

    def stop(self) -> None:
        """End all layers for good; a run that is on is waited for."""
        with self._lifecycle:
            # Another thread that begins it is either done now, or will not begin any more.
            self._ended = True
        if self.watcher is not None:
            self.watcher.stop()
        self.scheduler.stop()

    def signal(self, layer: str, paths: frozenset[str] | None = None, why: str = "") -> None:
        """Report a change from a hook, a save or a journal; no paths: anything may have changed."""
        self.scheduler.signal(layer, EVERYTHING if paths is None else Changes.of(paths), why)

    def before_query(self, seconds: float = 2.0) -> Freshness:
        """Check whether the index is behind, and update it first if that is quick.

        `seconds`: how long a request waits for the index; what is still behind then is in the response.
        """
        if self.scheduler.is_inside:
            # A run must neither wait for itself nor request another.
            return self.freshness()
        if self.watcher is not None:
            self.watcher.drain()
        found = self.staleness.check(briefly=self._was_just_checked())
        if found:
            self.scheduler.signal(staleness.NAME, found.changes, found.why)
        if found or self.scheduler.freshness().behind:
            self.scheduler.flush(seconds)
        return self.freshness()

    def _was_just_checked(self) -> bool:
        """Return whether changes since the last check are reported by the system; note the time of this one."""
        before, self._checked = self._checked, self._clock.monotonic()
        is_watched = self.watcher is not None and self.watcher.state.state == "on"
        return is_watched and self._checked - before < _JUST_S

    @property
    def has_compared(self) -> bool:
        """Return whether the index was compared with the files since this began."""
        return self.staleness.has_compared

    def freshness(self) -> Freshness:
        """Return each layer, and what is behind."""
        watching = self.watcher.state if self.watcher is not None else LayerState(watcher.NAME, "off")
        return self.scheduler.freshness(watching, self._staleness_state)

    def _watcher(self, root: Path, make_filter: Callable[[], PathFilter], config: WatchConfig) -> Watcher | None:
        if not config.enabled:
            return None

        def on_change(changes: Changes) -> None:
            if not self.staleness.is_current(changes):
                self.scheduler.signal(watcher.NAME, changes, debounce_s=config.debounce_seconds)

        return Watcher(root, make_filter, on_change, polling=config.polling)

    def _index(self, changes: Changes) -> str:
        if self.staleness.head_moved():
            changes = EVERYTHING
        start = self.staleness.begin()
        outcome = self._run(sorted(changes.paths or ()))
        self.staleness.finish(start, outcome.files, outcome.skipped, changes)
        return _words(changes, outcome.summary)

    def _run(self, paths: list[str]) -> IndexOutcome:
        try:
            return self._run_index(paths)
        except (NotIndexedError, RefusedError):
            # No index yet, or a parent folder became a link: a full comparison handles that.
            if not paths:
                raise
            return self._run_index([])


def _words(changes: Changes, summary: IndexSummary) -> str:
    seconds = sum(summary.seconds.values())
    return f"indexed {changes}: {count(summary.blobs, 'file')} parsed in {seconds:.1f} s"
