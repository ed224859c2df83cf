"""Reading trees of commits: from a file to a blob of the store, parsed if it is new."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Container, Iterator

import pygit2

from cm_tui import counts
from cm_tui.config import Config
from cm_tui.engine.code.index.stored_state import NEXT_BLOB
from cm_tui.engine.code.parse import records
from cm_tui.engine.code.parse.pool import PARSE_SECONDS, Pool
from cm_tui.engine.code.parse.worker import Task
from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION, HEAD_BYTES, language_of
from cm_tui.engine.code.scan.skip_rules import VENDOR_MARKERS, SkipRules, by_content
from cm_tui.engine.code.scan.working_tree import is_text, own_folders
from cm_tui.engine.platform.git.delta import Change, Trees
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.git.trees import TreeEntry
from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database

# --- file versions that are not in this clone: their spans are kept, and they are read once git has them ---

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
    return f"the content of {what} not in this clone, so its symbols are unknown: {named}"


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


# --- reading trees of commits ---

_PENDING_BYTES = 1_500_000
"""Most source waiting to be parsed: enough to keep the processes busy. Its rows take twenty times as much until they are stored."""
_KEPT_CLASSIFIED = 50_000


class _AllTracked(Container[str]):
    """Folders that git tracks: files of a tree are always in such."""

    def __contains__(self, _: object) -> bool:
        return True


class TreeReader:
    """Selects files of any commit by the current rules, and parses each new content once.

    Used while the writer lock is held; `begin` reads what other processes have parsed meanwhile. `config`: what is
    indexed.
    """

    def __init__(self, db: Database, repository: Repository, config: Config) -> None:
        self._db = db
        self._repository = repository
        self._attributes = repository.attributes()
        self.trees = Trees(repository)
        # Folders filled by a tool are found in the commit's tree, not on disk.
        self._rules = SkipRules(config.index, repository.root, _AllTracked(), on_disk=False)
        self._own = own_folders(repository.root)
        self._pool = Pool(config.index.workers, PARSE_SECONDS, db.folder / "parsing-history")
        self._known: dict[tuple[str, str], int] = {}
        self._stored: tuple[int, int] | None = None
        """Count and highest number of the store's blobs when just these were known; None: others are known too."""
        self._classified: dict[tuple[str, str, bool, bool], int | None] = {}
        self._pending: list[Task] = []
        self._absent: dict[str, int] = {}
        """File versions that are not in this clone and that the store does not have yet: blob by object id."""
        self._bytes = 0
        self._next = 1
        self.parsed = 0

    def begin(self, oids: Collection[str] | None = None) -> None:
        """Load the store's current data. `oids`: contents that will be read; default: all."""
        counted = "SELECT count(*) FILTER (parsed_by = ?), coalesce(max(id), 0) FROM blob"
        stored = self._db.rows(counted, [EXTRACTOR_VERSION])[0]
        self._next = max(stored[1] + 1, self._db.number(NEXT_BLOB, 1))
        if oids is None and stored == self._stored and not self._pending and not self._absent:
            # As a number is never used twice, none was dropped or added. Those of a long history take a while to read.
            return
        sql = "SELECT oid, language, id FROM blob WHERE parsed_by = ? {} ORDER BY id"
        if oids is None:
            rows = self._db.rows(sql.format(""), [EXTRACTOR_VERSION])
        else:
            rows = self._db.rows(sql.format("AND oid IN (SELECT unnest(?::VARCHAR[]))"), [EXTRACTOR_VERSION, [*oids]])
        known = {(oid, language): number for oid, language, number in rows}
        if known != self._known:
            # Another run may have dropped or replaced blobs.
            self._known = known
            self._classified.clear()
            self._pending.clear()
            self._absent.clear()
            self._bytes = 0
        self._stored = (stored[0], stored[1]) if oids is None else None

    def close(self) -> None:
        """End the parser processes."""
        self._pool.close()

    def changes(self, before: bytes | None, after: bytes) -> Iterator[tuple[str, int | None, int | None]]:
        """Yield paths at which two trees differ, with the blob on each side; None: nothing to index there.

        Raises MissingError if a tree is not in this clone, or damaged.
        """
        for change in self.differing(before, after):
            old = self.blob_of(before, change.path, change.before)
            new = self.blob_of(after, change.path, change.after)
            if old != new:
                yield change.path, old, new

    def differing(self, before: bytes | None, after: bytes) -> list[Change]:
        """Return the paths at which two trees may differ for the index.

        Raises MissingError if a tree is not in this clone, or damaged.
        """
        found = list(self.trees.changes(before, after))
        return [*found, *self._around_vendors(found, before, after)]

    def flush(self) -> None:
        """Parse and store new contents."""
        pending, self._pending, self._bytes = self._pending, [], 0
        lost, self._absent = self._absent, {}
        if not pending and not lost:
            return
        before, self._stored = self._stored, None
        batch = records.merge(list(self._pool.parse(pending))) if pending else {}
        with self._db.transaction():
            bulk.insert_tables(self._db, batch)
            store(self._db, lost)
            self._db.set_meta(NEXT_BLOB, str(self._next))
        self.parsed += len(pending)
        if before is not None:
            # What another thread drops meanwhile makes a difference: then all are read again.
            self._stored = before[0] + len(pending) + len(lost), self._next - 1

    def reread(self, path: str, oid: str) -> int | None:
        """Return the blob of a file version that was missing before, or None when it is excluded."""
        return self._classify(path, oid, included=self._rules.included(path))

    def blob_of(self, tree: bytes | None, path: str, entry: TreeEntry | None) -> int | None:
        """Return the blob of a file, or None when it is excluded."""
        if entry is None or tree is None or entry.is_link or entry.is_submodule or not is_text(path):
            return None
        if path.startswith(self._own) or self._rules.by_path(path) is not None:
            return None
        included = self._rules.included(path)
        if not included and self._is_vendored(tree, path):
            return None
        key = (entry.oid, posixpath.basename(path), included, self._rules.includes_credentials(path))
        if key not in self._classified:
            if len(self._classified) > _KEPT_CLASSIFIED:
                self._classified.clear()
            self._classified[key] = self._classify(path, entry.oid, included=included)
        return self._classified[key]

    def _classify(self, path: str, oid: str, *, included: bool) -> int | None:
        size = self._size(oid)
        if size is not None and self._rules.by_size(path, size) is not None:
            return None
        data = None if size is None else content(self._repository, oid)
        if data is None:
            return self._without_content(oid)
        encoding = self._attributes.encoding(path, data)
        if self._rules.verdict(path, by_content(path, data, included=included, encoding=encoding)) is not None:
            return None
        language = language_of(path, data[:HEAD_BYTES])
        number = self._known.get((oid, language))
        if number is None:
            number = self._known[oid, language] = self._next
            self._next += 1
            self._pending.append(Task(number, oid, language, data, encoding))
            self._bytes += len(data)
            if self._bytes > _PENDING_BYTES:
                self.flush()
        return number

    def _size(self, oid: str) -> int | None:
        try:
            return self._repository.size(oid)
        except pygit2.GitError:
            # Damaged: as good as not there.
            return None

    def _without_content(self, oid: str) -> int:
        """A placeholder blob for unreadable content."""
        key = (oid, LANGUAGE)
        if key not in self._known:
            self._known[key] = self._absent[oid] = self._next
            self._next += 1
        return self._known[key]

    def _is_vendored(self, tree: bytes | None, path: str) -> bool:
        """True below a `vendor` folder that a tool filled."""
        return any(self._is_filled(tree, folder) for folder in _vendors(path))

    def _is_filled(self, tree: bytes | None, folder: str) -> bool:
        found = self.trees.folder(tree, folder) if tree is not None else None
        return found is not None and not self.trees.names(found).isdisjoint(VENDOR_MARKERS)

    def _around_vendors(self, found: list[Change], before: bytes | None, after: bytes) -> Iterator[Change]:
        """Yield unchanged files in a `vendor` folder that became, or no longer is, a tool's."""
        touched = {folder for change in found for folder in _vendors(change.path)}
        turned = {folder for folder in touched if self._is_filled(before, folder) != self._is_filled(after, folder)}
        if not turned:
            return
        seen = {change.path for change in found}
        sides: list[dict[str, TreeEntry]] = [
            dict(self.trees.files(tree)) if tree is not None else {} for tree in (before, after)
        ]
        for path in sorted(sides[0].keys() | sides[1].keys()):
            if path not in seen and not turned.isdisjoint(_vendors(path)):
                yield Change(path, sides[0].get(path), sides[1].get(path))


def _vendors(path: str) -> list[str]:
    """The `vendor` folders above a path."""
    if "vendor/" not in path:
        return []
    parts = path.split("/")[:-1]
    return ["/".join(parts[: at + 1]) for at, name in enumerate(parts) if name == "vendor"]
