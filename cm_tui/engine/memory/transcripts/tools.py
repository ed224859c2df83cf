"""An agent's use of a tool: what it was given as text, the file, the edit and the plan in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cm_tui.engine.memory.transcripts import patches
from cm_tui.engine.memory.transcripts.lines import as_list, as_record, as_text
from cm_tui.engine.memory.transcripts.turn import Edit, Turn

_GIVEN = ("command", "cmd", "pattern", "query", "url", "file_path", "filePath", "notebook_path", "path", "prompt", "description")  # fmt: skip
_PATHS = ("file_path", "filePath", "notebook_path", "path", "target_file")
_GIVEN_CHARACTERS = 8_000
_PATCH_CHARACTERS = 2 * patches.PATCH_BYTES
"""Characters to keep of an edit until its result is known: more than a turn's patch may have."""
_PLANS = {
    "TodoWrite": ("todos", "content"),
    "todowrite": ("todos", "content"),
    "write_todos": ("todos", "description"),
    "update_plan": ("plan", "step"),
}
"""Tools that write a to-do list: the field with its items, and the field of an item with its text."""


def use_tool(
    turn: Turn, call: str, tool: str, given: Mapping[str, Any], *, writes: bool, words: str = "", patch: str = ""
) -> None:
    """Add a tool call to a turn.

    `call`: its id, as used by its result; `given`: its input; `writes`: whether it edits the file in it; `words`: the
    input as text, unless that follows from it; `patch`: an `apply_patch` text in it.
    """
    path = input_path(given)
    edit = None
    if patch:
        edit = Edit(path, tuple(patches.written(patch)), patches.from_apply_patch(patch)[:_PATCH_CHARACTERS])
    elif writes and path:
        edit = Edit(path, (), patches.from_tool_input(path, given)[:_PATCH_CHARACTERS])
    plan = ""
    if tool in _PLANS:
        items, text = _PLANS[tool]
        plan = "\n".join(filter(None, (as_text(given.get("explanation")), _plan(given.get(items), text))))
    turn.use(call, tool, plan or words or input_text(given), path, edit)
    turn.intend(as_text(given.get("plan")) if tool == "ExitPlanMode" else plan)


def input_text(given: Mapping[str, Any]) -> str:
    """Return a tool's input as one text, with the parts relevant to a user."""
    for name in _GIVEN:
        value = given.get(name)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            # A command as a list of words; a shell's is its last one.
            return as_text(value[-1] if len(value) == 3 and value[1] in {"-c", "-lc"} else " ".join(value))
        if isinstance(value, str) and value.strip():
            return as_text(value[:_GIVEN_CHARACTERS])
    if not given:
        return ""
    short = {
        str(name)[:100]: value[:500] if isinstance(value, str) else value for name, value in list(given.items())[:20]
    }
    try:
        return as_text(json.dumps(short, ensure_ascii=False))[:_GIVEN_CHARACTERS]
    except (TypeError, ValueError, RecursionError):
        return ""


def input_path(given: Mapping[str, Any]) -> str:
    """Return the file that a tool is about; empty where it is about none."""
    return next((as_text(given[name]) for name in _PATHS if isinstance(given.get(name), str)), "")


def patch_among(values: Iterable[object]) -> str:
    """Return the `apply_patch` text in the first of some values that has one; empty: none has."""
    text = next((as_text(value) for value in values if isinstance(value, str) and patches.BEGIN in value), "")
    inside = text[max(0, text.find(patches.BEGIN)) :].partition(patches.END)[0]
    return inside if "\n" in inside else inside.replace("\\n", "\n")


def _plan(items: object, text: str) -> str:
    """Return a to-do list as text. `items`: records with a status; `text`: name of the field with the text."""
    marks = {"completed": "x", "in_progress": "~"}
    rows = [as_record(item) for item in as_list(items)[:100]]
    return "\n".join(f"- [{marks.get(as_text(row.get('status')), ' ')}] {as_text(row.get(text))}" for row in rows)
