"""Commits that left the mainline, as with a switch of branches: their changes are kept for their return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cm_tui.engine.platform.git.commits import CommitInfo
from cm_tui.engine.platform.store.database import Database

_MOST = 300_000
"""Most commits and changes of paths to keep; those that left first are dropped first."""
_RULES = "former_rules"
"""Key in `meta`: digest of the rules by which the kept files were selected."""
_ABSENT = "absent"
"""Language of a blob with missing content: such a file is checked again."""

Known = Mapping[str, tuple[CommitInfo, str | None]]
"""Commits with their first parents, by sha."""
Changes = list[tuple[str, int | None, int | None]]
"""Path, and the blobs before and after."""

# Commits above the fork, with their first parents. Those whose spans begin and end within coverage are known, unless
# the content of a file was missing.
_LEAVING = """
CREATE OR REPLACE TEMP TABLE leaving AS
SELECT l.ord, l.sha, coalesce(p.sha, '') AS parent, l.time, l.author, l.subject,
       l.ord > greatest($keep, $first) AND l.ord <= $last AND l.ord NOT IN (
           SELECT s.from_ord FROM file_span s JOIN blob b ON b.id = s.blob WHERE b.language = $absent
           UNION SELECT s.to_ord FROM file_span s JOIN blob b ON b.id = s.blob
           WHERE b.language = $absent AND s.to_ord IS NOT NULL
       ) AS known
FROM line_commit l LEFT JOIN line_commit p ON p.ord = l.ord - 1
WHERE l.ord > $keep AND l.ord <= $keep + $most
"""
_CHANGES = """
INSERT INTO former_change
SELECT l.sha, coalesce(a.path, b.path), b.blob, a.blob
FROM (SELECT from_ord AS ord, path, blob FROM file_span) a
FULL JOIN (SELECT to_ord AS ord, path, blob FROM file_span WHERE to_ord IS NOT NULL) b
    ON b.ord = a.ord AND b.path = a.path
JOIN leaving l ON l.ord = coalesce(a.ord, b.ord)
WHERE l.known AND l.sha NOT IN (SELECT sha FROM former_commit WHERE known)
"""
_TOO_MANY = """
SELECT sha FROM (
    SELECT f.sha, sum(1 + coalesce(c.changes, 0))
                  OVER (ORDER BY f.turn DESC, f.time, f.sha ROWS UNBOUNDED PRECEDING) AS total
    FROM former_commit f LEFT JOIN (SELECT sha, count(*) AS changes FROM former_change GROUP BY sha) c ON c.sha = f.sha
) WHERE total > ?
"""


def keep_leaving(db: Database, *, keep: int, first: int, last: int, rules: str, returning: Sequence[str] = ()) -> None:
    """Keep the changes of commits that are about to leave the mainline.

    `db`: the store with its old mainline and spans; the caller holds the transaction. `keep`: the last ordinal that
    stays. `first`: the first ordinal with known changes; 0: no spans. `last`: the last one. `rules`: digest of the
    rules by which files were selected in them. `returning`: the new commits; what is known of them is needed first.
    """
    if not db.value("SELECT count(*) FROM line_commit WHERE ord > ?", [keep]):
        return
    if first and not is_by(db, rules):
        clear(db)
    if first:
        db.set_meta(_RULES, rules)
    values = {"keep": keep, "first": first, "last": last if first else 0, "absent": _ABSENT, "most": _MOST}
    cursor = db.cursor
    cursor.execute(_LEAVING, values)
    cursor.execute(_CHANGES)
    cursor.execute(
        "CREATE OR REPLACE TEMP TABLE told AS SELECT sha, known FROM former_commit WHERE sha IN (SELECT sha FROM leaving)"
    )
    turn = int(db.value("SELECT coalesce(max(turn), 0) + 1 FROM former_commit"))
    cursor.execute("DELETE FROM former_commit WHERE sha IN (SELECT sha FROM leaving)")
    cursor.execute(
        "INSERT INTO former_commit SELECT l.sha, l.parent, l.time, l.author, l.subject, "
        "l.known OR coalesce(t.known, false), ? FROM leaving l LEFT JOIN told t ON t.sha = l.sha",
        [turn],
    )
    cursor.execute(
        "UPDATE former_commit SET turn = ? WHERE sha IN (SELECT unnest(?::VARCHAR[]))", [turn + 1, list(returning)]
    )
    cursor.execute("DROP TABLE leaving")
    cursor.execute("DROP TABLE told")
    _drop_oldest(db)


def _drop_oldest(db: Database) -> None:
    gone = [row[0] for row in db.rows(_TOO_MANY, [_MOST])]
    if gone:
        for table in ("former_change", "former_commit"):
            db.execute(f"DELETE FROM {table} WHERE sha IN (SELECT unnest(?::VARCHAR[]))", [gone])  # noqa: S608 - our own names


def commits(db: Database) -> Known:
    """Return the kept commits with their first parents, by sha."""
    rows = db.rows("SELECT sha, time, author, subject, parent FROM former_commit")
    return {row[0]: (CommitInfo(*row[:4]), row[4] or None) for row in rows}


def changes(db: Database, first: int, last: int, rules: str) -> dict[int, Changes]:
    """Return the changes of commits that are on the mainline again, by ordinal; those with unknown changes are omitted.

    `last`: the last one; `rules`: digest of the rules by which files are selected.
    """
    found: dict[int, Changes] = {}
    if not is_by(db, rules):
        return found
    sql = (
        "SELECT l.ord, c.path, c.before, c.after FROM line_commit l JOIN former_commit f ON f.sha = l.sha AND f.known "
        "LEFT JOIN former_change c ON c.sha = l.sha WHERE l.ord BETWEEN ? AND ?"
    )
    for ordinal, path, before, after in db.rows(sql, [first, last]):
        of_commit = found.setdefault(ordinal, [])
        if path is not None:
            of_commit.append((path, before, after))
    return found


def is_by(db: Database, rules: str) -> bool:
    """Whether all kept data was selected by these rules."""
    return db.get_meta(_RULES) in (None, rules)


def clear(db: Database) -> None:
    """Drop all kept data; the caller holds the transaction."""
    db.execute("DELETE FROM meta WHERE key = ?", [_RULES])
    db.execute("DELETE FROM former_change")
    db.execute("DELETE FROM former_commit")
