"""Definitions for lists: kind, place, and state."""

from __future__ import annotations

from collections.abc import Iterator

from cm_tui.engine.context.definitions.library import Library
from cm_tui.engine.context.definitions.loaded import SHIPPED, Loaded, T
from cm_tui.engine.context.definitions.shapes import Action, Rule
from cm_tui.model import DefinitionInfo, DefinitionKind, Definitions, DefinitionState

_LONGEST = 200


def listed(library: Library) -> Definitions:
    """Return all definitions of a project, and the problems of its files."""
    items = [*_retrieval(library), *_rules(library), *_pipelines(library)]
    known = {item.file for item in items}
    broken = {one.file: one for one in library.problems if one.severity == "error" and one.file not in known}
    items += [
        DefinitionInfo(
            id=one.file, kind=_kind_of(one.file), name=one.file.rpartition("/")[2].rpartition(".")[0], file=one.file,
            line=one.line, state="broken", summary=f"{one.message} {one.hint}".strip(),
        )
        for one in broken.values()
    ]  # fmt: skip
    return Definitions(tuple(items), library.problems, library.files)


def _retrieval(library: Library) -> Iterator[DefinitionInfo]:
    for one in library.retrieval:
        steps = " → ".join(step.type for step in one.value.steps)
        yield _info(one, "retrieval", "definition", one.value.description or steps)


def _rules(library: Library) -> Iterator[DefinitionInfo]:
    for one in library.rules:
        yield _info(one, "rule", "rule", one.value.description or _description(one.value))


def _pipelines(library: Library) -> Iterator[DefinitionInfo]:
    for one in library.pipelines:
        steps = [str(getattr(trigger, "type", trigger)) for trigger in one.value.triggers]
        targets = ", ".join(route.write_to for route in one.value.routes)
        yield _info(one, "ingestion", "pipeline", one.value.description or f"{', '.join(steps)} → {targets}")


def _info(one: Loaded[T], kind: DefinitionKind, scheme: str, summary: str) -> DefinitionInfo:
    state: DefinitionState = "held" if one.is_held else "counts" if one.value.enabled else "off"
    return DefinitionInfo(
        id=f"{scheme}://{one.value.name}", kind=kind, name=one.value.name, file=one.file, line=one.line, state=state,
        summary=" ".join(summary.split())[:_LONGEST], asks=one.asks, shipped=one.file.startswith(SHIPPED),
    )  # fmt: skip


def _description(rule: Rule) -> str:
    conditions = " and ".join(f"{one.field} {one.op} {one.value!r}" for one in rule.conditions) or "always"
    return f"{conditions}: {'; '.join(map(_action, rule.actions))}"


def _action(action: Action) -> str:
    names = ("include", "exclude", "cap", "priority", "section")
    parts = [f"{name} {_names(value)}" for name in names if (value := getattr(action, name)) is not None]
    return ", ".join(parts) + (f" for {_names(action.for_)}" if action.for_ is not None else "")


def _names(value: object) -> str:
    return (
        ", ".join(map(str, value)) if isinstance(value, tuple) else "what it is about" if value is True else str(value)
    )


def _kind_of(file: str) -> DefinitionKind:
    return "rule" if "/rules/" in file else "ingestion" if "/ingestion/" in file else "retrieval"
