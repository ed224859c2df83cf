"""The past of one store, as the engine shows it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TypeVar

from cm_tui.config import Config
from cm_tui.engine.git.repository import Repository
from cm_tui.engine.graph import Graph
from cm_tui.engine.history import missing_blobs
from cm_tui.engine.history.commits import MainlineCommits, alive_at, day_of
from cm_tui.engine.index import files
from cm_tui.engine.mainline import coverage
from cm_tui.engine.scan.content_reader import ChangedError, ContentReader
from cm_tui.engine.store.database import Database
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import (
    Cancel,
    Drift,
    FileEntry,
    HistoryStatus,
    IndexPlan,
    Page,
    Progress,
    PruneReport,
    ResolvedRevision,
    Source,
    SymbolChange,
    SymbolHistory,
    SymbolKey,
)

T = TypeVar("T")

BEFORE_ALL = "#0"
"""Stands, as what others are compared with, for the time before the first commit."""
_SCHEMAS = ("past_a", "past_b")
"""Moments whose graphs are kept: two can be compared side by side."""
_FILES = """
SELECT f.path, b.language, b.lines, b.bytes, (SELECT count(*) FROM symbol s WHERE s.blob = b.id), b.generated, b.error, 'past'
FROM {alive} f JOIN blob b ON b.id = f.blob WHERE starts_with(f.path, ?) ORDER BY f.path
"""


class HistoricalView:
    """Answers about moments of the line.

    Args:
        db: the store.
        repository: the checkout.
        config: what is indexed, and how far back.
    """

    def __init__(self, db: Database, repository: Repository, config: Config) -> None:
        self._db = db
        self._repository = repository
        self._config = config
        self.moments = MainlineCommits(db, repository)
        self._schemas: OrderedDict[str, str] = OrderedDict()
        self._graphs: dict[str, Graph] = {}

    # --- one moment ---

    def place(self, ref: str) -> ResolvedRevision:
        """The moment that a name means, when it can be answered.

        Raises:
            NotFoundError: there is no such moment, or it is not known.
        """
        place = self.moments.resolve(ref)
        if not place.sha:
            raise NotFoundError(
                f"Nothing was there yet: {place.note}.", hint="`cm at '#1'` shows what the first commit brought."
            )
        if not place.known:
            raise NotFoundError(
                f"{ref} cannot be answered: {place.note}.",
                hint="`cm history backfill` reads the line as far back as git has it.",
            )
        return place

    def alive(self, ordinal: int) -> str:
        """The relation of (path, blob) at an ordinal that is known, as it may stand after FROM."""
        if coverage.load(self._db).covers(ordinal):
            return alive_at(ordinal)
        return "head_file"

    def graph_at(self, ordinal: int) -> Graph:
        """Symbols and the ways between them at an ordinal that is known."""
        alive = self.alive(ordinal)
        graph = self._graphs.get(alive)
        if graph is None:
            schema = _SCHEMAS[len(self._schemas)] if len(self._schemas) < len(_SCHEMAS) else self._oldest()
            self._schemas[alive] = schema
            graph = Graph(self._db, ContentReader(self._repository).text, snapshot=alive, schema=schema)
            self._graphs[alive] = graph
        self._schemas.move_to_end(alive)
        return graph

    def _oldest(self) -> str:
        alive, schema = self._schemas.popitem(last=False)
        del self._graphs[alive]
        return schema

    def files(self, ref: str, folder: str) -> Page[FileEntry]:
        """Files below a folder at a moment."""
        place = self.place(ref)
        alive = self.alive(place.moment.ordinal)
        prefix = f"{folder.rstrip('/')}/" if folder.strip("/") else ""
        rows = tuple(FileEntry(*row) for row in self._db.rows(_FILES.format(alive=alive), [prefix]))
        return _noted(Page(rows, len(rows)), place)

    def source(self, ref: str, path: str, start_line: int, end_line: int | None) -> Source:
        """Lines of a file as it was at a moment.

        Raises:
            NotFoundError: it was not there then, or its content is not in this clone.
        """
        place = self.place(ref)
        alive = self.alive(place.moment.ordinal)
        sql = f"SELECT b.oid, b.language FROM {alive} f JOIN blob b ON b.id = f.blob WHERE f.path = ?"  # noqa: S608 - our own relation
        rows = self._db.rows(sql, [path])
        if not rows:
            raise NotFoundError(
                f"{path} was not there at #{place.moment.ordinal} {place.moment.sha[:10]}.",
                hint="`cm at REF files` lists what was.",
            )
        try:
            text = ContentReader(self._repository).text(path, rows[0][0])
        except ChangedError as error:
            raise NotFoundError(f"The content of {path} at that moment is not in this clone.") from error
        return files.slice_lines(path, text, rows[0][1], start_line, end_line)

    def ask(self, ref: str, question: Callable[[Graph], Page[T]]) -> Page[T]:
        """What the graph of a moment answers, with what has to be said about the moment.

        Raises:
            NotFoundError: there is no such moment, or it is not known.
        """
        place = self.place(ref)
        try:
            return _noted(question(self.graph_at(place.moment.ordinal)), place)
        except NotFoundError as error:
            raise _then(error, place) from error

    # --- reading the line ---

    def backfill(self, *, depth: int | None, since: str | None, cancel: Cancel) -> Generator[Progress, None, None]:
        """Read the line back to a depth or a moment, or as far as it goes.

        Raises:
            UsageError: the depth is not a number of commits, or both are given.
        """
        if depth is not None and (depth < 1 or since is not None):
            raise UsageError("Give a depth of 1 or more, or a moment to go back to, not both.")
        self.moments.ensure()
        head = self.moments.head()
        # A day before the first commit means all of it.
        goal = self.moments.resolve(since).moment.ordinal if since is not None else 1
        if depth is not None and head is not None:
            goal = head.ordinal - depth + 1
        yield from self._read(goal, cancel)

    def goal(self) -> int | None:
        """How far back the configuration wants the line to be read, and never below what was vacuumed; None: it is."""
        settings = self._config.history
        if not self.moments.is_indexed:
            return None
        self.moments.ensure()
        head = self.moments.head()
        if not settings.enabled or head is None or not self._repository.git:
            return None
        known = coverage.load(self._db)
        goal = max(1, head.ordinal - settings.depth + 1 if settings.depth else 1, known.floor)
        if known.broken and not self._repository.is_readable(known.lost):
            return None
        if known.to_ord == head.ordinal and known.from_ord <= goal:
            return goal if missing_blobs.has_returned(self._db, self._repository) else None
        return goal

    def catch_up(self, cancel: Cancel) -> Generator[Progress, None, None]:
        """Read as far back as the configuration wants."""
        goal = self.goal()
        if goal is not None:
            yield from self._read(goal, cancel)

    def _read(self, goal: int, cancel: Cancel) -> Generator[Progress, None, None]:
        from cm_tui.engine.history.backfill import Backfill

        status = self.moments.status()
        yield self._progress(status, goal)
        if status.head is None:
            return
        with closing(Backfill(self._db, self._repository, self._config, goal).steps(cancel)) as steps:
            for _ in steps:
                yield self._progress(self.moments.status(), goal)

    @staticmethod
    def _progress(status: HistoryStatus, goal: int) -> Progress:
        wanted = max(status.known, status.length - max(1, goal) + 1) if status.length else 0
        return Progress("history", status.known, wanted, status.text, searchable=True)

    # --- several moments ---

    def changes(self, before: str, after: str, limit: int) -> Page[SymbolChange]:
        """What became of symbols between two moments."""
        from cm_tui.engine.history.symbol_diff import changes

        older, note = self._before(before)
        place = self.place(after)
        page = changes(self._db, older, self.alive(place.moment.ordinal), limit)
        return replace(page, note="; ".join(filter(None, (page.note, note, place.note))))

    def _before(self, ref: str) -> tuple[str, str]:
        """What was alive at a moment, and what has to be said about that; before the first commit nothing was."""
        if ref.strip() != BEFORE_ALL and self.moments.resolve(ref).sha:
            place = self.place(ref)
            return self.alive(place.moment.ordinal), place.note
        self.moments.ensure()
        first = self.moments.at(1)
        hidden = first is not None and self._repository.missing_parent(first.sha) is not None
        note = "#1 has parents that are not in this clone: what they had counts as added" if hidden else ""
        return "(SELECT path, blob FROM file_span WHERE false)", note

    def lives(self, name: str | SymbolKey, limit: int, *, callers: bool) -> Page[SymbolHistory]:
        """The lives of the symbols that bear a name."""
        from cm_tui.engine.history.symbol_history import SymbolHistories

        self.moments.ensure()
        page = SymbolHistories(self._db, self.moments).find(name, limit)
        return replace(page, rows=tuple(map(self._with_callers, page.rows))) if callers else page

    def _with_callers(self, life: SymbolHistory) -> SymbolHistory:
        if life.last_seen is None or life.alive:
            return life
        return replace(life, callers_before=self.graph_at(life.last_seen.ordinal).callers(life.key))

    def drift(self, plan: IndexPlan, since: str | None, limit: int, *, looked: bool) -> Drift:
        """Where the index and the checkout differ, and what changed since a moment."""
        from cm_tui.engine.history.drift import DriftDetector

        return DriftDetector(self._db, self._repository, self._config, self).find(plan, since, limit, looked=looked)

    def prune(self, *, before: str | None, older_than: str | None, everything: bool, dry_run: bool) -> PruneReport:
        """Drop the past before a moment, older than an age, or all of it."""
        from cm_tui.engine.history.prune import Vacuum

        return Vacuum(self._db, self.moments).run(before, older_than, everything=everything, dry_run=dry_run)


def _then(error: NotFoundError, place: ResolvedRevision) -> NotFoundError:
    """What was not found, and when it was not there."""
    moment = place.moment
    message = f"At #{moment.ordinal} {moment.sha[:10]} ({day_of(moment.time)}): {error.message}"
    hint = error.hint.replace("`cm symbols --match`", f"`cm at '#{moment.ordinal}' --match`")
    return NotFoundError(message, hint=" ".join(filter(None, (place.note and f"{place.note}.", hint))))


def _noted(page: Page[T], place: ResolvedRevision) -> Page[T]:
    """A page with what has to be said about the moment that it is of."""
    return replace(page, note="; ".join(filter(None, (page.note, place.note)))) if place.note else page
