"""Dropping unneeded history."""

from __future__ import annotations

import time
from dataclasses import replace

from cm_tui.engine.code.history.revisions import Revisions
from cm_tui.engine.code.index.target_state import drop_unused
from cm_tui.engine.code.mainline import coverage, side_commits, user_marks
from cm_tui.engine.code.mainline.coverage import Coverage
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.errors import UsageError
from cm_tui.model import Cancel, CommitPoint, PruneReport
from cm_tui.model.dates import day, length
from cm_tui.model.history import SHORT_SHA

_COUNTS = """
WITH dropped AS (
    SELECT DISTINCT blob FROM file_span WHERE {where}
    UNION SELECT blob FROM side_file WHERE blob IS NOT NULL
    UNION SELECT before FROM former_change WHERE before IS NOT NULL
    UNION SELECT after FROM former_change WHERE after IS NOT NULL
    EXCEPT SELECT blob FROM file_span WHERE NOT ({where})
    EXCEPT SELECT blob FROM head_file
    EXCEPT SELECT blob FROM worktree
)
SELECT (SELECT count(*) FROM file_span WHERE {where}),
       (SELECT count(*) FROM dropped),
       (SELECT count(*) FROM symbol WHERE blob IN (FROM dropped)),
       (SELECT count(*) FROM reference WHERE blob IN (FROM dropped)),
       (SELECT coalesce(sum(bytes), 0) FROM blob WHERE id IN (FROM dropped))
"""


class Pruner:
    """Drops spans, and the blobs that nothing else refers to. `revisions`: resolves names on its mainline."""

    def __init__(self, db: Database, revisions: Revisions) -> None:
        self._db = db
        self._revisions = revisions
        self._commits = revisions.commits

    def run(self, before: str | None, older_than: str | None, *, everything: bool, dry_run: bool) -> PruneReport:
        """Count what would be dropped, and drop it unless this is a dry run.

        Raises UsageError: not exactly one of the three is given, or the age is malformed.
        """
        if (before is not None) + (older_than is not None) + everything != 1:
            raise UsageError("Choose what to remove: before a revision, older than an age, or everything.")
        self._commits.ensure()
        with WriterLock.of(self._db).batch(Cancel()):
            keep, note = (0, "") if everything else self._oldest_kept(before, older_than)
            report = self._drop(keep, dry_run=dry_run)
            return replace(report, note="; ".join(filter(None, (note, report.note))))

    def _oldest_kept(self, before: str | None, older_than: str | None) -> tuple[int, str]:
        """Return the ordinal, and a note when it differs from the named revision."""
        if before is not None:
            return self._revisions.on_mainline(before)
        age = length(older_than or "", m="mo")
        if age is None:
            raise UsageError(f"Not an age: {older_than!r}.", hint="Examples: 30d, 12w, 6m, 2y.")
        since = int(time.time() - age)
        head = self._commits.head()
        # The first commit that is young enough: one with an absurd date after it takes nothing along.
        young = self._db.value("SELECT min(ord) FROM line_commit WHERE time >= ?", [since])
        return int(young or (head.ordinal if head else 1)), ""

    def _drop(self, keep: int, *, dry_run: bool) -> PruneReport:
        """Drop what lies before an ordinal; 0: all of it."""
        known = coverage.load(self._db)
        head = self._commits.head()
        beside = bool(
            self._db.value("SELECT (SELECT count(*) FROM side_commit) + (SELECT count(*) FROM former_commit)")
        )
        if head is None or not (known.to_ord or (beside and keep == 0)):
            return _nothing(dry_run, None, "no history is known")
        whole = keep == 0 or keep > known.to_ord
        if not whole and keep <= known.from_ord:
            return _nothing(dry_run, self._commits.at(known.from_ord), "no earlier history is known")
        where = "true" if whole else f"to_ord IS NOT NULL AND to_ord <= {keep:d}"
        counts = self._db.rows(_COUNTS.format(where=where))[0]
        last = min(known.to_ord, head.ordinal - 1) if whole else keep - 1
        first_known = known.from_ord or last + 1
        first = head if whole else self._commits.at(keep)
        if not dry_run:
            self._delete(where, known, keep=None if whole else keep, floor=head.ordinal)
            if first is not None:
                user_marks.set_mark(self._db.folder, "vacuumed_to", first.sha)
            self._db.shrink()
        said = "would be" if dry_run else "was"
        note = f"history before {first.sha[:SHORT_SHA]} ({day(first.time)}) {said} removed" if first else ""
        spans, blobs, symbols, references, size = map(int, counts)
        commits = max(0, last - first_known + 1)
        return PruneReport(dry_run, first, commits, spans, blobs, symbols, references, size, note)

    def _delete(self, where: str, known: Coverage, *, keep: int | None, floor: int) -> None:
        """Delete spans, and unreferenced data; without an ordinal to keep, no history is left."""
        with self._db.transaction():
            self._db.execute(f"DELETE FROM file_span WHERE {where}")  # noqa: S608 - a number
            if keep is None:
                coverage.save(self._db, Coverage(version=known.version + 1, floor=floor))
            else:
                self._db.execute("UPDATE file_span SET from_ord = 0 WHERE from_ord <= ?", [keep])
                kept = replace(known, from_ord=keep, floor=keep, rooted=False, version=known.version + 1)
                coverage.save(self._db, kept)
            # Commits off the mainline are read again on demand.
            coverage.drop_retained(self._db)
            side_commits.clear(self._db)
            drop_unused(self._db)


def _nothing(dry_run: bool, first: CommitPoint | None, note: str) -> PruneReport:
    return PruneReport(dry_run, first, 0, 0, 0, 0, 0, 0, note)
