"""Names for definitions: schemes of memory references, views of the graph with their parameters, indexes."""

from __future__ import annotations

from collections.abc import Mapping

SCHEMES = (
    "definition", "persistent", "markdown", "kv", "json", "working", "episodic", "episode", "entry", "entries", "graph",
    "vector", "log", "file", "symbol", "blob",
)  # fmt: skip

VIEWS: Mapping[str, Mapping[str, bool]] = {
    "callers": {"name": True},
    "callees": {"name": True},
    "neighbours": {"name": True},
    "symbols": {"path": True},
    "dependencies": {"path": True},
    "dependents": {"path": True},
    "importers": {"path": True},
    "cochange": {"path": True},
    "entities": {"type": False},
    "relations": {"entity": False, "type": False},
    "cypher": {"query": True},
}
"""Views by name: their parameters, and whether each is needed."""

TASK_FIELDS = ("text", "session", "agent", "files", "branch", "mentions", "budget")
REFERENCE_FIELDS = ("id", "scheme", "name", "kind", "section", "enabled")


def wrong_view(view: str, params: Mapping[str, object]) -> tuple[str, str]:
    """Return the problem of a view and its parameters, and a hint; empty: none."""
    if view not in VIEWS:
        return f"unknown view {view!r}", f"Use {', '.join(VIEWS)}."
    known = VIEWS[view]
    for name in params:
        if name not in known:
            return f"the view {view!r} has no parameter {name!r}", f"It has {', '.join(known)}."
    lacking = [name for name, needed in known.items() if needed and name not in params]
    if lacking:
        return f"the view {view!r} needs the parameter {lacking[0]!r}", f"It has {', '.join(known)}."
    return "", ""
