"""`graph_view_read`: reads a named view of the graph."""

from __future__ import annotations

from cm_tui.engine.context.assembly.run_state import RunState, frozen
from cm_tui.engine.context.definitions.shapes.retrieval import GraphViewRead
from cm_tui.engine.context.definitions.template import plain


def run(step: GraphViewRead, state: RunState) -> None:
    """Add the rows of a view."""
    params = {
        name: state.filled(value) if isinstance(value, str) else plain(value) for name, value in step.params.items()
    }
    items = state.shared(
        ("graph_view_read", step.view, frozen(params)), lambda: state.means.layers.graph.read(step.view, params)
    )
    state.items += items
    state.detail = f"{step.view} {' '.join(params.values())}".strip()[:120]
