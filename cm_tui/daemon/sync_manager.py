"""Keeping the indexes of all projects fresh while the daemon lives: one sync a project, begun with its first question."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.config import Config, load_config
from cm_tui.engine.code.freshness.project_sync import ProjectSync
from cm_tui.engine.code.freshness.scheduler import PathFilter, path_filter
from cm_tui.engine.code.freshness.staleness import StalenessCheck
from cm_tui.errors import StoreBusyError
from cm_tui.lru import LRU
from cm_tui.model import Freshness

if TYPE_CHECKING:
    from cm_tui.engine.code.index.index_run import IndexOutcome

MOST = 6
"""Projects that are watched at once; the one asked about longest ago is let go."""
_NOT_COMPARED = "The files are being compared with the index: changes since its last run may be missing."
_log = logging.getLogger(__name__)

RunIndexJob = Callable[[Path, Sequence[str], Callable[[], bool]], "IndexOutcome | None"]
"""Runs an index as a job, and waits for it.

Arguments: the checkout, the paths (none: everything), and a check whether the run is still wanted when its turn comes,
because a run that another checkout overtook must not take the store. Returns None when it was no longer wanted.
"""


class SyncManager:
    """The syncs of all projects.

    A project without an index has none: a request never creates an index. `run_index`: how index runs take their turn.
    """

    def __init__(self, run_index: RunIndexJob) -> None:
        self._run_index = run_index
        self._lock = threading.Lock()
        self._syncs: LRU[Path, tuple[Path, ProjectSync]] = LRU(MOST)
        self._compared: LRU[Path, tuple[Path, Config, StalenessCheck]] = LRU(MOST)
        """What the last requested run of a store without a sync was compared with, and the settings it followed."""
        self._closed = False

    def current(self, root: Path, store: Path) -> ProjectSync | None:
        """Return the sync of a store, if it works for this checkout."""
        found = self._syncs.get(store)
        return found[1] if found is not None and found[0] == root else None

    def begin(self, root: Path, store: Path) -> None:
        """Keep an indexed project fresh from now on; one checkout of it at a time.

        Raises CmError if its settings cannot be read.
        """
        if self.current(root, store) is not None:
            return
        config = load_config(root)
        compared = self._compared.pop(store)
        known = compared[2] if compared is not None and compared[:2] == (root, config) else None
        sync = ProjectSync(
            root, partial(self._run, root, store), _filter_maker(root, store, config), config.watch, known
        )
        with self._lock:
            if self._closed:
                return
            old = [self._syncs.pop(store), *(one for _, one in self._syncs.put(store, (root, sync)))]
        sync.start()
        _log.info("keeping %s fresh", root)
        for one in old:
            if one is not None:
                one[1].stop()

    def compare(self, root: Path, store: Path) -> Callable[[IndexOutcome], None]:
        """Begin to compare a checkout with a requested run over everything; return what takes the run's outcome.

        What that run has read need not be read again by the project's sync, the current one or the next.
        """
        sync, config = self.current(root, store), load_config(root)
        check = sync.staleness if sync is not None else StalenessCheck(root, _filter_maker(root, store, config))
        start = check.begin()

        def end(outcome: IndexOutcome) -> None:
            check.finish(start, outcome.files, outcome.skipped)
            if sync is None:
                self._compared.put(store, (root, config, check))

        return end

    def before_query(self, root: Path, store: Path, seconds: float) -> str | None:
        """Bring the index up to date if that is done in time; a note on what is still behind, or None without a sync."""
        sync = self.current(root, store)
        if sync is None:
            return None
        state = sync.before_query(seconds)
        if state.behind and not sync.has_compared:
            return _NOT_COMPARED
        return f"The index is behind: {state.why}." if state.behind else ""

    def signal(self, root: Path, store: Path, layer: str, files: Sequence[str]) -> bool:
        """Tell a checkout's sync that something changed; no files: anything may have.

        Returns False when the checkout has no sync.
        """
        sync = self.current(root, store)
        if sync is None:
            return False
        inside = frozenset(path for path in (_below(root, file) for file in files) if path)
        if inside or not files:
            sync.signal(layer, inside or None)
        return True

    def freshness(self, root: Path, store: Path) -> Freshness | None:
        """Return each layer of a project's sync, and what is behind; None without one."""
        sync = self.current(root, store)
        return sync.freshness() if sync is not None else None

    def drop(self, store: Path) -> None:
        """Close a store that is removed."""
        self._compared.pop(store)
        found = self._syncs.pop(store)
        if found is not None:
            found[1].stop()

    def close(self) -> None:
        """End all syncs; runs that are on are waited for."""
        with self._lock:
            self._closed = True
            syncs = [sync for _, sync in self._syncs.values()]
            self._syncs.clear()
        for sync in syncs:
            sync.stop()

    def _run(self, root: Path, store: Path, paths: Sequence[str]) -> IndexOutcome:
        outcome = self._run_index(root, paths, lambda: self.current(root, store) is not None)
        if outcome is None:
            raise StoreBusyError(f"{root} is no longer kept up to date.", hint="Repeat the request.")
        return outcome


def _filter_maker(root: Path, store: Path, config: Config) -> Callable[[], PathFilter]:
    return partial(path_filter, root, store / "shadow", config)


def _below(root: Path, file: str) -> str:
    """A file's path as the index has it; nothing when it lies elsewhere."""
    path = Path(file)
    if path.is_absolute():
        try:
            path = path.relative_to(root)
        except ValueError:
            return ""
    return "" if ".." in path.parts else path.as_posix()
