"""All layers of one project at work: watcher, guard and outside signals, one scheduler, one index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from cm_tui.config import Config
from cm_tui.engine.freshness import staleness as guard_room
from cm_tui.engine.freshness import watcher as watcher_room
from cm_tui.engine.freshness.changes import EVERYTHING, NOTHING, Changes, path_filter
from cm_tui.engine.freshness.scheduler import LONGEST_SECONDS, QUIET_SECONDS, Scheduler
from cm_tui.engine.freshness.staleness import StalenessCheck
from cm_tui.engine.freshness.watcher import Watcher
from cm_tui.errors import NotIndexedError, RefusedError
from cm_tui.model import FileEntry, IndexSummary, Page, Progress, SkippedFile
from cm_tui.model.freshness import Freshness, LayerState

START = "start"


class IndexRunner(Protocol):
    """What a keeper needs of an engine."""

    @property
    def root(self) -> Path:
        """The project's root folder."""

    def index(self, *, paths: Sequence[str] = ()) -> Iterator[Progress]:
        """Bring the index up to the working tree; `paths` alone when given."""

    def files(self) -> Page[FileEntry]:
        """Files of the index."""

    def skipped(self) -> Page[SkippedFile]:
        """Files that the walk left out."""


class ProjectSync:
    """Keeps the index of one project fresh, as long as its daemon lives.

    Args:
        engine: the project; its `index` is run in a thread of the keeper's own.
        store: folder of its store.
        config: its settings.
        quiet: seconds without a signal before a run.
        longest: seconds after which a run begins all the same.
    """

    def __init__(
        self,
        engine: IndexRunner,
        store: Path,
        config: Config,
        *,
        quiet: float = QUIET_SECONDS,
        longest: float = LONGEST_SECONDS,
    ) -> None:
        self._engine = engine
        make_sieve = partial(path_filter, engine.root, store / "shadow", config)
        self._guard = StalenessCheck(engine.root, make_sieve)
        self._guard_state = LayerState(guard_room.NAME, "on")
        self.scheduler = Scheduler(self._index, self._guard.is_settled, quiet=quiet, longest=longest)
        self.watcher = self._watcher(config, make_sieve)

    def start(self) -> None:
        """Begin: first the index catches up with what happened before."""
        if self.watcher is not None:
            self.watcher.start()
        self.scheduler.signal(START, EVERYTHING, "catching up with what happened before")
        self.scheduler.start()

    def stop(self) -> None:
        """End all layers; a run that is on is waited for."""
        if self.watcher is not None:
            self.watcher.stop()
        self.scheduler.stop()

    def signal(self, layer: str, paths: frozenset[str] | None = None, why: str = "") -> None:
        """A hook, a save or a journal says that something changed; no paths: anything may have."""
        self.scheduler.signal(layer, EVERYTHING if paths is None else Changes.of(paths), why)

    def before_query(self, seconds: float = 2.0) -> Freshness:
        """Look whether the index is behind, and bring it up to date first if that does not take long.

        Args:
            seconds: how long a question waits for the index; what is still behind then is in the answer.
        """
        if self.scheduler.is_inside:
            # A run that asks must neither wait for itself nor ask for another.
            return self.freshness()
        told = self.watcher.take() if self.watcher is not None else NOTHING
        if told != NOTHING:
            self.scheduler.signal(watcher_room.NAME, told)
        found = self._guard.check()
        if found:
            self.scheduler.signal(guard_room.NAME, found.changes, found.why)
        if found or self.scheduler.freshness().behind:
            self.scheduler.flush(seconds)
        return self.freshness()

    def freshness(self) -> Freshness:
        """Each layer, and what is behind."""
        # First what the watcher has not told: what it tells meanwhile is with the scheduler when that is asked.
        pending = self.watcher.pending if self.watcher is not None else NOTHING
        watching = self.watcher.state if self.watcher is not None else LayerState(watcher_room.NAME, "off")
        state = self.scheduler.freshness(watching, self._guard_state)
        if state.behind or pending == NOTHING or self._guard.is_settled(pending):
            return state
        return replace(state, behind=True, why=f"watcher: {pending} changed")

    def _watcher(self, config: Config, make_sieve: Callable[[], Callable[[str], bool]]) -> Watcher | None:
        if not config.watch.enabled:
            return None
        tell = partial(self.scheduler.signal, watcher_room.NAME, rested=True)
        settings = config.watch
        return Watcher(
            self._engine.root, make_sieve, tell, debounce=settings.debounce_seconds, polling=settings.polling
        )

    def _index(self, changes: Changes) -> str:
        if self._guard.head_moved():
            changes = EVERYTHING
        self._guard.begin()
        summary = self._run(changes)
        # The rows are read whole: a page of them is not enough to compare with.
        files = [row.path for row in self._engine.files().rows]
        self._guard.finish(files, [row.path for row in self._engine.skipped().rows], changes)
        return _words(changes, summary)

    def _run(self, changes: Changes) -> IndexSummary | None:
        paths = sorted(changes.paths or ())
        try:
            return _last(self._engine, paths)
        except (NotIndexedError, RefusedError):
            # No index yet, or a folder on the way became a link: the whole comparison knows what to do.
            if not paths:
                raise
            return _last(self._engine, [])


def _last(engine: IndexRunner, paths: list[str]) -> IndexSummary | None:
    summary = None
    for step in engine.index(paths=paths):
        summary = step.summary or summary
    return summary


def _words(changes: Changes, summary: IndexSummary | None) -> str:
    if summary is None:
        return f"indexed {changes}"
    seconds = sum(summary.seconds.values())
    return f"indexed {changes}: {summary.blobs:,} files parsed in {seconds:.1f} s"
