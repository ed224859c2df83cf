"""Mistakes in well-formed definitions: patterns, views, references, templates, cycles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cm_tui.engine.context.definitions import operators
from cm_tui.engine.context.definitions.parsing import Document, Path
from cm_tui.engine.context.definitions.shapes import (
    Condition,
    DeriveQuery,
    Filter,
    Format,
    GraphViewRead,
    Pipeline,
    RetrievalDefinition,
    Rule,
    TriggerWhen,
    When,
)
from cm_tui.engine.context.definitions.template import variables
from cm_tui.engine.context.definitions.validation import with_suggestions
from cm_tui.model import Section

# --- names for definitions: schemes of memory references, views of the graph with their parameters, indexes ---

SCHEMES: Mapping[str, Section] = {
    "definition": "knowledge", "persistent": "knowledge", "markdown": "knowledge", "kv": "state", "json": "state",
    "working": "working_memory", "episodic": "history", "episode": "history", "entry": "knowledge",
    "entries": "knowledge", "graph": "knowledge", "vector": "knowledge", "log": "history", "file": "knowledge",
    "symbol": "knowledge", "blob": "knowledge",
}  # fmt: skip
"""Schemes of references, and the default section of each; `entries://Rule` alone belongs to the constraints."""

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


# --- mistakes in well-formed definitions ---

Finding = tuple[Path, str, str, bool]
"""Place, mistake, hint, and whether it is only a warning."""


def of_retrieval(one: RetrievalDefinition, document: Document) -> Iterator[Finding]:
    """Yield the mistakes of a retrieval definition."""
    keys: list[str] | None = []
    for number, step in enumerate(one.steps):
        path: Path = ("steps", number)
        if isinstance(step, Filter):
            yield from _conditions(step.where, (*path, "where"), document)
        elif isinstance(step, GraphViewRead):
            message, hint = wrong_view(step.view, step.params)
            if message:
                yield (*path, "params" if "parameter" in message else "view"), message, hint, False
        elif isinstance(step, DeriveQuery):
            yield from _query(step, one, path)
        elif isinstance(step, Format):
            yield from _template(step, one, keys, path)
        if step.type == "kv_get" and keys is not None:
            keys += step.keys
        elif step.type not in {"format", "filter", "rank", "derive_query"}:
            keys = None


def _query(step: DeriveQuery, one: RetrievalDefinition, path: Path) -> Iterator[Finding]:
    source = step.from_
    if "://" in source:
        if reference_of(source) is None:
            hint = "Use definition://NAME, or a field of the task."
            yield (*path, "from"), f"not a definition: {source!r}", hint, False
    elif source.removeprefix("task.") not in TASK_FIELDS and source not in one.params:
        fields = [f"task.{name}" for name in TASK_FIELDS]
        hint = with_suggestions(source, [*fields, *one.params], every=True)
        yield (*path, "from"), f"unknown field {source!r}", hint, True


def _template(step: Format, one: RetrievalDefinition, keys: list[str] | None, path: Path) -> Iterator[Finding]:
    if not keys:  # Of what other steps find, the fields are not known before.
        return
    first = (
        {key.split(".")[0] for key in keys} | set(keys) | set(one.params) | {"task", "query", "text", "key", "value"}
    )
    for name, _ in variables(step.template):
        if name not in first and name.split(".")[0] not in first:
            yield (*path, "template"), f"the template uses {name!r}, which no earlier step reads", "", True


def of_rule(rule: Rule, path: Path, document: Document) -> Iterator[Finding]:
    """Yield the mistakes of a rule."""
    yield from _conditions(rule.condition, (*path, "condition"), document)
    fields = {f"task.{one}" for one in TASK_FIELDS} | {f"reference.{one}" for one in REFERENCE_FIELDS}
    for number, condition in enumerate(rule.conditions):
        if condition.field not in fields:
            where: Path = (*path, "condition", *((number,) if isinstance(rule.condition, tuple) else ()), "field")
            hint = with_suggestions(condition.field, sorted(fields))
            yield where, f"unknown field {condition.field!r}", hint, True
    for number, action in enumerate(rule.actions):
        here: Path = (*path, "action", *((number,) if isinstance(rule.action, tuple) else ()))
        if action.for_ is not None and action.exclude is True:
            hint = "`true` excludes every reference for which the conditions hold: name them in `exclude`."
            yield (*here, "exclude"), "`exclude: true` and `for` contradict each other", hint, False
        elif action.for_ is not None and all(one is None for one in (action.cap, action.priority, action.section)):
            hint = "It names the references for cap, priority and section."
            yield (*here, "for"), "`for` has no effect without cap, priority or section", hint, True
        for key, value in (("include", action.include), ("exclude", action.exclude), ("for", action.for_)):
            for reference in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
                yield from _reference(reference, (*here, key), exact=key == "include")


def _reference(reference: str, path: Path, *, exact: bool) -> Iterator[Finding]:
    scheme, separator, rest = reference.partition("://")
    if not separator:
        if exact or not set(reference) & set("*?"):
            hint = f"Use SCHEME://NAME; schemes are {', '.join(SCHEMES)}."
            yield path, f"not a memory reference: {reference[:60]!r}", hint, False
    elif scheme not in SCHEMES and not set(scheme) & set("*?"):
        yield path, f"unknown scheme {scheme[:60]!r}", with_suggestions(scheme, SCHEMES, every=True), False
    elif exact and not rest:
        yield path, f"{reference[:60]!r} has no name", "", False


def of_pipeline(pipeline: Pipeline, document: Document) -> Iterator[Finding]:
    """Yield the mistakes of a pipeline."""
    for number, trigger in enumerate(pipeline.triggers):
        if isinstance(trigger, TriggerWhen):
            yield from _when(trigger.condition, ("triggers", number, "condition"), document)
    for number, route in enumerate(pipeline.routes):
        yield from _when(route.condition, ("routes", number, "condition"), document)
        if route.ttl is not None and not route.write_to.startswith("kv://"):
            yield ("routes", number, "ttl"), "only values of kv:// have a ttl", "", False


def _when(when: When | None, path: Path, document: Document) -> Iterator[Finding]:
    try:
        found = operators.conditions_of(when)
    except ValueError as error:
        yield path, str(error), "", False
        return
    if isinstance(when, str):
        for condition in found:
            yield from _condition(condition, path)
    elif when is not None:
        yield from _conditions(when, path, document)


def _conditions(conditions: Condition | Sequence[Condition], path: Path, document: Document) -> Iterator[Finding]:
    if isinstance(conditions, Condition):
        yield from _condition(conditions, path)
        return
    for number, one in enumerate(conditions):
        yield from _condition(one, (*path, number) if isinstance(document.at(path), list) else path)


def _condition(condition: Condition, path: Path) -> Iterator[Finding]:
    try:
        operators.prepared([condition])
    except ValueError as error:
        yield (*path, "value"), str(error), "", False


def reference_of(source: str) -> str | None:
    """Return the name of a reference's definition; None: it is another kind of reference."""
    scheme, separator, name = source.partition("://")
    return name if separator and scheme in {"definition", "persistent"} and name else None


def cycles(definitions: Mapping[str, RetrievalDefinition]) -> dict[str, tuple[str, ...]]:
    """Return the definitions that use themselves, directly or not, each with the cycle."""
    asks: dict[str, list[str]] = {
        name: [asked for step in one.steps if isinstance(step, DeriveQuery) and (asked := reference_of(step.from_))]
        for name, one in definitions.items()
    }
    return {name: way for name in asks if (way := _cycle(name, asks))}


def _cycle(name: str, asks: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the shortest way from a definition to itself; empty: none."""
    seen = set[str]()
    ways: list[tuple[str, ...]] = [(name,)]
    for way in ways:
        for asked in asks.get(way[-1], ()):
            if asked == name:
                return (*way, name)
            if asked not in seen:
                seen.add(asked)
                ways.append((*way, asked))
    return ()
