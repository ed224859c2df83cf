"""The target state of a run, and writing its differences from the stored one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cm_tui.engine.code.index.classify import FileClassifier
from cm_tui.engine.code.index.stored_state import ContentKey, StoredState
from cm_tui.engine.code.mainline import commits, coverage, former_commits, side_commits
from cm_tui.engine.code.mainline.commits import MainlineChange
from cm_tui.engine.code.parse import records
from cm_tui.engine.code.scan.working_tree import ScannedFiles
from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database


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
