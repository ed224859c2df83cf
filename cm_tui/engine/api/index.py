"""The index of a project: its state, the runs that build and update it, and the history of its commits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import model, paths
from cm_tui.counts import count
from cm_tui.engine.api import projects, worktree_stores
from cm_tui.engine.api.engine_base import EngineBase, of_one_generation
from cm_tui.engine.api.needs import in_process, needs
from cm_tui.engine.platform import lazy
from cm_tui.errors import CmError, NotIndexedError

if TYPE_CHECKING:
    from cm_tui.engine.code.index.index_run import IndexOutcome
    from cm_tui.engine.code.index.indexer import Indexer
    from cm_tui.engine.code.index.team_vectors import SharedVectors


class IndexMethods(EngineBase):
    """The index as a whole: its state and maintenance."""

    @needs("nothing")
    def stale_reason(self) -> str:
        """Return why the index does not reflect this checkout's HEAD; empty when it does.

        Raises NotIndexedError if there is no index yet.
        """
        from cm_tui.engine.platform.store import seal

        db = self._db
        if lost := seal.lost(db):
            return lost
        if db.get_meta("indexed_at") is None:
            raise NotIndexedError(f"{self._root} has no index yet.", hint="Run `cm index` first.")
        if other := self.indexed_checkout():
            return f"The index reflects another checkout, {other}"
        now, then = self._repository.head().sha or "", db.get_meta("indexed_head") or ""
        return f"HEAD moved from {then[:10] or 'nothing'} to {now[:10] or 'nothing'}" if now != then else ""

    @in_process
    def indexed_checkout(self) -> str:
        """Return the root of the clone or worktree that the index reflects, if not this one; it may reflect none yet."""
        reflected = self._db.get_meta("root")
        return reflected if reflected is not None and reflected != str(self._root) else ""

    @needs("nothing")
    def freshness(self) -> model.Freshness:
        """Return each layer that keeps the index fresh, and changes that are not indexed yet.

        Raises NotIndexedError if there is no index yet.
        """
        from cm_tui.engine.code.freshness.watcher import NAME

        why, ran_at = self.stale_reason() or self._edited()[1], self._db.get_meta("indexed_at")
        layers = (model.LayerState(NAME, "off", note="no daemon runs"), *self._external_layers(self._root))
        return model.Freshness(bool(why), why, ran_at=float(ran_at) if ran_at else None, layers=layers)

    @in_process
    def follow_edits(self) -> str:
        """Index what was edited since the last run, up to `QUICK_BYTES`; return what is still missing, in words.

        For requests without a daemon, to an index that reflects HEAD.
        """
        from cm_tui.engine.code.freshness.policy import QUICK_BYTES, QUICK_S

        size, why = self._edited()
        if not why or size > QUICK_BYTES:
            return why
        until = time.monotonic() + QUICK_S
        try:
            with closing(self.run_index()) as steps:
                # Vectors that are missing for other reasons may take long: they are left to `cm index`.
                next((step for step in steps if step.searchable and time.monotonic() > until), None)
        except CmError as error:
            return f"{why}, and could not be indexed: {error.message.rstrip('.')}"
        return ""

    @in_process
    def edits(self) -> tuple[bool, str]:
        """Return whether what was edited since the last run can be indexed quickly, and that in words; empty: nothing."""
        from cm_tui.engine.code.freshness.policy import QUICK_BYTES

        size, why = self._edited()
        return size <= QUICK_BYTES and not self._db.is_read_only, why

    def _edited(self) -> tuple[float, str]:
        """Return how many bytes were edited since the last run, and that in words; empty: none."""
        from pygit2 import GitError

        from cm_tui.engine.code.index.plan import find_edits

        try:
            edits = find_edits(self._db, self._root, self.config.index)
        except (CmError, OSError, GitError) as error:
            message = str(error).partition("\n")[0].rstrip(".")
            return math.inf, f"files cannot be compared with the index: {message}"
        if edits is None:
            return math.inf, "files may have changed since the last index run"
        paths, size = edits
        return size, f"{count(len(paths), 'file')} changed since the last index run" if paths else ""

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
        self._recreate_store(projects.remove_store, paths.project_store(self.store))

    @needs("nothing")
    def team_vectors(self) -> tuple[model.TeamVectors, ...]:
        """Return the versions of the vectors that a team shares, the newest first.

        Raises RefusedError without git or a model.
        """
        return tuple(self._shared_vectors().versions())

    @needs("head")
    def publish_vectors(self, *, dry_run: bool = False) -> model.TeamVectors:
        """Write the vectors of HEAD to the branch that a team shares; pushing it is up to the user.

        Raises RefusedError if HEAD is not on the default branch, there is no model, or passages have no vector yet;
        CmError if git cannot write it.
        """
        return self._shared_vectors().publish(dry_run=dry_run)

    @needs("nothing", writes=("index",))
    def pull_vectors(self) -> model.TeamVectors:
        """Take the vectors of the nearest version on that branch; the next index run uses them.

        Raises NotFoundError without a version; RefusedError if all are of another model, or there is no git or model.
        """
        self._refuse_read_only()
        self._claim()
        return self._shared_vectors().pull()

    def _shared_vectors(self) -> SharedVectors:
        from cm_tui.engine.code.index.team_vectors import SharedVectors

        return SharedVectors(self._db, self._repository, self._vectors.provider)

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

    # --- history: the state at each commit, on the mainline (HEAD's first-parent line) or off it ---

    @needs("head")
    def mainline(
        self, *, match: str = "", before: int | None = None, limit: int = 200
    ) -> model.Page[model.CommitPoint]:
        """Return commits of the mainline, newest first.

        `match`: only those with these words in subject, author, date or sha. `before`: only those below this ordinal:
        the last one of the previous page. `limit`: the most to return; the total counts all matches, before and after
        this page.
        """
        return self._history.commits.mainline(match, before, limit)

    @needs("head")
    def resolve(self, ref: str) -> model.ResolvedRevision:
        """Return the revision of a name: a branch, tag, sha or `HEAD~2`, `#17` (an ordinal), or a date.

        A commit off the mainline has a note on its place; the first request for it reads its files. A date
        (`2024-05-01`, UTC) gives the last commit made before it. Raises NotFoundError if no revision has that name;
        UsageError if the name is ambiguous or malformed, or the project has no git.
        """
        return self._history.revisions.resolve(ref)

    @needs("nothing", of_index=True)
    def history(self) -> model.HistoryStatus:
        """Return how much of the mainline is known."""
        return self._history.report.status()

    @needs("nothing", writes=("index",))
    def backfill(
        self, *, depth: int | None = None, since: str | None = None, cancel: model.Cancel | None = None
    ) -> Generator[model.Progress, None, None]:
        """Read the mainline's history, newest first; known commits can be queried meanwhile, and a later run continues.

        `depth`: how many commits back from HEAD; all when neither is given. `since`: a revision or a date to go back
        to. `cancel`: checked between steps; finished work is kept.
        """
        yield from self._history.backfill(depth=depth, since=since, cancel=cancel or model.Cancel())
        self._follow_mentions_in_slices(cancel)

    @needs("nothing")
    def wants_history(self) -> bool:
        """Return whether `catch_up` is due: history is incomplete, and nothing reads it in the background."""
        return self._history.goal() is not None

    @needs("nothing", writes=("index",))
    def catch_up(self, *, cancel: model.Cancel | None = None) -> Generator[model.Progress, None, None]:
        """Read the configured history, without what was pruned.

        `cancel`: checked between steps; finished work is kept.
        """
        yield from self._history.catch_up(cancel or model.Cancel())
        self._follow_mentions_in_slices(cancel)

    @needs("head")
    def symbols_at(
        self, ref: str, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> model.Page[model.Symbol]:
        """Return symbols alive at a revision, as `symbols` lists them now."""
        inside = self._inside(file) if file else None
        return self._history.ask(ref, lambda graph: graph.symbols(file=inside, kind=kind, match=match, limit=limit))

    @needs("head")
    def files_at(self, ref: str, folder: str = "") -> model.Page[model.FileEntry]:
        """Return the files below a folder at a revision, all levels, sorted by path."""
        inside = self._inside(folder).removeprefix(".") if folder else ""
        return self._history.files(ref, inside)

    @needs("head")
    def changes(self, before: str, after: str, *, limit: int = 1000) -> model.Page[model.SymbolChange]:
        """Return changes of symbols between two revisions: added, removed, changed, new signature, moved."""
        return self._history.changes(before, after, limit)

    @needs("head")
    def symbol_history(
        self, name: str | model.SymbolKey, *, callers: bool = False, limit: int = 20
    ) -> model.Page[model.SymbolHistory]:
        """Return the history of the symbols with a name, current ones first; also of removed ones.

        `name`: as for `definitions`; a key names one symbol. `callers`: add the callers of removed ones, at their last
        revision. `limit`: the most symbols. Raises NotFoundError if no known symbol ever had that name.
        """
        return self._history.symbol_histories(name, limit, callers=callers)

    @needs("checkout", shared=False)
    def drift(self, since: str | None = None, *, looked: bool = False, limit: int = 1000) -> model.Drift:
        """Return the differences between index and checkout, symbol by symbol.

        `since`: also changes since this revision or date; `last`: since the user last looked. `looked`: afterwards,
        store the indexed commit as the one that the user last looked at. `limit`: the most rows (and changes).
        """
        return self._history.drift(self.plan(), since, limit, looked=looked)

    @needs("nothing", writes=("index",))
    def prune(
        self,
        *,
        before: str | None = None,
        older_than: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> model.PruneReport:
        """Drop the history before a revision, older than an age such as `30d`, or all of it.

        Raises UsageError: not exactly one of the three is given, or the age is malformed.
        """
        return self._history.prune(before=before, older_than=older_than, everything=everything, dry_run=dry_run)

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

    def _leave_worktrees(self) -> None:
        """Remove the worktrees' copies of the project's store, which repeat what is in it, and go on with that.

        Raises StoreBusyError if another process has one of them.
        """

        def remove(store: Path) -> None:
            for copy in worktree_stores.copies_of(store):
                projects.remove_store(copy)

        project = paths.project_store(self.store)
        if self.store == project:
            remove(project)
        else:
            self._recreate_store(remove, project)

    def _recreate_store(self, remove: Callable[[Path], None], store: Path | None = None) -> None:
        """Open the store again, or another one from now on, once it is closed and something is removed."""
        from cm_tui.engine.platform.store.database import Database

        # A part built by another thread meanwhile would use the closed store.
        with self._build_lock:
            self._close_parts()
            self._db.close()
            self.store = store or self.store
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
