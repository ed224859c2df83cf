"""File versions that are not in this clone: their spans are kept, and they are read once git has them."""

from __future__ import annotations

import pygit2

from cm_tui import counts
from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database

LANGUAGE = "absent"
"""Language of a blob whose content was missing; it has no symbols and no references."""
ERROR = "its content is not in this clone"
_NAMED = 3
_PROBED = 500
"""How many are looked for before each reading in the background: what git does not have costs it 50 µs a time."""
_BLOBS = f"(SELECT id FROM blob WHERE language = '{LANGUAGE}')"  # noqa: S608 - our own word


def store(db: Database, oids: dict[str, int]) -> None:
    """Insert blobs without content; the caller holds the transaction.

    `oids`: number of each blob by object id.
    """
    names = ("id", "oid", "language", "bytes", "lines", "generated", "parsed_by", "error")
    values = ((number, oid, LANGUAGE, 0, 0, False, EXTRACTOR_VERSION, ERROR) for oid, number in oids.items())
    bulk.insert(db, "blob", bulk.transpose(names, values))


def count(db: Database) -> int:
    """Count the file versions of history that are not there."""
    return int(db.value(f"SELECT count(DISTINCT blob) FROM file_span WHERE blob IN {_BLOBS}"))  # noqa: S608 - likewise


def note(db: Database, snapshot: str) -> str:
    """Return a note on files without content in a relation of (path, blob), and their paths."""
    if not db.value(f"SELECT count(*) FROM {_BLOBS}"):  # noqa: S608 - likewise
        return ""
    paths = [row[0] for row in db.rows(f"SELECT path FROM {snapshot} WHERE blob IN {_BLOBS} ORDER BY path")]  # noqa: S608 - likewise
    if not paths:
        return ""
    named = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
    what = f"{counts.count(len(paths), 'file')} of that revision {counts.noun(len(paths), 'is', 'are')}"
    return f"the content of {what} not in this clone, so nothing within is known: {named}"


def spans_of(db: Database, paths: list[str]) -> list[tuple[str, int, int | None]]:
    """Return path, from_ord and to_ord of files without content, oldest first."""
    return db.rows(
        f"SELECT path, from_ord, to_ord FROM file_span WHERE blob IN {_BLOBS} "  # noqa: S608 - likewise
        "AND path IN (SELECT unnest(?::VARCHAR[])) ORDER BY from_ord",
        [paths],
    )


def now_available(db: Database, repository: Repository) -> list[tuple[str, int, str]]:
    """Return path, blob and object id of those readable now."""
    found = db.rows(
        "SELECT DISTINCT f.path, b.id, b.oid FROM file_span f JOIN blob b ON b.id = f.blob "
        "WHERE b.language = ? ORDER BY b.id, f.path",
        [LANGUAGE],
    )
    here: dict[str, bool] = {}
    for _, _, oid in found:
        if oid not in here:
            here[oid] = content(repository, oid) is not None
    return [row for row in found if here[row[2]]]


def any_now_available(db: Database, repository: Repository, side: int | None = None) -> bool:
    """True when some are readable now; of very many, only the first are checked.

    `side`: of a commit off the mainline, by its number; None: of the mainline.
    """
    users = "SELECT blob FROM file_span" if side is None else f"SELECT blob FROM side_file WHERE side = {side:d}"  # noqa: S608 - a number
    sql = f"SELECT oid FROM blob WHERE language = ? AND id IN ({users}) ORDER BY id LIMIT ?"  # noqa: S608 - likewise
    found = db.rows(sql, [LANGUAGE, _PROBED])
    return any(content(repository, oid) is not None for (oid,) in found)


def content(repository: Repository, oid: str) -> bytes | None:
    """Return the content of a file; None: not in this clone, or damaged."""
    try:
        return repository.read(oid)
    except pygit2.GitError:
        return None
