"""Freshness of an index without a daemon."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.engine.code.freshness.watcher import NAME as WATCHER
from cm_tui.model.freshness import Freshness, LayerState


def unwatched(stale_reason: str, indexed_at: str | None, external: Sequence[LayerState]) -> Freshness:
    """Return the state of such an index.

    `stale_reason`: why it does not reflect HEAD, or empty; `indexed_at`: time of the last update, from the store;
    `external`: the layers in other programs' files.
    """
    return Freshness(
        behind=bool(stale_reason),
        why=stale_reason,
        running=False,
        due_at=None,
        ran_at=float(indexed_at) if indexed_at else None,
        did="",
        runs=0,
        signals=0,
        layers=(LayerState(WATCHER, "off", note="no daemon runs"), *external),
    )
