"""The index of one project: plans and runs, one at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.config import Config
from cm_tui.engine.code.index.index_run import IndexOutcome, Run
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.engine.search.ranking.code_source import CodeSource
from cm_tui.engine.search.ranking.source import MakeSource
from cm_tui.model import Cancel, IndexPlan, Progress

if TYPE_CHECKING:
    from cm_tui.engine.search.vectors.by_source import ProjectVectors


class Indexer:
    """Index runs of one project.

    `config`: what is indexed, and with which model. `vectors`: the vector index in use; opened on demand by default.
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
        """Return the plan of a run; reads only files that differ from HEAD on disk.

        `full`: as for `run`; `since`: compare with this commit instead of with the index. Raises NotFoundError if there
        is no such commit.
        """
        from cm_tui.engine.code.index.plan import make_plan

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
        """Update the index from the working tree.

        Args:
            full: parse stored files again.
            since: a commit that must exist; the result does not depend on it, as content is compared.
            paths: only these files or folders with all below them, relative to the root or absolute.
            cancel: checked between steps; finished work is kept.
            with_prose: also embed what people and agents said; False: another process does.

        Raises:
            CancelledError: it was cancelled.
            CmError: this store is being indexed already, or git's data cannot be read.
            NotFoundError: there is no such commit.
            NotIndexedError: paths were given, and there is no index yet.
            RefusedError: a path is outside the project.
            StoreError: the store cannot be written.
        """
        with WriterLock.of(self.db).index_run():
            run = Run(
                self.db, self.root, self.config, self.sources, self._open_vectors, cancel or Cancel(), with_prose=with_prose
            )  # fmt: skip
            return (yield from run.steps(full=full, since=since, paths=paths))

    def _open_vectors(self) -> ProjectVectors:
        if self.vectors is None:
            from cm_tui.engine.search.embed.choice import provider_for
            from cm_tui.engine.search.vectors.by_source import ProjectVectors

            embedding = self.config.embedding
            self.vectors = ProjectVectors(self.db, self.db.folder, provider_for(embedding), embedding)
        return self.vectors
