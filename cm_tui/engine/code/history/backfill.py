"""Importing the mainline: first new commits, then further and further back, in committed batches."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Literal

from cm_tui.config import Config
from cm_tui.engine.code.history import tree_reader
from cm_tui.engine.code.history.tree_reader import TreeReader
from cm_tui.engine.code.index.stored_state import digest_of_rules
from cm_tui.engine.code.index.target_state import drop_unused
from cm_tui.engine.code.mainline import coverage, former_commits, user_marks
from cm_tui.engine.code.mainline.coverage import Coverage
from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION
from cm_tui.engine.platform.git.commits import MissingError
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.model import Cancel

_BATCH_SECONDS = 1.0
"""How long an index run may have to wait for a batch to end."""
_BATCH_COMMITS = 2_000
_BLOCK = 4_096

Span = tuple[str, int, int, int | None]
"""Path, blob, from_ord, to_ord."""


class Backfill:
    """One import of the mainline; each `step` is a batch, and the store is consistent after each.

    `config`: what is indexed; `goal`: ordinal to go back to.
    """

    def __init__(self, db: Database, repository: Repository, config: Config, goal: int) -> None:
        self._db = db
        self._repository = repository
        self._goal = max(1, goal)
        self._reader = TreeReader(db, repository, config)
        self._rules = digest_of_rules(config.index, EXTRACTOR_VERSION)
        self._files: dict[str, int] = {}
        """Blob by path at the end that is being read on: the oldest or the newest that is known."""
        self._files_of: tuple[int, str] | None = None
        self._shas: dict[int, str] = {}
        self._former: dict[int, former_commits.Changes] = {}
        """What commits changed that were on the mainline before, by ordinal."""
        self.compared = 0
        """Commits whose trees were compared with their parents', as nothing was known of them."""
        self._newest: tuple[int, str] = (0, "")

    def steps(self, cancel: Cancel) -> Generator[Coverage, None, None]:
        """Read on, a batch at a time, until the goal is reached or git has no more.

        Raises CancelledError if it was cancelled; finished batches are kept.
        """
        turn = WriterLock.of(self._db)
        turn.readers += 1
        try:
            yield from self._read_missing(cancel, turn)
            more = True
            while more:
                cancel.check()
                with turn.batch(cancel), turn.letting_in():
                    known, more = self._batch(cancel, turn)
                yield known
        finally:
            turn.readers -= 1
            self._reader.close()

    def _read_missing(self, cancel: Cancel, turn: WriterLock) -> Iterator[Coverage]:
        """Read content that was missing in this clone and now exists, a batch at a time."""
        waiting = tree_reader.now_available(self._db, self._repository)
        while waiting:
            cancel.check()
            with turn.batch(cancel):
                self._reader.begin()
                work = _Work(time.monotonic() + _BATCH_SECONDS, cancel, turn)
                found: list[tuple[str, int, int | None]] = []
                while waiting and not work.is_enough(len(found)):
                    path, blob, oid = waiting.pop()
                    found.append((path, blob, self._reader.reread(path, oid)))
                self._reader.flush()
                known = replace(coverage.load(self._db), broken="", lost="")
                known = replace(known, version=known.version + 1)
                with self._db.transaction():
                    self._replace_blobs(found)
                    coverage.save(self._db, known)
            yield known

    def _replace_blobs(self, found: list[tuple[str, int, int | None]]) -> None:
        """Replace blobs in spans: path, the placeholder, and the new blob, or None to exclude it."""
        now = [(path, old, new) for path, old, new in found if new is not None]
        if now:
            self._db.execute(
                "UPDATE file_span SET blob = v.new FROM (SELECT unnest(?::VARCHAR[]) AS path, unnest(?::INTEGER[]) AS old, "
                "unnest(?::INTEGER[]) AS new) v WHERE v.path = file_span.path AND v.old = file_span.blob",
                [list(column) for column in zip(*now, strict=True)],
            )
        out = [(path, old) for path, old, new in found if new is None]
        if out:
            self._db.execute(
                "DELETE FROM file_span USING (SELECT unnest(?::VARCHAR[]) AS path, unnest(?::INTEGER[]) AS old) v "
                "WHERE v.path = file_span.path AND v.old = file_span.blob",
                [list(column) for column in zip(*out, strict=True)],
            )
        drop_unused(self._db)

    def _batch(self, cancel: Cancel, turn: WriterLock) -> tuple[Coverage, bool]:
        newest = self._db.rows("SELECT ord, sha FROM line_commit WHERE ord = (SELECT max(ord) FROM line_commit)")
        if not newest:
            return coverage.load(self._db), False
        self._reader.begin()
        if not coverage.is_current(self._db, self._rules):
            with self._db.transaction():
                coverage.clear(self._db)
                coverage.drop_retained(self._db)
        known = coverage.load(self._db)
        if newest[0] != self._newest:
            self._newest = newest[0]
            self._shas, self._former = {}, {}
        work = _Work(time.monotonic() + _BATCH_SECONDS, cancel, turn)
        head = self._newest[0]
        try:
            if not known.to_ord:
                return self._begin(known, head), True
            if known.to_ord < head:
                return self._forward(known, head, work), True
            if known.from_ord > self._goal:
                return self._backward(known, work), True
            return self._finish(known), False
        except MissingError as error:
            return self._stop_at(known, error), False

    def _begin(self, known: Coverage, head: int) -> Coverage:
        """HEAD's tree, as the first that is known."""
        found: list[Span] = [(path, blob, 0, None) for path, _, blob in self._changes(0, head) if blob is not None]
        return self._store(replace(known, from_ord=head, to_ord=head, rules=self._rules), found, {}, {})

    def _forward(self, known: Coverage, head: int, work: _Work) -> Coverage:
        """Replay new commits."""
        self._load(known, "newest", "to_ord IS NULL")
        at, found, closed = self._read_on(known.to_ord, head, 1, work)
        return self._store(replace(known, to_ord=at), found, {}, closed)

    def _backward(self, known: Coverage, work: _Work) -> Coverage:
        """Read further back."""
        self._load(known, "oldest", "from_ord = 0")
        at, found, came = self._read_on(known.from_ord, self._goal, -1, work)
        spans: list[Span] = [(path, blob, far or 0, near) for path, blob, near, far in found]
        return self._store(replace(known, from_ord=at), spans, came, {})

    def _read_on(
        self, start: int, goal: int, step: Literal[1, -1], work: _Work
    ) -> tuple[int, list[Span], dict[str, int]]:
        """Read commit after commit, forward or back, until there is enough of them.

        Returns how far it came, the spans that begin beyond the start, each with its end that was met first before the
        other, and where those end that reach the start, by path.
        """
        ended: dict[str, int] = {}
        opened: dict[str, tuple[int, int]] = {}
        found: list[Span] = []

        at = start
        try:
            while at != goal and not work.is_enough(abs(at - start)):
                newer = max(at, at + step)
                for path, old, new in list(self._changes(newer - 1, newer)):
                    there = new if step > 0 else old
                    if self._files.get(path) == there:
                        continue
                    if path in opened:
                        found.append((path, *opened.pop(path), newer))
                    elif path in self._files:
                        ended[path] = newer
                    self._files.pop(path, None)
                    if there is not None:
                        self._files[path] = there
                        opened[path] = (there, newer)
                at += step
        except MissingError:
            if at == start:
                raise
            # Keep what was read; the next batch meets the error first, and reports it.
        found += [(path, blob, near, None) for path, (blob, near) in opened.items()]
        return at, found, ended

    def _finish(self, known: Coverage) -> Coverage:
        """Close spans at the project's first commit."""
        if known.from_ord > 1 or known.rooted or self._repository.missing_parent(self._sha(1)) is not None:
            return known
        known = replace(known, rooted=True)
        with self._db.transaction():
            self._db.execute("UPDATE file_span SET from_ord = 1 WHERE from_ord = 0")
            coverage.save(self._db, known)
        return known

    def _stop_at(self, known: Coverage, error: MissingError) -> Coverage:
        self._files_of = None
        end = f"#{known.from_ord}" if known.to_ord == self._newest[0] else f"#{known.to_ord}"
        known = replace(
            known,
            broken=f"History cannot be read beyond {end}: object {error.oid} is not in this clone.",
            lost=error.oid,
        )
        with self._db.transaction():
            coverage.save(self._db, known)
        return known

    def _changes(self, older: int, newer: int) -> Iterator[tuple[str, int | None, int | None]]:
        """Yield the differences between two commits of the mainline; 0 is the empty tree."""
        sha = self._sha(newer)
        if older and newer in self._former:
            yield from self._former[newer]
            return
        self.compared += 1
        before = self._repository.tree_of(self._sha(older)) if older else None
        yield from self._reader.changes(before, self._repository.tree_of(sha))

    def _sha(self, ordinal: int) -> str:
        """Return a commit of the mainline, read with its neighbours: a long mainline is not read as a whole for a few."""
        if ordinal not in self._shas:
            block = ordinal // _BLOCK * _BLOCK
            sql = "SELECT ord, sha FROM line_commit WHERE ord BETWEEN ? AND ?"
            self._shas |= self._db.rows(sql, [block, block + _BLOCK - 1])
            self._former |= former_commits.changes(self._db, block, block + _BLOCK - 1, self._rules)
        return self._shas[ordinal]

    def _load(self, known: Coverage, end: str, where: str) -> None:
        """Files at the end that is read on, unless they are at hand."""
        if self._files_of != (known.version, end):
            self._files = dict(self._db.rows(f"SELECT path, blob FROM file_span WHERE {where}"))  # noqa: S608 - our own words
            self._files_of = (known.version, end)

    def _store(self, known: Coverage, found: list[Span], came: dict[str, int], closed: dict[str, int]) -> Coverage:
        self._reader.flush()
        known = replace(known, broken="", lost="")
        if known.from_ord < known.floor:
            # It was requested again, as far back as this.
            floor = self._goal if self._goal > 1 else 0
            known = replace(known, floor=floor)
            user_marks.set_mark(self._db.folder, "vacuumed_to", self._sha(floor) if floor else None)
        with self._db.transaction():
            for column, values, where in (("from_ord", came, "= 0"), ("to_ord", closed, "IS NULL")):
                if values:
                    self._db.execute(
                        f"UPDATE file_span SET {column} = v.ord FROM "  # noqa: S608 - our own words
                        "(SELECT unnest(?::VARCHAR[]) AS path, unnest(?::INTEGER[]) AS ord) v "
                        f"WHERE v.path = file_span.path AND file_span.{column} {where}",
                        [list(values), list(values.values())],
                    )
            bulk.insert(self._db, "file_span", bulk.transpose(("path", "blob", "from_ord", "to_ord"), found))
            coverage.save(self._db, known)
        return known


class _Work:
    """The progress of a batch."""

    def __init__(self, until: float, cancel: Cancel, turn: WriterLock) -> None:
        self._until = until
        self._cancel = cancel
        self._turn = turn

    def is_enough(self, commits: int) -> bool:
        """True when it is time to store a batch; at least one commit is always read."""
        late = time.monotonic() > self._until or self._cancel.is_set or self._turn.is_wanted
        return commits >= _BATCH_COMMITS or (late and commits > 0)
