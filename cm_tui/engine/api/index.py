"""The index of a project: its state, and the runs that build and update it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api import projects
from cm_tui.engine.api.engine_base import EngineBase, of_one_generation
from cm_tui.engine.api.needs import in_process, needs
from cm_tui.engine.platform import lazy

if TYPE_CHECKING:
    from cm_tui.engine.code.index.index_run import IndexOutcome
    from cm_tui.engine.code.index.indexer import Indexer


class IndexMethods(EngineBase):
    """The index as a whole: its state and maintenance."""

    @needs("nothing")
    def stale_reason(self) -> str:
        """Return why the index does not reflect this checkout's HEAD; empty when it does.

        Raises NotIndexedError if there is no index yet.
        """
        from cm_tui.engine.status import stale_reason

        return stale_reason(self._db, self._root, self._repository)

    @in_process
    def indexed_checkout(self) -> str:
        """Return the root of the clone or worktree that the index reflects, if not this one."""
        from cm_tui.engine.status import indexed_checkout

        return indexed_checkout(self._db, self._root)

    @needs("nothing")
    def freshness(self) -> model.Freshness:
        """Return each layer that keeps the index fresh, and changes that are not indexed yet.

        Raises NotIndexedError if there is no index yet.
        """
        from cm_tui.engine.code.freshness.policy import unwatched

        return unwatched(self.stale_reason(), self._db.get_meta("indexed_at"), self._external_layers(self._root))

    @needs("nothing", shared=False, of_index=True)
    @of_one_generation
    def status(self) -> model.ProjectStatus:
        """Return the project and its index at a glance."""
        from cm_tui.engine.status import status

        return status(self._db, self._root, self._repository, self._vectors)

    @needs("nothing", of_index=True)
    def plan(self, *, full: bool = False, since: str | None = None) -> model.IndexPlan:
        """Return what `index` would do, without doing it."""
        return self._indexer().plan(full=full, since=since)

    @needs("nothing", writes=("index",))
    def index(
        self,
        *,
        full: bool = False,
        since: str | None = None,
        paths: Sequence[str] = (),
        cancel: model.Cancel | None = None,
    ) -> Iterator[model.Progress]:
        """Update the index from the working tree, or only from `paths`. The last step carries the summary."""
        yield from self.run_index(full=full, since=since, paths=paths, cancel=cancel)

    @in_process
    def run_index(
        self, *, full: bool = False, since: str | None = None, paths: Sequence[str] = (), cancel: model.Cancel | None = None,
        with_prose: bool = True,
    ) -> Generator[model.Progress, None, IndexOutcome]:  # fmt: skip
        """Run `index`; the outcome has the paths as well, and never leaves this process.

        Without prose, `embed_recorded` embeds what was said.
        """
        inside = [self._inside(path) for path in paths]
        self._refuse_read_only()
        self._claim()
        run = self._indexer().run(full=full, since=since, paths=inside, cancel=cancel, with_prose=with_prose)
        return (yield from self._with_mentions(run, cancel))

    @needs("nothing", writes=("index",))
    def rebuild(self, *, cancel: model.Cancel | None = None) -> Iterator[model.Progress]:
        """Throw the index away and make it again."""
        self._refuse_read_only()
        self._claim()
        self._recreate_store(lambda store: projects.begin_rebuild(self._root, store))
        yield from self._with_mentions(self._indexer().run(full=True, cancel=cancel), cancel)

    @needs("nothing", writes=("index", "memory"))
    def reset(self, *, drop_episodes: bool = False) -> None:
        """Remove the project's index.

        The engine stays open on an empty one. `drop_episodes`: also delete the journal with all recorded sessions,
        which cannot be recreated.
        """
        if drop_episodes:
            from cm_tui.engine.platform.journal import location

            # First: if this is interrupted, the next run repairs the index.
            projects.drop_episodes(location.folder_of(self._root).name)
            self._recall_log.drop()
        self._recreate_store(projects.remove_store)

    @needs("nothing")
    def doctor(self, *, full: bool = False) -> tuple[model.Check, ...]:
        """Check model, extension, grammars, compiled parts, versions, and all of the store.

        `full`: also compare every vector, every word of the keyword index and every file of HEAD.
        """
        from cm_tui.engine.doctor.installation import examine
        from cm_tui.engine.doctor.project_store import StoreParts, examine_store

        with_vectors = self.config.embedding.provider != "none"
        parts = StoreParts(self._root, self._db, lambda: self._repository, lambda: self._vectors, with_vectors)
        return (*examine(self._root), *examine_store(parts, full=full))

    @needs("checkout")
    @of_one_generation
    def files(self, folder: str = "") -> model.Page[model.FileEntry]:
        """Return the indexed files below a folder, all levels, sorted by path."""
        from cm_tui.engine.code.index import files

        return files.files(self._db, folder)

    @needs("checkout")
    @of_one_generation
    def skipped(self) -> model.Page[model.SkippedFile]:
        """Return the files that the scan excluded from the index."""
        from cm_tui.engine.code.index import files

        return files.skipped(self._db)

    def _refuse_read_only(self) -> None:
        """Stop before anything is read for a store that cannot take it.

        Raises StoreReadOnlyError if it can only be read here.
        """
        if self._db.is_read_only:
            from cm_tui.engine.platform.store.failures import read_only

            raise read_only(self._db.file)

    def _claim(self) -> None:
        """Claim this store for the project before anything is in it; a store elsewhere stays unclaimed."""
        from cm_tui.engine.platform.git.identity import claim

        claim(self._root, self.store)

    def _with_mentions(
        self, run: Generator[model.Progress, None, IndexOutcome], cancel: model.Cancel | None
    ) -> Generator[model.Progress, None, IndexOutcome]:
        """Update mentions as soon as a run has stored its files, as vectors may take long."""
        is_due = True
        # Where it is cancelled in between, the run ends at once: another may begin.
        with closing(run):
            while True:
                try:
                    step = next(run)
                except StopIteration as end:
                    outcome: IndexOutcome = end.value
                    return outcome
                if step.searchable and is_due:
                    is_due = False
                    self._follow_mentions_in_slices(cancel)
                yield step

    def _recreate_store(self, remove: Callable[[Path], None]) -> None:
        from cm_tui.engine.platform.store.database import Database

        # A part built by another thread meanwhile would use the closed store.
        with self._build_lock:
            self._close_parts()
            self._db.close()
            lazy.reset(self, keep=("_provider",))
            try:
                remove(self.store)
            finally:
                # What could not be removed stays in use.
                self._is_new = not projects.store_file(self.store).exists()
                self._db = Database(self.store)

    def _indexer(self) -> Indexer:
        from cm_tui.engine.code.index.indexer import Indexer
        from cm_tui.engine.memory.projection import sources

        return Indexer(self._db, self._root, self.config, self._vectors, sources=sources.SOURCES)
