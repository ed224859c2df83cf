"""The target state of a run, and writing its differences from the stored one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from cm_tui.engine.code.index.stored_state import ContentKey, StoredState
from cm_tui.engine.code.mainline import commits, coverage, former_commits, side_commits
from cm_tui.engine.code.mainline.commits import MainlineChange
from cm_tui.engine.code.parse import records
from cm_tui.engine.code.parse.worker import Task
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.code.scan.languages import HEAD_BYTES, language_of
from cm_tui.engine.code.scan.skip_rules import NOT_HERE, SkipRules, by_content, suffix_of
from cm_tui.engine.code.scan.working_tree import ScannedFiles
from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database

# --- classification of files: from path and content to a blob of the store, or to the reason why it is excluded ---


class FileClassifier:
    """Classifies every file of a scan; files to parse are returned as tasks.

    `scan`: the files. An edited file gets its new object id there. `contents`: reads files. `full`: parse stored files
    again.
    """

    def __init__(
        self, scan: ScannedFiles, stored: StoredState, contents: ContentReader, rules: SkipRules, *, full: bool
    ) -> None:
        self._scan = scan
        self._stored = stored
        self._contents = contents
        self._rules = rules
        self._full = full
        self._blobs = {} if full else dict(stored.parsed)
        self._next = stored.next_id
        self.verdicts: dict[tuple[str, str], int | str] = {}
        """By path and object id: the blob's id, or why it is excluded."""
        self.rejected: dict[ContentKey, str] = {}
        self.unread: list[tuple[str, str, bool]] = []
        """Files to read: path, object id, and whether it differs from HEAD."""

    def decide(self) -> None:
        """Decide on what needs no reading; the rest is in `unread`."""
        wanted = [(path, oid, False) for path, oid in self._scan.committed.items()]
        wanted += [(path, oid, True) for path, oid in self._scan.disk.items() if oid is not None]
        for path, oid, on_disk in sorted(wanted):
            if not self._has_verdict(path, oid):
                self.unread.append((path, oid, on_disk))

    def tasks(self, unread: Iterable[tuple[str, str, bool]]) -> Iterator[Task]:
        """Read files; yields those to parse, with ids in the order of paths."""
        for path, oid, on_disk in unread:
            found = self._read(path, oid, on_disk=on_disk)
            if found is not None:
                yield from self._tasks_for(path, *found)

    def _has_verdict(self, path: str, oid: str) -> bool:
        for held in (self._stored.at(path), self._stored.spans.get(path)):
            if held is not None and held.oid == oid and held.blob in self._stored.current and not self._full:
                self.verdicts[path, oid] = held.blob
                return True
        reason = self._stored.rejection(path, oid, self._rules)
        if reason is not None and not self._full:
            self._reject(path, oid, self._content(path, oid), reason)
            return True
        return False

    def _read(self, path: str, oid: str, *, on_disk: bool) -> tuple[str, bytes] | None:
        data = self._contents.get(path, oid)
        if data is not None:
            return oid, data
        if not on_disk:
            self.verdicts[path, oid] = NOT_HERE
            return None
        # Edited or deleted since the scan: take it as it is at this moment.
        self._scan.disk[path] = None
        try:
            oid, data = self._contents.from_disk(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._scan.skipped[path] = f"unreadable: {error.strerror or error}"
            return None
        reason = self._rules.by_size(path, len(data))
        if reason is not None:
            self._scan.skipped[path] = reason
            return None
        self._scan.disk[path] = oid
        return oid, data

    def _tasks_for(self, path: str, oid: str, data: bytes) -> Iterator[Task]:
        content = self._content(path, oid)
        encoding = self._contents.attributes.encoding(path, data)
        found = by_content(path, data, included=content.included, encoding=encoding)
        reason = self._rules.verdict(path, found)
        if reason is not None:
            self._reject(path, oid, content, reason)
            return
        language = language_of(path, data[:HEAD_BYTES])
        number = self._blobs.get((oid, language))
        if number is None:
            number = self._blobs[oid, language] = self._next
            self._next += 1
            yield Task(number, oid, language, data, encoding)
        self.verdicts[path, oid] = number

    def _reject(self, path: str, oid: str, content: ContentKey, reason: str) -> None:
        self.verdicts[path, oid] = reason
        self.rejected[content] = reason

    def _content(self, path: str, oid: str) -> ContentKey:
        return ContentKey(oid, suffix_of(path), self._rules.included(path))


# --- the target state of a run, and writing its differences from the stored one ---


@dataclass(slots=True)
class TargetState:
    """Target rows of `head_file`, `worktree`, `skipped` and `rejected`, and changes of the mainline.

    In a run for some paths, `whole` is False: HEAD's rows and the verdicts on content are unchanged.
    """

    whole: bool = True

    rules: str = ""
    """Digest of the rules that decided."""
    committed: dict[str, int] = field(default_factory=dict)
    overlay: dict[str, int | None] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    rejected: dict[ContentKey, str] = field(default_factory=dict)
    head: str | None = None
    """HEAD's commit."""
    line: MainlineChange | None = None

    def now(self) -> dict[str, int]:
        """Blob by path."""
        merged: dict[str, int | None] = {**self.committed, **self.overlay}
        return {path: blob for path, blob in merged.items() if blob is not None}


def build_state(scan: ScannedFiles, classified: FileClassifier) -> TargetState:
    """Return the state of the whole project."""
    state = TargetState(skipped=dict(scan.skipped), rejected=dict(classified.rejected))
    for path, oid in scan.committed.items():
        verdict = classified.verdicts[path, oid]
        if isinstance(verdict, int):
            state.committed[path] = verdict
        elif path not in scan.disk:
            state.skipped[path] = verdict
    for path, on_disk in scan.disk.items():
        found = classified.verdicts.get((path, on_disk)) if on_disk is not None else None
        if isinstance(found, str):
            state.skipped[path] = found
        blob = found if isinstance(found, int) else None
        if blob != state.committed.get(path):
            state.overlay[path] = blob
    return state


def build_partial_state(
    scan: ScannedFiles, classified: FileClassifier, stored: StoredState, chosen: Callable[[str], bool]
) -> TargetState:
    """Return a state with only some paths changed; HEAD's rows are those of the last run."""
    seen = build_state(scan, classified)
    now = seen.now()
    state = TargetState(
        whole=False,
        committed={path: held.blob for path, held in stored.spans.items()},
        overlay={path: held and held.blob for path, held in stored.overlay.items() if not chosen(path)},
        skipped={path: reason for path, reason in stored.skipped.items() if not chosen(path)} | seen.skipped,
    )
    for path in {path for path in {*stored.spans, *stored.overlay} if chosen(path)} | set(now):
        blob = now.get(path)
        if blob != state.committed.get(path):
            state.overlay[path] = blob
    return state


def is_stored(db: Database, state: TargetState, stored: StoredState) -> bool:
    """Whether writing would change nothing."""
    if state.overlay != {path: held and held.blob for path, held in stored.overlay.items()}:
        return False
    if state.skipped != stored.skipped:
        return False
    return not state.whole or (
        state.committed == {path: held.blob for path, held in stored.spans.items()}
        and state.rejected == stored.rejected
        and state.line is None
        and coverage.is_current(db, state.rules)
        and former_commits.is_by(db, state.rules)
        and side_commits.are_by(db, state.rules)
        and not db.value(_UNUSED_COUNT)
    )


_UNUSED = f"""
SELECT id FROM blob
WHERE id NOT IN (
    SELECT blob FROM head_file UNION SELECT blob FROM worktree WHERE blob IS NOT NULL UNION {coverage.IN_USE}
    UNION SELECT unnest(value::INTEGER[]) FROM meta WHERE key = '{coverage.RETAINED}'
)
"""  # noqa: S608 - our own word
_UNUSED_COUNT = f"SELECT count(*) FROM ({_UNUSED})"  # noqa: S608 - our own query


def write(db: Database, state: TargetState) -> None:
    """Replace the rows, and drop unreferenced blobs; the caller holds the transaction."""
    if state.whole:
        if state.line is not None:
            commits.write(db, state.line)
            coverage.restore_floor(db)
        paths = sorted(state.committed)
        _replace(db, "head_file", {"path": paths, "blob": [state.committed[path] for path in paths]})
        if not coverage.is_current(db, state.rules):
            coverage.clear(db)
            coverage.drop_retained(db)
        if not former_commits.is_by(db, state.rules):
            coverage.drop_retained(db)
        side_commits.drop_others(db, state.rules)
        coverage.merge_duplicate_blobs(db)
        contents = sorted(state.rejected)
        verdicts = ((*content, state.rejected[content]) for content in contents)
        _replace(db, "rejected", bulk.transpose((*ContentKey._fields, "reason"), verdicts))
    paths = sorted(state.overlay)
    _replace(db, "worktree", {"path": paths, "blob": [state.overlay[path] for path in paths]})
    paths = sorted(state.skipped)
    _replace(db, "skipped", {"path": paths, "reason": [state.skipped[path] for path in paths]})
    drop_unused(db)


def _replace(db: Database, table: str, columns: bulk.Columns) -> None:
    db.execute(f'DELETE FROM "{table}"')  # noqa: S608 - our own names
    bulk.insert(db, table, columns)


def drop_unused(db: Database) -> None:
    """Remove blobs that nothing refers to; the caller holds the transaction."""
    unused = [row[0] for row in db.rows(_UNUSED)]
    if not unused:
        return
    for table in records.BLOB_TABLES:
        db.execute(f'DELETE FROM "{table}" WHERE blob IN (SELECT unnest(?::INTEGER[]))', [unused])  # noqa: S608 - our own names
    db.execute("DELETE FROM blob WHERE id IN (SELECT unnest(?::INTEGER[]))", [unused])
