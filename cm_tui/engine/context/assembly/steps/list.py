"""The list of the steps of retrieval definitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.assembly.steps import (
    code_pack,
    derive_query,
    filter_items,
    format_items,
    graph_view_read,
    kv_get,
    log_search,
    rank,
    vector_search,
)

RUN: Mapping[str, Any] = {
    "derive_query": derive_query.run,
    "vector_search": vector_search.run,
    "graph_view_read": graph_view_read.run,
    "kv_get": kv_get.run,
    "log_search": log_search.run,
    "filter": filter_items.run,
    "rank": rank.run,
    "format": format_items.run,
    "code_pack": code_pack.run,
}
"""What each type of step does with the state of a run. To add one: its shape, a file, and a line here."""


def run_step(step: Any, state: RunState) -> None:
    """Run one step.

    Raises:
        CmError: it cannot be done.
    """
    RUN[step.type](step, state)
