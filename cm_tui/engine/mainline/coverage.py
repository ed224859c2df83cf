"""What the store knows of the past: how far back, and keeping that true when the line changes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from cm_tui.engine.mainline import user_marks
from cm_tui.engine.store.database import Database

_KEY = "history"
SPARE = "spare"
"""Key in `meta`: blobs of commits that have left the line. They are kept for when it comes back, as branches do."""
_SPARES = 10_000


@dataclass(frozen=True, slots=True)
class Coverage:
    """The stretch of the line whose spans are stored; nothing when `to_ord` is 0."""

    from_ord: int = 0
    to_ord: int = 0
    rooted: bool = False
    """True when it begins with the project's first commit."""
    rules: str = ""
    """Digest of the rules by which files were chosen."""
    floor: int = 0
    """Oldest ordinal that a vacuum kept; the background does not read below it again."""
    missing: int = 0
    """Left by an older version, which took file versions that are not in this clone for deleted."""
    broken: str = ""
    """Why reading could not go on."""
    lost: str = ""
    """The object that it lacked."""
    version: int = 0
    """Counts up whenever spans change other than by reading on."""

    def covers(self, ordinal: int) -> bool:
        """True when the spans tell what was alive at an ordinal."""
        return 0 < self.from_ord <= ordinal <= self.to_ord


def load(db: Database) -> Coverage:
    """What is known."""
    text = db.get_meta(_KEY)
    return Coverage(**json.loads(text)) if text else Coverage()


def save(db: Database, known: Coverage) -> None:
    """Remember what is known; the caller holds the transaction in which the spans change."""
    db.set_meta(_KEY, json.dumps(asdict(known)))


def truncate_to(db: Database, *, keep: int, shift: int = 0) -> None:
    """Take the spans back to an ordinal, above which the line has become another one.

    Args:
        db: the store; the caller holds the transaction.
        keep: the last ordinal that is still the same commit, counted after the shift.
        shift: how far ordinals move first.
    """
    known = load(db)
    if known.to_ord and shift:
        known = _moved(db, known, shift)
    if known.floor > keep:
        # What was removed from here on was removed from another line.
        known = replace(known, floor=keep + 1 if keep else 0)
    if known.to_ord and (db.value("SELECT max(ord) FROM line_commit") or 0) + shift > keep:
        _spare(db, keep if keep >= known.from_ord else -1)
    if known.to_ord > keep:
        if keep < known.from_ord:
            save(db, known)
            forget(db)
            return
        db.execute("DELETE FROM file_span WHERE from_ord > ?", [keep])
        db.execute("UPDATE file_span SET to_ord = NULL WHERE to_ord > ?", [keep])
        known = replace(known, to_ord=keep)
    if known != load(db):
        save(db, replace(known, version=known.version + 1, broken="", lost=""))


def _spare(db: Database, keep: int) -> None:
    """Keep the blobs of what lies above an ordinal, the newest of them if they are many."""
    found = db.rows(
        "SELECT blob FROM file_span WHERE from_ord > ? UNION SELECT blob FROM head_file "
        "EXCEPT SELECT blob FROM file_span WHERE from_ord <= ? ORDER BY blob DESC",
        [keep, keep],
    )
    kept = json.loads(db.get_meta(SPARE) or "[]")
    db.set_meta(SPARE, json.dumps(list(dict.fromkeys([*(row[0] for row in found), *kept]))[:_SPARES]))


def drop_spares(db: Database) -> None:
    """Keep no blobs of commits that have left the line; the caller holds the transaction."""
    db.execute("DELETE FROM meta WHERE key = ?", [SPARE])


def _moved(db: Database, known: Coverage, shift: int) -> Coverage:
    """What is known after all ordinals have moved; what lies before the line's new beginning is cut off."""
    start, end, floor = (ordinal and max(0, ordinal + shift) for ordinal in (known.from_ord, known.to_ord, known.floor))
    db.execute(
        "UPDATE file_span SET from_ord = CASE from_ord WHEN 0 THEN 0 ELSE greatest(from_ord + ?, 0) END, "
        "to_ord = to_ord + ?",
        [shift, shift],
    )
    if start < 1:
        # Of the oldest commit that is left it is only known what was there.
        db.execute("DELETE FROM file_span WHERE to_ord <= 1")
        db.execute("UPDATE file_span SET from_ord = 0 WHERE from_ord = 1")
    if not end:
        db.execute("DELETE FROM file_span")
    return replace(
        known, from_ord=max(1, start) if end else 0, to_ord=end, floor=floor if floor > 1 else 0, rooted=False
    )


def forget(db: Database) -> None:
    """Drop all spans; what was vacuumed stays so as long as that part of the line does."""
    known = load(db)
    db.execute("DELETE FROM file_span")
    save(db, Coverage(version=known.version + 1, floor=known.floor))


def restore_floor(db: Database) -> None:
    """In a store made anew, keep the background from reading what was vacuumed from the one before."""
    known, sha = load(db), user_marks.read(db.folder).get("removed")
    if known.to_ord or known.floor or sha is None:
        return
    kept = db.value("SELECT ord FROM line_commit WHERE sha = ?", [sha])
    if kept is not None:
        save(db, replace(known, floor=kept))


def is_current(db: Database, rules: str) -> bool:
    """True when the spans were chosen by these rules, or there are none."""
    known = load(db)
    return not known.to_ord or (known.rules == rules and not known.missing)


def merge_duplicate_blobs(db: Database) -> None:
    """Let spans name the newest of several blobs of one content: a full run has parsed it again."""
    known = load(db)
    twice = "SELECT id, max(id) OVER (PARTITION BY oid, language) AS newest FROM blob QUALIFY newest <> id"
    if known.to_ord and db.value(f"SELECT count(*) FROM ({twice})"):  # noqa: S608 - our own query
        db.execute(f"UPDATE file_span SET blob = m.newest FROM ({twice}) m WHERE m.id = file_span.blob")  # noqa: S608 - likewise
        save(db, replace(known, version=known.version + 1))
