"""Commits off the mainline with stored files: as differences from a commit of the mainline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database

_MOST_COMMITS = 100
_MOST_FILES = 500_000
"""Most commits and paths to keep; the longest unused are dropped first."""

SideFile = tuple[str, int | None]
"""Path and blob; None: not there."""


class Side(NamedTuple):
    """A commit off the mainline as it is stored."""

    number: int
    base: int
    """Ordinal of the commit that its files differ from; 0: none, all of them are listed."""


def find(db: Database, sha: str, rules: str) -> Side | None:
    """Return a commit that was read completely by these rules, and whose base is still covered."""
    rows = db.rows(
        "SELECT s.id, s.base, l.ord FROM side_commit s LEFT JOIN line_commit l ON l.sha = s.base "
        "WHERE s.sha = ? AND s.whole AND s.rules = ? ORDER BY s.id DESC",
        [sha, rules],
    )
    known = coverage.load(db) if rows else None
    for number, base, ordinal in rows:
        if not base:
            return Side(number, 0)
        if ordinal is not None and known is not None and known.rules == rules and known.covers(ordinal):
            return Side(number, ordinal)
    return None


def snapshot(side: Side) -> str:
    """Return a commit's files as a relation of (path, blob), for a FROM clause."""
    own = f"SELECT path, blob FROM side_file WHERE side = {side.number:d}"  # noqa: S608 - a number
    if not side.base:
        return f"({own} AND blob IS NOT NULL)"
    return (
        f"(SELECT path, blob FROM file_span WHERE from_ord <= {side.base:d} AND (to_ord IS NULL OR to_ord > {side.base:d}) "  # noqa: S608 - numbers
        f"AND path NOT IN (SELECT path FROM side_file WHERE side = {side.number:d}) "
        f"UNION ALL {own} AND blob IS NOT NULL)"
    )


def begin(db: Database, sha: str, base: str, rules: str) -> int:
    """Begin to store a commit, and return its number; the caller holds the transaction.

    Incomplete ones are dropped once this one is complete, so that their blobs are not parsed again.
    """
    number = int(db.value("SELECT coalesce(max(id), 0) + 1 FROM side_commit"))
    used = int(db.value("SELECT coalesce(max(used), 0) + 1 FROM side_commit"))
    db.execute("INSERT INTO side_commit VALUES (?, ?, ?, ?, false, ?)", [number, sha, base, rules, used])
    return number


def add(db: Database, number: int, files: Sequence[SideFile]) -> None:
    """Store some of a commit's files; the caller holds the transaction."""
    rows = ((number, path, blob) for path, blob in files)
    bulk.insert(db, "side_file", bulk.transpose(("side", "path", "blob"), rows))


def complete(db: Database, number: int, used: Sequence[int]) -> bool:
    """Mark a commit as complete; return whether others were dropped. The caller holds the transaction.

    `used`: others that were used meanwhile, the latest last.
    """
    db.execute("UPDATE side_commit SET whole = true WHERE id = ?", [number])
    newest = int(db.value("SELECT max(used) FROM side_commit"))
    for later, one in enumerate([*used, number], 1):
        db.execute("UPDATE side_commit SET used = ? WHERE id = ?", [newest + later, one])
    # Other readers are blocked: an incomplete one was left by a stopped process.
    gone = db.rows(
        """
        SELECT s.id FROM (
            SELECT s.id, s.sha, s.whole, row_number() OVER (ORDER BY s.used DESC) AS place,
                   row_number() OVER (PARTITION BY s.sha ORDER BY s.id DESC) AS version,
                   sum(coalesce(f.files, 0)) OVER (ORDER BY s.used DESC ROWS UNBOUNDED PRECEDING) AS files
            FROM side_commit s LEFT JOIN (SELECT side, count(*) AS files FROM side_file GROUP BY side) f ON f.side = s.id
        ) s WHERE s.id <> ? AND (NOT s.whole OR s.version > 1 OR s.place > ? OR s.files > ?)
        """,
        [number, _MOST_COMMITS, _MOST_FILES],
    )
    _drop(db, [row[0] for row in gone])
    return bool(gone)


def are_by(db: Database, rules: str) -> bool:
    """Whether all of them were read by these rules."""
    return not db.value("SELECT count(*) FROM side_commit WHERE rules <> ?", [rules])


def drop_others(db: Database, rules: str) -> None:
    """Drop commits read by other rules; the caller holds the transaction."""
    _drop(db, [row[0] for row in db.rows("SELECT id FROM side_commit WHERE rules <> ?", [rules])])


def clear(db: Database) -> None:
    """Drop all of them; the caller holds the transaction."""
    db.execute("DELETE FROM side_file")
    db.execute("DELETE FROM side_commit")


def _drop(db: Database, numbers: Sequence[int]) -> None:
    if numbers:
        db.execute("DELETE FROM side_file WHERE side IN (SELECT unnest(?::INTEGER[]))", [list(numbers)])
        db.execute("DELETE FROM side_commit WHERE id IN (SELECT unnest(?::INTEGER[]))", [list(numbers)])
