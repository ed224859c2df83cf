"""`filter`: drops items for which a condition does not hold."""

from __future__ import annotations

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.definitions.operators import prepared
from cm_tui.engine.context.definitions.shapes.conditions import Condition
from cm_tui.engine.context.definitions.shapes.retrieval import Filter


def run(step: Filter, state: RunState) -> None:
    """Keep the items that satisfy all conditions; fields are those of the item, then those of the task."""
    conditions = (step.where,) if isinstance(step.where, Condition) else step.where
    holds, scope, before = prepared(conditions), state.scope, len(state.items)
    state.items = [item for item in state.items if holds({**scope, **item})]
    state.detail = f"{len(state.items)} of {before}"
