"""The history of one store, as the engine shows it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import Any, TypeVar

from cm_tui import model
from cm_tui.config import Config
from cm_tui.engine.code.graph.graph import Graph
from cm_tui.engine.code.history import tree_reader
from cm_tui.engine.code.history.commits import MainlineCommits
from cm_tui.engine.code.history.coverage_report import CoverageReport
from cm_tui.engine.code.history.revisions import Revisions
from cm_tui.engine.code.history.side_reader import SideReader
from cm_tui.engine.code.history.snapshots import Snapshots
from cm_tui.engine.code.index import files
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.code.scan.content_reader import ChangedError, ContentReader
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model.dates import day
from cm_tui.model.history import SHORT_SHA, reading_text

T = TypeVar("T")

_FILES = """
SELECT f.path, b.language, b.lines, b.bytes, (SELECT count(*) FROM symbol s WHERE s.blob = b.id), b.generated, b.error, 'past'
FROM {snapshot} f JOIN blob b ON b.id = f.blob WHERE starts_with(f.path, ?) ORDER BY f.path
"""


class HistoricalView:
    """Queries on revisions: commits of the mainline, and others.

    `config`: what is indexed, and how far back.
    """

    def __init__(self, db: Database, repository: Repository, config: Config) -> None:
        self._db = db
        self._repository = repository
        self._config = config
        self.commits = MainlineCommits(db, repository)
        self.report = CoverageReport(db, repository, self.commits)
        self.side = SideReader(db, repository, config)
        self.revisions = Revisions(db, repository, self.commits, self.report, self.side)
        self.snapshots = Snapshots(db, repository, self.revisions, self.side)
        self.compared = 0
        """Commits whose trees were compared with their parents' by this process, as nothing was known of them."""

    # --- one revision ---

    def graph_at(self, ordinal: int) -> Graph:
        """Return the graph of symbols at an ordinal that is known."""
        return self._graph_of(self.snapshots.at(ordinal))

    def _graph_of(self, snapshot: str) -> Graph:
        return Graph(self._db, ContentReader(self._repository).text, snapshot=snapshot)

    def ask(self, revision: str, question: Callable[[Graph], model.Page[T]]) -> model.Page[T]:
        """Query the graph of a revision, and add the revision's note.

        Raises NotFoundError if there is no such revision, or its content is unknown.
        """

        def answer() -> model.Page[T]:
            resolved = self.snapshots.require(revision)
            try:
                return _with_note(question(self._graph_of(self.snapshots.of(resolved))), resolved)
            except NotFoundError as error:
                raise _not_found_at(error, resolved) from error

        return self.snapshots.steadily(answer)

    def files(self, revision: str, folder: str) -> model.Page[model.FileEntry]:
        """List the files below a folder at a revision."""
        prefix = f"{folder.rstrip('/')}/" if folder.strip("/") else ""

        def answer() -> model.Page[model.FileEntry]:
            resolved = self.snapshots.require(revision)
            sql = _FILES.format(snapshot=self.snapshots.of(resolved))
            rows = tuple(model.FileEntry(*row) for row in self._db.rows(sql, [prefix]))
            return _with_note(model.Page(rows, len(rows)), resolved)

        return self.snapshots.steadily(answer)

    def source(self, revision: str, path: str, start_line: int, end_line: int | None) -> model.Source:
        """Return lines of a file as it was at a revision.

        Raises NotFoundError if it was not there then, or its content is not in this clone.
        """

        def answer() -> tuple[model.CommitPoint, list[tuple[Any, ...]]]:
            resolved = self.snapshots.require(revision)
            snapshot = self.snapshots.of(resolved)
            sql = f"SELECT b.oid, b.language FROM {snapshot} f JOIN blob b ON b.id = f.blob WHERE f.path = ?"  # noqa: S608 - our own relation
            return resolved.moment, self._db.rows(sql, [path])

        commit, rows = self.snapshots.steadily(answer)
        if not rows:
            raise NotFoundError(
                f"{path} did not exist at {_named(commit)}.",
                hint="`cm at REF files` lists the files.",
            )
        try:
            text = ContentReader(self._repository).text(path, rows[0][0])
        except ChangedError as error:
            raise NotFoundError(f"The content of {path} at that revision is not in this clone.") from error
        return files.slice_lines(path, text, rows[0][1], start_line, end_line)

    # --- reading the mainline ---

    def backfill(
        self, *, depth: int | None, since: str | None, cancel: model.Cancel
    ) -> Generator[model.Progress, None, None]:
        """Import the mainline back to a depth or a revision, or as far as it goes.

        Raises UsageError if the depth is not a number of commits, or both are given.
        """
        if depth is not None and (depth < 1 or since is not None):
            raise UsageError("Give a depth of 1 or more, or a revision to go back to, not both.")
        self.commits.ensure()
        head = self.commits.head()
        # A day before the first commit means all of it.
        goal = self.revisions.on_mainline(since)[0] if since is not None else 1
        if depth is not None and head is not None:
            goal = head.ordinal - depth + 1
        yield from self._read(goal, cancel)

    def goal(self) -> int | None:
        """Return the configured depth of history, never below pruned history; None: it is reached."""
        settings = self._config.history
        if not self.commits.is_indexed:
            return None
        self.commits.ensure()
        head = self.commits.head()
        if not settings.enabled or head is None or not self._repository.git:
            return None
        known = coverage.load(self._db)
        goal = max(1, head.ordinal - settings.depth + 1 if settings.depth else 1, known.floor)
        if known.broken and not self._repository.is_readable(known.lost):
            return None
        if known.to_ord == head.ordinal and known.from_ord <= goal:
            return goal if tree_reader.any_now_available(self._db, self._repository) else None
        return goal

    def catch_up(self, cancel: model.Cancel) -> Generator[model.Progress, None, None]:
        """Import the configured depth."""
        goal = self.goal()
        if goal is not None:
            yield from self._read(goal, cancel)

    def _read(self, goal: int, cancel: model.Cancel) -> Generator[model.Progress, None, None]:
        from cm_tui.engine.code.history.backfill import Backfill

        self.report.goal = goal
        reading = Backfill(self._db, self._repository, self._config, goal)
        try:
            status = self.report.status()
            yield self._progress(status)
            if status.head is None:
                return
            with closing(reading.steps(cancel)) as steps:
                for _ in steps:
                    yield self._progress(self.report.status())
        finally:
            self.compared += reading.compared
            if self.report.goal == goal:
                # Another import may have begun meanwhile.
                self.report.goal = None

    @staticmethod
    def _progress(status: model.HistoryStatus) -> model.Progress:
        """Return the import's progress: in numbers of `HistoryStatus`, and in words."""
        message = status.text if status.known >= status.wanted else reading_text(status.known, status.wanted)
        return model.Progress("history", status.known, status.wanted, message, searchable=True)

    # --- several revisions ---

    def changes(self, before: str, after: str, limit: int) -> model.Page[model.SymbolChange]:
        """Compare the symbols of two revisions."""
        return self.snapshots.steadily(lambda: self.snapshots.changes(before, after, limit))

    def symbol_histories(
        self, name: str | model.SymbolKey, limit: int, *, callers: bool
    ) -> model.Page[model.SymbolHistory]:
        """Return the histories of the symbols that bear a name."""
        from cm_tui.engine.code.history.symbol_history import SymbolHistories

        self.commits.ensure()
        page = SymbolHistories(self._db, self.commits, self.report).find(name, limit)
        return replace(page, rows=tuple(map(self._with_callers, page.rows))) if callers else page

    def _with_callers(self, history: model.SymbolHistory) -> model.SymbolHistory:
        if history.last_seen is None or history.alive:
            return history
        return replace(history, callers_before=self.graph_at(history.last_seen.ordinal).callers(history.key))

    def drift(self, plan: model.IndexPlan, since: str | None, limit: int, *, looked: bool) -> model.Drift:
        """Find differences between index and checkout, and changes since a revision."""
        from cm_tui.engine.code.history.drift import DriftDetector

        detector = DriftDetector(self._db, self._repository, self._config, self.revisions, self.snapshots)
        return detector.find(plan, since, limit, looked=looked)

    def prune(
        self, *, before: str | None, older_than: str | None, everything: bool, dry_run: bool
    ) -> model.PruneReport:
        """Drop history before a revision, older than an age, or all of it."""
        from cm_tui.engine.code.history.prune import Pruner

        return Pruner(self._db, self.revisions).run(before, older_than, everything=everything, dry_run=dry_run)


def _not_found_at(error: NotFoundError, resolved: model.ResolvedRevision) -> NotFoundError:
    """Return an error with the name and the revision."""
    commit = resolved.moment
    message = f"At {_named(commit)} ({day(commit.time)}): {error.message}"
    ref = commit.sha[:SHORT_SHA] if commit.ahead else f"'#{commit.ordinal}'"
    hint = error.hint.replace("`cm symbols --match`", f"`cm at {ref} --match`")
    return NotFoundError(message, hint=" ".join(filter(None, (resolved.note and f"{resolved.note}.", hint))))


def _with_note(page: model.Page[T], resolved: model.ResolvedRevision) -> model.Page[T]:
    """Add the revision's note to a page."""
    return replace(page, note="; ".join(filter(None, (page.note, resolved.said)))) if resolved.said else page


def _named(commit: model.CommitPoint) -> str:
    return commit.sha[:SHORT_SHA] if commit.ahead else f"#{commit.ordinal} {commit.sha[:SHORT_SHA]}"
