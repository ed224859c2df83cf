"""The index of one project: what a run would do, and runs, one at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.config import Config
from cm_tui.engine.index.index_run import Run
from cm_tui.engine.index.summary import IndexOutcome
from cm_tui.engine.search.code_source import CodeSource
from cm_tui.engine.search.source import MakeSource
from cm_tui.engine.store.database import Database
from cm_tui.engine.store.writer_lock import WriterLock
from cm_tui.model import Cancel, IndexPlan, Progress

if TYPE_CHECKING:
    from cm_tui.engine.vectors.by_source import ProjectVectors


class Indexer:
    """Index runs of one project.

    Args:
        db: its store.
        root: the checkout that the index shall reflect.
        config: what is indexed, and with which model.
        vectors: the vector index in use; opened when needed if not given.
        sources: what passages come from.
    """

    def __init__(
        self, db: Database, root: Path, config: Config, vectors: ProjectVectors | None = None,
        *, sources: Sequence[MakeSource] = (CodeSource,),
    ) -> None:  # fmt: skip
        self.db = db
        self.root = root
        self.config = config
        self.vectors = vectors
        self.sources = sources

    def plan(self, full: bool = False, since: str | None = None) -> IndexPlan:
        """Return what a run would do; reads only what differs from HEAD on disk.

        Args:
            full: as for `run`.
            since: compare with this commit instead of with the index.

        Raises:
            NotFoundError: there is no such commit.
        """
        from cm_tui.engine.index.plan import make_plan

        return make_plan(self.db, self.root, self.config.index, full=full, since=since)

    def run(
        self,
        full: bool = False,
        since: str | None = None,
        paths: Sequence[str] = (),
        cancel: Cancel | None = None,
        *,
        with_prose: bool = True,
    ) -> Generator[Progress, None, IndexOutcome]:
        """Bring the index up to the working tree.

        Args:
            full: parse again what is stored.
            since: a commit that must exist; content names itself, so the comparison is exact whatever it is.
            paths: look at these alone (files, or folders with all below them), relative to the root or absolute.
            cancel: looked at between steps; what was done is kept.
            with_prose: give what people and agents said its vectors too; otherwise somebody else does.

        Raises:
            CancelledError: it was cancelled.
            CmError: this store is being indexed already, or git's data cannot be read.
            NotFoundError: there is no such commit.
            NotIndexedError: paths were given, and there is no index yet.
            RefusedError: a path lies outside the project.
            StoreError: the store cannot be written.
        """
        with WriterLock.of(self.db).index_run():
            run = Run(
                self.db, self.root, self.config, self.sources, self._open_vectors, cancel or Cancel(), with_prose=with_prose
            )  # fmt: skip
            return (yield from run.steps(full=full, since=since, paths=paths))

    def _open_vectors(self) -> ProjectVectors:
        if self.vectors is None:
            from cm_tui.engine.embed.choice import provider_for
            from cm_tui.engine.vectors.by_source import ProjectVectors

            embedding = self.config.embedding
            self.vectors = ProjectVectors(self.db, self.db.folder, provider_for(embedding), embedding)
        return self.vectors
