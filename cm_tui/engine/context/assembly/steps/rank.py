"""`rank`: orders items.

Relevance is the item's score, from 0 to 1; an item without a score uses its place: `1 / (1 + place / 10)`. Recency is
`0.5 ^ (age / 14 days)`; 0 without a time. `combined` is the mean of both, weighted.
"""

from __future__ import annotations

import time

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.definitions.operators import number
from cm_tui.engine.context.definitions.shapes.retrieval import Rank
from cm_tui.engine.context.layers.item import Item

HALF_LIFE_S = 14 * 86_400.0
_PLACES = 10


def run(step: Rank, state: RunState) -> None:
    """Sort the best first; equal ones keep their order."""
    now = time.time()
    scored = [(score(step, item, place, now), -place, item) for place, item in enumerate(state.items)]
    scored.sort(key=lambda one: one[:2], reverse=True)
    state.items = [{**item, "rank_score": round(value, 6)} for value, _, item in scored]
    state.detail = step.by


def score(step: Rank, item: Item, place: int, now: float) -> float:
    """Return the sort key of an item, from 0 to 1."""
    found = number(item.get("score"))
    relevance = found if found is not None else 1 / (1 + place / _PLACES)
    at = number(item.get("time"))
    recency = 0.0 if at is None else float(0.5 ** (max(0.0, now - at) / HALF_LIFE_S))
    if step.by != "combined":
        return relevance if step.by == "relevance" else recency
    near, new = step.weights.get("relevance", 1.0), step.weights.get("recency", 1.0)
    return (near * relevance + new * recency) / (near + new) if near + new else 0.0
