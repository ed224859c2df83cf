"""Coverage: the stored part of the mainline, and its updates when the mainline changes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from cm_tui.engine.code.mainline import former_commits, user_marks
from cm_tui.engine.platform.store.database import Database

_KEY = "history"
RETAINED = "spare"
"""Key in `meta`: blobs of commits that have left the mainline, retained for when they come back, as branches do."""
_MAX_RETAINED = 10_000
_NAMING_BLOBS = (("file_span", "blob"), ("side_file", "blob"), ("former_change", "before"), ("former_change", "after"))
"""Tables of the past that name blobs, and the columns in which they do."""
IN_USE = " UNION ".join(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL" for table, column in _NAMING_BLOBS)  # noqa: S608 - our own names
"""Query for the blobs that the past needs."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Stretch of the mainline whose spans are stored; nothing when `to_ord` is 0."""

    from_ord: int = 0
    to_ord: int = 0
    rooted: bool = False
    """Whether it begins with the project's first commit."""
    rules: str = ""
    """Digest of the rules by which files were chosen."""
    floor: int = 0
    """Oldest ordinal that pruning kept; background reading stops there."""
    missing: int = 0
    """Left by an older version, which took file versions that are not in this clone for deleted."""
    broken: str = ""
    """Why reading could not go on."""
    lost: str = ""
    """Object that it lacked."""
    version: int = 0
    """Increased whenever spans change other than by reading on."""

    def covers(self, ordinal: int) -> bool:
        """Whether the spans cover an ordinal."""
        return 0 < self.from_ord <= ordinal <= self.to_ord


def load(db: Database) -> Coverage:
    """The covered part. Raises StoreDamagedError if the store's record of it cannot be read."""
    text = db.get_meta(_KEY)
    try:
        return Coverage(**json.loads(text)) if text else Coverage()
    except (ValueError, TypeError) as error:
        raise db.unreadable(_KEY, text) from error


def save(db: Database, covered: Coverage) -> None:
    """Store the coverage; the caller holds the transaction in which the spans change."""
    db.set_meta(_KEY, json.dumps(asdict(covered)))


def truncate_to(db: Database, *, keep: int, shift: int = 0) -> None:
    """Reset the spans to an ordinal, above which the mainline has changed.

    `db`: the store; the caller holds the transaction. `keep`: the last unchanged ordinal, after the shift. `shift`: how
    far ordinals move first.
    """
    covered = load(db)
    if covered.to_ord and shift:
        covered = _shift(db, covered, shift)
    if covered.floor > keep:
        # Data vacuumed from here on was of another mainline.
        covered = replace(covered, floor=keep + 1 if keep else 0)
    if covered.to_ord and (db.value("SELECT max(ord) FROM line_commit") or 0) + shift > keep:
        _retain(db, keep if keep >= covered.from_ord else -1)
    if covered.to_ord > keep:
        if keep < covered.from_ord:
            save(db, covered)
            clear(db)
            return
        db.execute("DELETE FROM file_span WHERE from_ord > ?", [keep])
        db.execute("UPDATE file_span SET to_ord = NULL WHERE to_ord > ?", [keep])
        covered = replace(covered, to_ord=keep)
    if covered != load(db):
        save(db, replace(covered, version=covered.version + 1, broken="", lost=""))


def _retain(db: Database, keep: int) -> None:
    """Retain the blobs above an ordinal, only the newest if there are many."""
    found = db.rows(
        "SELECT blob FROM file_span WHERE from_ord > ? UNION SELECT blob FROM head_file "
        "EXCEPT SELECT blob FROM file_span WHERE from_ord <= ? ORDER BY blob DESC",
        [keep, keep],
    )
    text = db.get_meta(RETAINED)
    try:
        kept = list(json.loads(text or "[]"))
    except (ValueError, TypeError) as error:
        raise db.unreadable(RETAINED, text) from error
    db.set_meta(RETAINED, json.dumps(list(dict.fromkeys([*(row[0] for row in found), *kept]))[:_MAX_RETAINED]))


def drop_retained(db: Database) -> None:
    """Retain nothing of commits that left the mainline; the caller holds the transaction."""
    db.execute("DELETE FROM meta WHERE key = ?", [RETAINED])
    former_commits.clear(db)


def _shift(db: Database, covered: Coverage, shift: int) -> Coverage:
    """Return the coverage after moving all ordinals; the part before the new beginning is cut off."""
    start, end, floor = (
        ordinal and max(0, ordinal + shift) for ordinal in (covered.from_ord, covered.to_ord, covered.floor)
    )
    db.execute(
        "UPDATE file_span SET from_ord = CASE from_ord WHEN 0 THEN 0 ELSE greatest(from_ord + ?, 0) END, "
        "to_ord = to_ord + ?",
        [shift, shift],
    )
    if start < 1:
        # For the oldest remaining commit only its state is known, not its changes.
        db.execute("DELETE FROM file_span WHERE to_ord <= 1")
        db.execute("UPDATE file_span SET from_ord = 0 WHERE from_ord = 1")
    if not end:
        db.execute("DELETE FROM file_span")
    return replace(
        covered, from_ord=max(1, start) if end else 0, to_ord=end, floor=floor if floor > 1 else 0, rooted=False
    )


def clear(db: Database) -> None:
    """Drop all spans; vacuumed history stays so as long as that part of the mainline exists."""
    covered = load(db)
    db.execute("DELETE FROM file_span")
    save(db, Coverage(version=covered.version + 1, floor=covered.floor))


def restore_floor(db: Database) -> None:
    """Keep background reading from vacuumed history of the previous store."""
    covered, sha = load(db), user_marks.read(db.folder).get("vacuumed_to")
    if covered.to_ord or covered.floor or sha is None:
        return
    kept = db.value("SELECT ord FROM line_commit WHERE sha = ?", [sha])
    if kept is not None:
        save(db, replace(covered, floor=kept))


def is_current(db: Database, rules: str) -> bool:
    """Whether the spans were selected by these rules, or there are none."""
    covered = load(db)
    return not covered.to_ord or (covered.rules == rules and not covered.missing)


def merge_duplicate_blobs(db: Database) -> None:
    """Let the past use the newest of several blobs of one content: a full run has parsed it again."""
    covered = load(db)
    twice = "SELECT id, max(id) OVER (PARTITION BY oid, language) AS newest FROM blob QUALIFY newest <> id"
    if not db.value(f"SELECT count(*) FROM ({twice})"):  # noqa: S608 - our own query
        return
    for table, column in _NAMING_BLOBS:
        db.execute(f"UPDATE {table} SET {column} = m.newest FROM ({twice}) m WHERE m.id = {table}.{column}")  # noqa: S608 - likewise
    if covered.to_ord:
        save(db, replace(covered, version=covered.version + 1))
