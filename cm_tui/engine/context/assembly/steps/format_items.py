"""`format`: renders items as text."""

from __future__ import annotations

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.definitions.lookup import MISSING, lookup
from cm_tui.engine.context.definitions.shapes.retrieval import Format
from cm_tui.engine.context.definitions.template import render, variables
from cm_tui.engine.context.layers.item import text_of
from cm_tui.engine.platform import tokenizer

MARK = "…"


def run(step: Format, state: RunState) -> None:
    """Render the template for each item in turn, or once where it names values read by key.

    An item that lacks a field of the template is skipped, and that is reported.
    """
    scope = state.scope
    if not step.template:
        parts = [text_of(item).strip() for item in state.items]
    elif _is_of_values(step.template, state):
        parts = [] if not state.items else [_rendered(step.template, scope, state)]
    else:
        parts = [_rendered(step.template, {**scope, **item}, state) for item in state.items]
    joint = "\n" if step.template and "\n" not in step.template else "\n\n"
    text = joint.join(part for part in parts if part)
    state.text = within(text, step.max_tokens) if step.max_tokens is not None else text
    state.detail = f"{len([part for part in parts if part])} of {len(state.items)}"


def _is_of_values(template: str, state: RunState) -> bool:
    """Return whether all that a template names is known without an item."""
    names = [name for name, _ in variables(template)]
    if not names:
        return True
    own = {key for item in state.items for key in item}
    first = {name.split(".")[0] for name in names} | set(names)
    if first & own and not first & set(state.values):
        return False
    return bool(state.values) or all(lookup(state.scope, name) is not MISSING for name in names)


def _rendered(template: str, scope: dict[str, object], state: RunState) -> str:
    rendered = render(template, scope)
    state.warn_missing(rendered.missing)
    return "" if rendered.missing else rendered.text


def within(text: str, most: int) -> str:
    """Return the whole lines of a text within a number of tokens, with a mark where lines are omitted."""
    if tokenizer.count(text) <= most:
        return text
    lines = text.split("\n")
    low, high = 0, len(lines) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if tokenizer.count("\n".join([*lines[:middle], MARK])) <= most:
            low = middle
        else:
            high = middle - 1
    if low:
        return "\n".join([*lines[:low], MARK])
    return tokenizer.cut(text, most - 1) + MARK if most > 1 else ""
