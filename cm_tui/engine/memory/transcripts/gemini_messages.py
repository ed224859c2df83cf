"""Messages of Gemini CLI: thoughts, answers and tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cm_tui.engine.memory.transcripts import patches
from cm_tui.engine.memory.transcripts.lines import as_count, as_list, as_record, as_text
from cm_tui.engine.memory.transcripts.transcript import given_path, given_words, parse_time, plan_of
from cm_tui.engine.memory.transcripts.turn import Turn

_WRITERS = frozenset({"write_file", "replace"})
_ENDED = frozenset({"success", "error", "cancelled"})
_EXIT = re.compile(r"^Exit Code: (-?\d{1,5})$", re.MULTILINE)


def text_of(content: object) -> str:
    """Return the text of a message: a text, a part, or a list of both; without thoughts."""
    parts = content if isinstance(content, list) else [content]
    texts = (part if isinstance(part, str) else as_record(part) for part in parts)
    return "".join(
        as_text(one) if isinstance(one, str) else "" if one.get("thought") is True else as_text(one.get("text"))
        for one in texts
    )


def tool_calls(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the calls of tools in a message."""
    yield from (as_record(call) for call in as_list(message.get("toolCalls")))


def work(turn: Turn, message: Mapping[str, Any]) -> None:
    """Add the steps in a message to a turn."""
    turn.at(parse_time(message.get("timestamp")))
    for found in as_list(message.get("thoughts")):
        thought = as_record(found)
        turn.think("\n".join(filter(None, (as_text(thought.get("subject")), as_text(thought.get("description"))))))
    turn.say(text_of(message.get("content")))
    for call in tool_calls(message):
        _use(turn, call)
    tokens = as_record(message.get("tokens"))
    if tokens:
        fresh = as_count(tokens.get("input")) - as_count(tokens.get("cached"))
        spent = as_count(tokens.get("output")) + as_count(tokens.get("thoughts"))
        turn.spend(as_text(message.get("id")), max(0, fresh) + spent)


def _use(turn: Turn, call: Mapping[str, Any]) -> None:
    tool, given, id_ = as_text(call.get("name")), as_record(call.get("args")), as_text(call.get("id"))
    path, status = given_path(given), as_text(call.get("status"))
    turn.at(parse_time(call.get("timestamp")))
    turn.use(id_, tool, given_words(given), path)
    if tool == "write_todos":
        turn.intend(plan_of(given.get("todos"), "description"))
    if status not in _ENDED:
        # It may have been written before the session ended.
        turn.write(path if tool in _WRITERS else "")
        return
    text = _result(call)
    code = _EXIT.search(text)
    failed = status != "success" or (code is not None and code[1] != "0")
    turn.get(id_, text, failed=failed)
    if tool in _WRITERS and path and not failed:
        turn.write(path)
        turn.patch.add(_patch(path, given, as_record(call.get("resultDisplay"))))


def _result(call: Mapping[str, Any]) -> str:
    """Return a tool's output, as sent to the model, else as displayed."""
    result = call.get("result")
    parts = result if isinstance(result, list) else [result]
    answers = (as_record(as_record(as_record(part).get("functionResponse")).get("response")) for part in parts)
    texts = [as_text(one.get("output")) or as_text(one.get("error")) for one in answers]
    return "\n".join(filter(None, texts)) or text_of(result) or as_text(call.get("resultDisplay"))


def _patch(path: str, given: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    if diff := patches.from_diff(path, as_text(shown.get("fileDiff"))):
        return diff
    if content := as_text(given.get("content")):
        return patches.from_new_file(path, content)
    return patches.from_replacement(path, as_text(given.get("old_string")), as_text(given.get("new_string")))
