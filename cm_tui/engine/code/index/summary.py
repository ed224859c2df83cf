"""Result of a run: counts for the user, and paths for keeping the index fresh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cm_tui.engine.code.index.stored_state import StoredState
from cm_tui.engine.code.index.target_state import TargetState
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import IndexSummary


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """The end of a run: its summary, and the paths that it compared with the disk."""

    summary: IndexSummary
    files: Collection[str]
    """Every path that the index holds now."""
    skipped: Collection[str]
    """Every path that was excluded."""


def summarise(
    db: Database,
    state: TargetState,
    stored: StoredState,
    *,
    blobs: int,
    embedded: int,
    seconds: Mapping[str, float],
    mode: str,
    notes: Sequence[str],
) -> IndexSummary:
    """Count the content of the index, and the differences from before the run.

    `state`: the new state; `stored`: the previous state; `blobs`: number of parsed files; `embedded`: number of
    embedded passages; `seconds`: by stage; `mode`: the current search mode; `notes`: reasons for a lesser mode.
    """
    return IndexSummary(
        files=len(state.now()),
        blobs=blobs,
        symbols=db.value("SELECT count(*) FROM symbol JOIN now_file USING (blob)"),
        references=db.value("SELECT count(*) FROM reference JOIN now_file USING (blob)"),
        passages=db.value("SELECT count(*) FROM passage"),
        embedded=embedded,
        skipped=dict(sorted(Counter(state.skipped.values()).items())),
        seconds={stage: round(spent, 4) for stage, spent in seconds.items()},
        changed=_changed(db, state, stored),
        mode=mode,
        notes=tuple(notes),
    )


def _changed(db: Database, state: TargetState, stored: StoredState) -> int:
    """Return how many paths hold other content than before."""
    oids = dict(db.rows("SELECT id, oid FROM blob"))
    before = {path: held.oid for path in stored.paths() if (held := stored.at(path)) is not None}
    after = {path: oids[blob] for path, blob in state.now().items()}
    return sum(before.get(path) != after.get(path) for path in before.keys() | after.keys())
