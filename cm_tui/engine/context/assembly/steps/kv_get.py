"""`kv_get`: reads values by their keys."""

from __future__ import annotations

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.definitions.shapes.retrieval import KvGet
from cm_tui.engine.context.definitions.template import plain
from cm_tui.engine.context.layers.kv import KvValue


def run(step: KvGet, state: RunState) -> None:
    """Add values: templates name them by their keys; missing keys are skipped."""
    found: list[KvValue] = []
    for pattern in step.keys:
        key = state.filled(pattern) if "{{" in pattern else pattern
        if set(key) & set("*?"):
            found += state.means.layers.kv.matching(key)
        elif (one := state.means.layers.kv.get(key)) is not None:
            found.append(one)
    for value in found:
        state.values[value.key] = value.value
        state.items.append(
            {
                "key": value.key,
                "value": value.value,
                "text": f"{value.key}: {plain(value.value)}",
                "path": f"kv/{value.key}",
            }
        )
    state.detail = ", ".join(value.key for value in found)[:120] or "no such key"
