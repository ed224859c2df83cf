"""`vector_search`: finds items by meaning."""

from __future__ import annotations

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.definitions.shapes.retrieval import VectorSearch
from cm_tui.engine.context.layers.vectors import search_items


def run(step: VectorSearch, state: RunState) -> None:
    """Add passages of an index, the best first."""
    query = state.filled(step.query) if step.query else state.query or state.task.text
    key = ("vector_search", step.index, query, step.top_k, step.min_score)
    items, notes = state.shared(
        key, lambda: search_items(state.means.ports, query, step.index, step.top_k, step.min_score)
    )
    state.items += items
    state.notes += [f"{state.name}: {note}" for note in notes]
    state.detail = f"{step.index}, {len(items)} of at most {step.top_k}, score {step.min_score:g} and more"
