"""Codex's tool calls: input and output, and the edits among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cm_tui.engine.memory.transcripts import patches
from cm_tui.engine.memory.transcripts.lines import as_number, as_record, as_text, parse_json
from cm_tui.engine.memory.transcripts.transcript import given_path, given_words, plan_of, texts_of
from cm_tui.engine.memory.transcripts.turn import Turn

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_EXIT = re.compile(r"(?:exit(?:ed with)? code:?|exit_code\"?:) *(-?\d{1,5})", re.IGNORECASE)
_SCRIPT_CALL = re.compile(r"\btools\.exec_command\(")
_SCRIPT_COMMAND = re.compile(r'\btools\.exec_command\(\s*\{[^{}]*?\bcmd"?\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")')
_LONGEST_SCRIPT = 20_000
_OPEN_PATCHES = 100
"""Patches whose results are waited for."""


class Calls:
    """The tools of one session, by the ids of their calls."""

    def __init__(self) -> None:
        self._patches: dict[str, str] = {}
        """Edits whose success is not known yet."""

    def begin(self, turn: Turn, kind: str, payload: Mapping[str, Any]) -> None:
        """Add the use of a tool."""
        call = as_text(payload.get("call_id") or payload.get("id"))
        name = as_text(payload.get("name")) or kind.removesuffix("_call")
        raw = payload.get("arguments") if "arguments" in payload else payload.get("input", payload.get("action"))
        parsed = parse_json(raw.encode("utf-8", "replace")) if isinstance(raw, str) else raw
        given = as_record(parsed) or ({"command": as_text(raw)} if isinstance(raw, str) else {})
        words = given_words(given)
        if name == "exec" and isinstance(raw, str) and (lines := _commands_of_script(raw)):
            name, words = "exec_command", lines
        turn.use(call, name, words, given_path(given))
        if name == "update_plan":
            turn.intend(
                "\n".join(filter(None, (as_text(given.get("explanation")), plan_of(given.get("plan"), "step"))))
            )
        patch = next((as_text(value) for value in (given.get("input"), given.get("patch"), raw, words)
                      if isinstance(value, str) and "*** Begin Patch" in value), "")  # fmt: skip
        if patch:
            inside = patch[patch.find("*** Begin Patch") :].partition("*** End Patch")[0]
            self._patches[call] = inside if "\n" in inside else inside.replace("\\n", "\n")
            if len(self._patches) > _OPEN_PATCHES:
                self._patches.pop(next(iter(self._patches)))

    def end(self, turn: Turn, payload: Mapping[str, Any]) -> None:
        """Add the output; an edit counts when it succeeded."""
        call, output = as_text(payload.get("call_id")), payload.get("output")
        told = (
            parse_json(output.encode("utf-8", "replace"))
            if isinstance(output, str) and output.startswith("{")
            else output
        )
        record = as_record(told)
        code = as_number(as_record(record.get("metadata")).get("exit_code"))
        text = as_text(record.get("output") or record.get("content")) or texts_of(output)
        found = _EXIT.search(text[:400]) if code is None else None
        failed = code not in {None, 0} or (found is not None and found[1] != "0") or record.get("success") is False
        turn.get(call, text, failed=failed)
        patch = self._patches.pop(call, "")
        if patch and not failed:
            _write(turn, patch)
            turn.patch.add(patches.from_apply_patch(patch))

    def leave(self, turn: Turn) -> None:
        """Note the files of edits whose results are missing: they may have been written."""
        for call, patch in self._patches.items():
            if turn.waits_for(call):
                _write(turn, patch)


def _commands_of_script(script: str) -> str:
    """Return the commands in a JavaScript of the tool `exec`, one per line; empty if one is not literal."""
    short = script[:_LONGEST_SCRIPT]
    found = [parse_json(one.encode("utf-8", "replace")) for one in _SCRIPT_COMMAND.findall(short)]
    lines = [one for one in found if isinstance(one, str) and one.strip()]
    return as_text("\n".join(lines)) if len(lines) == len(_SCRIPT_CALL.findall(short)) else ""


def _write(turn: Turn, patch: str) -> None:
    for path in patches.written(patch):
        turn.write(path)
