"""`log_search`: reads events of the log."""

from __future__ import annotations

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.definitions.shapes.retrieval import LogSearch


def run(step: LogSearch, state: RunState) -> None:
    """Add events, the newest first."""
    key = ("log_search", step.event_type, step.since, step.fields, step.limit)
    items, note = state.shared(
        key,
        lambda: state.means.layers.log.search(step.event_type, since=step.since, fields=step.fields, limit=step.limit),
    )
    state.items += items
    state.notes += [f"{state.name}: {note}"] if note else []
    state.detail = f"{step.event_type or 'all'} since {step.since}"
