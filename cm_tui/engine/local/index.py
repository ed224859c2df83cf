"""The index of a project, in this process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.engine import lazy
from cm_tui.engine.api import projects
from cm_tui.engine.local.rooms import LocalRooms
from cm_tui.model import Cancel, Check, FileEntry, Freshness, IndexPlan, Page, Progress, ProjectStatus, SkippedFile

if TYPE_CHECKING:
    from cm_tui.engine.index.indexer import Indexer
    from cm_tui.engine.index.summary import IndexOutcome


class LocalIndex(LocalRooms):
    """What can be asked of the index as a whole, and done with it."""

    def stale_reason(self) -> str:
        """Return why the index does not reflect this checkout's HEAD; nothing when it does.

        Raises:
            NotIndexedError: there is no index yet.
        """
        from cm_tui.engine.status import stale_reason

        return stale_reason(self._db, self._root, self._repository)

    def indexed_checkout(self) -> str:
        """Return the root of the clone or worktree that the index reflects, when that is not this one."""
        from cm_tui.engine.status import indexed_checkout

        return indexed_checkout(self._db, self._root)

    def freshness(self) -> Freshness:
        """Return what is behind, as far as HEAD tells; without a daemon nothing watches."""
        from cm_tui.engine.freshness.unwatched import unwatched

        return unwatched(self.stale_reason(), self._db.get_meta("indexed_at"), self._external_layers(self._root))

    def status(self) -> ProjectStatus:
        """Return the project and its index at a glance."""
        from cm_tui.engine.status import status

        return status(self._db, self._root, self._repository, self._vectors, self._provider)

    def plan(self, *, full: bool = False, since: str | None = None) -> IndexPlan:
        """Return what `index` would do, without doing it."""
        return self._indexer().plan(full=full, since=since)

    def index(
        self, *, full: bool = False, since: str | None = None, paths: Sequence[str] = (), cancel: Cancel | None = None
    ) -> Generator[Progress, None, IndexOutcome]:
        """Bring the index up to the working tree; `paths` alone when given.

        The last step carries the summary; the outcome behind it, which never leaves this process, the paths as well.
        """
        inside = [self._inside(path) for path in paths]
        return (yield from self._indexer().run(full=full, since=since, paths=inside, cancel=cancel))

    def rebuild(self, *, cancel: Cancel | None = None) -> Generator[Progress, None, None]:
        """Throw the index away and make it again."""
        self._begin_anew(projects.clear_store)
        yield from self._indexer().run(full=True, cancel=cancel)

    def reset(self) -> None:
        """Remove the project's index; the engine stays open on an empty one."""
        self._begin_anew(projects.remove_store)

    def doctor(self) -> tuple[Check, ...]:
        """Check model, extension, grammars, compiled parts, store and versions."""
        from cm_tui.engine.doctor import examine, examine_store

        return (*examine(self._root), *examine_store(self._db, self._vectors))

    def files(self, folder: str = "") -> Page[FileEntry]:
        """Return the indexed files below a folder, all levels, sorted by path."""
        from cm_tui.engine.index import files

        return files.files(self._db, folder)

    def skipped(self) -> Page[SkippedFile]:
        """Return the files that were looked at and left out of the index."""
        from cm_tui.engine.index import files

        return files.skipped(self._db)

    def _begin_anew(self, remove: Callable[[Path], None]) -> None:
        from cm_tui.engine.store.database import Database

        self._close_searcher()
        self._db.close()
        lazy.reset(self, keep=("_provider",))
        remove(self.store)
        self._is_new = True
        self._db = Database(self.store)

    def _indexer(self) -> Indexer:
        from cm_tui.engine.index.indexer import Indexer
        from cm_tui.engine.memory import sources

        return Indexer(self._db, self._root, self.config, self._vectors, sources=sources.SOURCES)
