"""Keeping the indexes of all projects fresh while the daemon lives: one keeper a project, begun with its first question."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cm_tui.config import load_config
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.freshness.project_sync import ProjectSync
from cm_tui.errors import NotIndexedError, StoreBusyError
from cm_tui.integrations.external_layers import outside_layers
from cm_tui.model import FileEntry, Freshness, Page, Progress, SkippedFile

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher

MOST = 16
"""Projects that are watched at once; the one asked about longest ago is let go."""
PATIENCE_SECONDS = 2.0
"""How long a question waits for what changed to be indexed."""

_log = logging.getLogger(__name__)


class JobIndexRunner:
    """What a keeper needs of an engine; its index runs take their turn among the daemon's jobs.

    Args:
        dispatcher: where jobs are.
        root: the checkout that is kept fresh.
        kept: whether it still is; a run that another checkout has overtaken must not take the store back.
    """

    def __init__(self, dispatcher: Dispatcher, root: Path, kept: Callable[[], bool]) -> None:
        self._dispatcher = dispatcher
        self._root = root
        self._kept = kept
        self._where = ProjectRef(str(root), force=True)

    @property
    def root(self) -> Path:
        """The project's root folder."""
        return self._root

    def index(self, *, paths: Sequence[str] = ()) -> Iterator[Progress]:
        """Run an index as a job, and wait for it."""
        job = self._dispatcher.start("index", self._where, {"paths": list(paths)}, wanted=self._kept)
        job.wait()
        yield from job.steps

    def files(self) -> Page[FileEntry]:
        """Files of the index."""
        page: Page[FileEntry] = self._list("files")
        return page

    def skipped(self) -> Page[SkippedFile]:
        """Files that the walk left out."""
        page: Page[SkippedFile] = self._list("skipped")
        return page

    def _list(self, name: str) -> Any:
        if not self._kept():
            raise StoreBusyError(f"{self._root} is no longer kept fresh.", hint="Ask it something.")
        return self._dispatcher.call(name, self._where, {})


class SyncManager:
    """The keepers of all projects.

    A project that was never indexed has none: what nobody indexed is not indexed because somebody looked.

    Args:
        dispatcher: where index runs take their turn.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._lock = threading.Lock()
        self._keepers: OrderedDict[Path, tuple[Path, ProjectSync]] = OrderedDict()
        self._closed = False

    def current(self, root: Path, store: Path) -> ProjectSync | None:
        """The keeper of a store, if it works for this checkout."""
        with self._lock:
            found = self._keepers.get(store)
            if found is None or found[0] != root:
                return None
            self._keepers.move_to_end(store)
            return found[1]

    def _keeps(self, root: Path, store: Path) -> bool:
        with self._lock:
            found = self._keepers.get(store)
            return found is not None and found[0] == root

    def begin(self, root: Path, store: Path) -> None:
        """Keep an indexed project fresh from now on; one checkout of it at a time.

        Raises:
            CmError: its settings cannot be read.
        """
        if self.current(root, store) is not None:
            return
        engine = JobIndexRunner(self._dispatcher, root, partial(self._keeps, root, store))
        keeper = ProjectSync(engine, store, load_config(root))
        with self._lock:
            if self._closed:
                return
            old = [self._keepers.pop(store, None)]
            self._keepers[store] = (root, keeper)
            while len(self._keepers) > MOST:
                old.append(self._keepers.popitem(last=False)[1])
        keeper.start()
        _log.info("keeping %s fresh", root)
        for one in old:
            if one is not None:
                one[1].stop()

    def before_query(self, root: Path, store: Path) -> str | None:
        """Bring the index up to date if that is soon done; a note on what is still behind, or None without a keeper."""
        keeper = self.current(root, store)
        if keeper is None:
            return None
        state = keeper.before_query(PATIENCE_SECONDS)
        return f"The index is behind: {state.why}." if state.behind else ""

    def signal(self, root: Path, layer: str, files: Sequence[str]) -> None:
        """A hook says that something changed; no files: anything may have.

        Raises:
            CmError: the project cannot be found, or its settings cannot be read.
        """
        root, store = self._dispatcher.pool.locate(ProjectRef(str(root)))
        keeper = self.current(root, store)
        if keeper is None:
            try:
                self._dispatcher.call("stale_reason", ProjectRef(str(root)), {})
            except NotIndexedError:
                return
            # It begins by comparing everything.
            self.begin(root, store)
            return
        inside = frozenset(path for path in (_below(root, file) for file in files) if path)
        if inside or not files:
            keeper.signal(layer, inside or None)

    def freshness(self, root: Path, store: Path) -> Freshness | None:
        """Each layer of a project's keeper, and what is behind; None without one."""
        keeper = self.current(root, store)
        return keeper.freshness() if keeper is not None else None

    def drop(self, store: Path) -> None:
        """Let go of a store that is removed."""
        with self._lock:
            found = self._keepers.pop(store, None)
        if found is not None:
            found[1].stop()

    def close(self) -> None:
        """End all keepers; runs that are on are waited for."""
        with self._lock:
            self._closed = True
            keepers = [keeper for _, keeper in self._keepers.values()]
            self._keepers.clear()
        for keeper in keepers:
            keeper.stop()


def _below(root: Path, file: str) -> str:
    """A file's path as the index has it; nothing when it lies elsewhere."""
    path = Path(file)
    if path.is_absolute():
        try:
            path = path.relative_to(root)
        except ValueError:
            return ""
    return "" if ".." in path.parts else path.as_posix()


def with_layers(state: Freshness, root: Path) -> Freshness:
    """A keeper's layers, and those that live outside the daemon with what they were heard to say."""
    heard = {layer.name: layer for layer in state.layers}
    outside = {layer.name: layer for layer in outside_layers(root)}
    for name, layer in outside.items():
        if name in heard:
            outside[name] = replace(layer, fired_at=heard[name].fired_at, did=heard[name].did)
    return replace(state, layers=tuple({**heard, **outside}.values()))
