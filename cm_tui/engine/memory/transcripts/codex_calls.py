"""Codex's tool calls: input and output, and the edits among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cm_tui.engine.memory.transcripts.lines import as_number, as_record, as_text, parse_json
from cm_tui.engine.memory.transcripts.tools import given_words, patch_among, use_tool
from cm_tui.engine.memory.transcripts.transcript import texts_of
from cm_tui.engine.memory.transcripts.turn import Turn

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_EXIT = re.compile(r"(?:exit(?:ed with)? code:?|exit_code\"?:) *(-?\d{1,5})", re.IGNORECASE)
_SCRIPT_CALL = re.compile(r"\btools\.exec_command\(")
_SCRIPT_COMMAND = re.compile(r'\btools\.exec_command\(\s*\{[^{}]*?\bcmd"?\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")')
_LONGEST_SCRIPT = 20_000


def begin_call(turn: Turn, kind: str, payload: Mapping[str, Any]) -> None:
    """Add the use of a tool."""
    name = as_text(payload.get("name")) or kind.removesuffix("_call")
    raw = payload.get("arguments") if "arguments" in payload else payload.get("input", payload.get("action"))
    parsed = _parsed(raw) if isinstance(raw, str) else raw
    given = as_record(parsed) or ({"command": as_text(raw)} if isinstance(raw, str) else {})
    words = given_words(given)
    if name == "exec" and isinstance(raw, str) and (lines := _commands_of_script(raw)):
        name, words = "exec_command", lines
    patch = patch_among((given.get("input"), given.get("patch"), raw, words))
    call = as_text(payload.get("call_id") or payload.get("id"))
    use_tool(turn, call, name, given, writes=False, words=words, patch=patch)


def end_call(turn: Turn, payload: Mapping[str, Any]) -> None:
    """Add the output of a tool."""
    output = payload.get("output")
    record = as_record(_parsed(output) if isinstance(output, str) and output.startswith("{") else output)
    code = as_number(as_record(record.get("metadata")).get("exit_code"))
    text = as_text(record.get("output") or record.get("content")) or texts_of(output)
    found = _EXIT.search(text[:400]) if code is None else None
    failed = code not in {None, 0} or (found is not None and found[1] != "0") or record.get("success") is False
    turn.get(as_text(payload.get("call_id")), text, failed=failed)


def _parsed(text: str) -> Any:
    return parse_json(text.encode("utf-8", "replace"))


def _commands_of_script(script: str) -> str:
    """Return the commands in a JavaScript of the tool `exec`, one per line; empty if one is not literal."""
    short = script[:_LONGEST_SCRIPT]
    found = [_parsed(one) for one in _SCRIPT_COMMAND.findall(short)]
    lines = [one for one in found if isinstance(one, str) and one.strip()]
    return as_text("\n".join(lines)) if len(lines) == len(_SCRIPT_CALL.findall(short)) else ""
