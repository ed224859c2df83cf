"""Report on the known part of the mainline, and how to extend it."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.counts import count, noun
from cm_tui.engine.code.history import tree_reader
from cm_tui.engine.code.history.commits import MainlineCommits
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.code.mainline.coverage import Coverage
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.model import CommitPoint, HistoryStatus
from cm_tui.model.dates import day
from cm_tui.model.history import SHORT_SHA


class CoverageReport:
    """Reports on one store's coverage of the mainline."""

    def __init__(self, db: Database, repository: Repository, commits: MainlineCommits) -> None:
        self._db = db
        self._repository = repository
        self._commits = commits
        self.goal: int | None = None
        """The ordinal that a running import goes back to; None: no import is running."""
        self._counted: tuple[tuple[Coverage, str | None] | None, tuple[int, int]] = (None, (0, 0))

    def status(self) -> HistoryStatus:
        """Return how much of the mainline is known."""
        if self._commits.is_indexed:
            self._commits.ensure()
        head, known = self._commits.head(), coverage.load(self._db)
        ends = self._commits.many([known.from_ord, known.to_ord])
        length = head.ordinal if head else 0
        first = ends.get(known.from_ord)
        blobs, missing = self._counts(known)
        count = known.to_ord - known.from_ord + 1 if first else 0
        return HistoryStatus(
            head=head,
            length=length,
            known=count,
            known_from=first,
            known_to=ends.get(known.to_ord),
            complete=known.rooted and known.to_ord == length and not missing,
            running=WriterLock.of(self._db).readers > 0,
            blobs=blobs - missing,
            missing=missing,
            vacuumed=self.pruned(known),
            wanted=max(count, length - max(1, self.goal) + 1) if self.goal is not None and length else 0,
            text=self._sentence(head, first, count, missing),
            notes=tuple(self._notes(known, length, missing)),
        )

    def hint(self) -> str:
        """Return how much is known, and how to extend it: the hint where nothing was found."""
        status, removed = self.status(), self.pruned(coverage.load(self._db))
        if removed:
            return f"{removed}; `cm history backfill` reads it again."
        if status.complete or status.head is None:
            return f"{status.text}."
        if status.missing:
            return f"{status.text}; once git has them, `cm history backfill` reads them."
        if status.known == status.length:
            return f"{status.text}; earlier commits are missing from this clone or damaged."
        return f"{status.text}; `cm history backfill` reads further back."

    def pruned(self, known: Coverage) -> str:
        """Return a note on removed history; empty: none."""
        if not known.floor or (known.to_ord and known.from_ord < known.floor):
            return ""
        kept = self._commits.at(known.floor)
        return f"history before {kept.sha[:SHORT_SHA]} ({day(kept.time)}) was removed" if kept else ""

    def why_unknown(self, ordinal: int, known: Coverage) -> str:
        """Return why a commit of the mainline is unavailable."""
        removed = self.pruned(known)
        if removed and ordinal < known.floor:
            return removed
        if ordinal > known.to_ord > 0:
            return f"history has not been read beyond #{known.to_ord} yet"
        first = self._commits.at(known.from_ord) if known.to_ord else None
        if first is None:
            return "history has not been read yet"
        return f"history is known back to {day(first.time)} (#{first.ordinal}) so far"

    def _counts(self, known: Coverage) -> tuple[int, int]:
        """Return the blobs that only history has, and the missing ones; counted again after changes."""
        state = (known, self._db.get_meta("generation"))
        if self._counted[0] != state:
            sql = "SELECT count(DISTINCT blob) FROM file_span WHERE blob NOT IN (SELECT blob FROM head_file)"
            self._counted = (state, (int(self._db.value(sql)), tree_reader.count(self._db)))
        return self._counted[1]

    def _notes(self, known: Coverage, length: int, missing: int) -> Sequence[str]:
        notes = []
        if self._repository.git_problem:
            notes.append(self._repository.git_problem)
        elif not self._repository.git:
            notes.append("No history: this project has no git repository.")
        if self._repository.is_shallow:
            notes.append("This clone is shallow: commits before its first one are missing.")
        elif (lost := self._missing_parent()) is not None:
            notes.append(
                f"The mainline ends at #1: the commit before it, {lost[:SHORT_SHA]}, is missing or cannot be read."
            )
        if known.broken:
            notes.append(known.broken)
        if missing:
            notes.append(
                f"{count(missing, 'file version')} {noun(missing, 'is', 'are')} not in this clone. "
                "`git fetch --refetch --no-filter` completes a partial clone; then `cm history backfill` reads the rest."
            )
        if 0 < known.to_ord < length:
            notes.append(
                f"The newest {count(length - known.to_ord, 'commit')} {noun(length - known.to_ord, 'has', 'have')} not been read yet."
            )
        return notes

    def _sentence(self, head: CommitPoint | None, first: CommitPoint | None, known: int, missing: int) -> str:
        if head is None:
            return "no history: no commits yet" if self._repository.git else "no history: this project has no git"
        if first is None:
            return f"history not read yet, {count(head.ordinal, 'commit')} on the mainline"
        lacking = f", without {count(missing, 'file version')} not in this clone" if missing else ""
        if known == head.ordinal and coverage.load(self._db).rooted:
            whole = "the whole mainline is read" if missing else "the whole history has been read"
            return f"{whole}, {count(known, 'commit')} since {day(first.time)}{lacking}"
        ends = ", where this clone ends" if known == head.ordinal and self._missing_parent() is not None else ""
        return f"history known back to {day(first.time)}{ends}, {known:,} of {count(head.ordinal, 'commit')}{lacking}"

    def _missing_parent(self) -> str | None:
        """Return the missing parent of the mainline's first commit; None: it has none."""
        first = self._commits.at(1)
        return self._repository.missing_parent(first.sha) if first is not None and self._repository.git else None
