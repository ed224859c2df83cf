"""Each prompt in a transcript is in an episode, waits, or stands in a file that a note names: by a reader of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import ImportSummary
from tests.engine.importers.conftest import Machine
from tests.engine.importers.test_odd_values import _records
from tests.engine.importers.test_streams import WHOLE
from tests.engine.importers.test_unanswered import QUEUES, shown
from tests.engine.importers.transcripts import Claude, Codex, Copilot, Cursor, Gemini, iso, write_lines

_PUT_AROUND = re.compile(r"<system-reminder>.*?</system-reminder>")
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_NOT_TYPED = re.compile(r"\s*(?:<(?!command-message>)|Caveat:|\[Request interrupted)")


def prompts_in(record: dict[str, Any]) -> Iterator[str]:
    """What a person typed, in a record of any agent: as simply as it can be read."""
    kind, payload, message = record.get("type"), record.get("payload"), record.get("message")
    data = record.get("data", {})
    if kind == "event_msg" and payload["type"] == "user_message":
        yield payload["message"]
    elif kind == "message" and record.get("role") == "user":
        yield "".join(part["text"] for part in record["content"])
    elif kind == "user.message" and not data.get("source") and not data.get("isAutopilotContinuation"):
        yield data["content"]
    elif record.get("role") == "user":
        yield from (text for part in message["content"] for text in _QUERY.findall(part["text"]))
    elif kind == "user" and "id" in record:
        shown = record.get("displayContent") or record["content"]
        yield from (part["text"] for part in shown if "text" in part and not part["text"].startswith(("/", "?")))
    elif kind == "queue-operation" and record["operation"] == "enqueue":
        yield record["content"]
    elif kind == "user" and not record.get("isMeta") and not record.get("isCompactSummary"):
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        yield from (part["text"] for part in parts if "text" in part)


def typed(texts: Iterator[str]) -> list[str]:
    """The same without what a program put around it."""
    found = (_PUT_AROUND.sub("", text).strip() for text in texts)
    return [text for text in found if text and not _NOT_TYPED.match(text)]


def raw_prompts(machine: Machine) -> dict[Path, list[str]]:
    """The prompts of all transcripts, by their files."""
    found: dict[Path, list[str]] = {}
    for file in (file for place in _places(machine) for file in place.rglob("*.jsonl")):
        records = [json.loads(line) for line in file.read_text().splitlines()]
        found[file] = typed(text for record in records for text in prompts_in(record))
    for file in machine.data.rglob("message/*/*.json"):
        if json.loads(file.read_text())["role"] == "user":
            parts = [json.loads(part.read_text()) for part in (file.parents[2] / "part" / file.stem).glob("*.json")]
            found[file] = typed(part["text"] for part in parts if part["type"] == "text" and not part.get("synthetic"))
    return found


def kept_prompts(machine: Machine) -> set[str]:
    return {prompt for record in machine.episodes() for prompt in record.prompts}


def check(machine: Machine, done: ImportSummary) -> None:
    kept, notes = kept_prompts(machine), "\n".join(done.notes)
    # Several that waited are given at once.
    kept |= {line for prompt in kept for line in prompt.split("\n")}
    for file, prompts in raw_prompts(machine).items():
        lost = [text for text in prompts if text not in kept]
        waits = done.waiting > 0 and set(lost) == set(prompts[-len(lost) :])
        assert not lost or str(file) in notes or waits, (file, lost)


# --- transcripts ---


def _claude(machine: Machine) -> tuple[Claude, list[dict[str, Any]]]:
    one = Claude(machine.claude, machine.root)
    path = f"{machine.root}/shop/money.py"
    return one, [
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        one.asked("<command-name>/model</command-name>"), one.asked("<local-command-stdout>set</local-command-stdout>"),
        one.asked("<system-reminder>be kind</system-reminder>Round the tax"), one.asked("Caveat: of a program", isMeta=True),
        one.used("Edit", {"file_path": path, "old_string": "x", "new_string": "y"}, "e"),
        {"type": "queue-operation", "operation": "enqueue", "content": "The parser first"}, one.got("e", "done"),
        {"type": "queue-operation", "operation": "remove", "content": "The parser first"},
        one.used("Bash", {"command": "pytest"}, "b"), one.got("b", "boom", failed=True), one.said("It rounds."),
        {"type": "system", "subtype": "turn_duration"},
        one.asked("What about this?"), one.asked("[Request interrupted by user]"),
        one.asked("Look around"), one.said("API Error: 529", isApiErrorMessage=True),
        one.asked("Once more"), one.asked("Please"), one.said("Here it is."),
        {"type": "queue-operation", "operation": "enqueue", "content": "And the lexer"}, {"type": "queue-operation", "operation": "dequeue"},
        one.asked("And the lexer"), one.said("I look.", over=False), {"type": "hologram", "sessionId": one.session},
        one.asked("This session is being continued …", isCompactSummary=True), one.asked("Thanks, go on"),
    ]  # fmt: skip


def _codex(machine: Machine) -> tuple[Codex, list[dict[str, Any]]]:
    one = Codex(machine.codex, machine.root)
    return one, [
        one.meta(), one.message("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"), *one.turn("First", "One."),
        one.event("task_started", turn_id="b"), one.message("user", "Second"), one.event("user_message", message="Second"), one.event("turn_aborted", reason="interrupted"),
        one.event("user_message", message="Second, again"), one.event("error", message="Overloaded"),
        one.event("task_started", turn_id="c"), one.event("user_message", message="Third"), one.event("user_message", message="Third, more of it"),
        one.event("token_count", info=None), one.event("agent_message", message="Three."), one.event("task_complete", turn_id="c"),
        one.event("task_started", turn_id="d"), one.event("user_message", message="Fourth"),
        one.item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="1"), one.event("user_message", message="Fifth"),
    ]  # fmt: skip


def _flat(machine: Machine) -> tuple[Codex, list[dict[str, Any]]]:
    one = Codex(machine.codex, machine.root)

    def asked(text: str) -> dict[str, Any]:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    return one, [
        {"id": one.session, "timestamp": iso(0), "git": {}}, {"record_type": "state"}, asked(f"<environment_context>\n<cwd>{machine.root}</cwd>\n</environment_context>"),
        asked("List the files"), {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "a.py"}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a.py"}]},
        asked("Now sort them"), asked("By size"),
    ]  # fmt: skip


def _gemini(machine: Machine) -> tuple[Gemini, list[dict[str, Any]]]:
    one = Gemini(machine.gemini, machine.root)
    path = f"{machine.root}/shop/money.py"
    first = one.said("I look.")
    return one, [
        one.meta(), one.asked("<session_context>of the program</session_context>"), one.asked("Round the tax"), first,
        {**first, "toolCalls": [one.call("replace", {"file_path": path, "old_string": "x", "new_string": "y"}, status="executing")]},
        {**first, "toolCalls": [one.call("replace", {"file_path": path, "old_string": "x", "new_string": "y"})]},
        {"$set": {"lastUpdated": iso(5)}},
        one.message("user", [{"functionResponse": {"id": "r", "name": "replace", "response": {"output": "ok"}}}]),
        one.said("It rounds."), one.asked("/stats"), one.asked("All of @money.py", displayContent=[{"text": "All of it"}]),
        one.message("error", "overloaded"), one.asked("Once more"), one.asked("Please"), one.said("Here it is."),
        {"$set": {"messages": [one.asked("<state_snapshot>short</state_snapshot>"), one.said("Got it.")]}},
        {"$set": {"summary": "Rounding"}}, one.asked("Thanks, go on"), {"$hologram": 1}, one.asked("And the lexer"),
    ]  # fmt: skip


def _cursor(machine: Machine) -> tuple[Cursor, list[dict[str, Any]]]:
    one = Cursor(machine.cursor, machine.root)
    return one, [
        *one.turn("First", "One."), one.asked("Second"), one.said("", ("Write", {"path": "shop/tax.py", "contents": "y"})),
        one.said("Two."), one.ended("aborted", error="User aborted"), one.asked("Third"), one.asked("Third, more of it"),
        one.said("Three."), one.asked("Fourth"), {"type": "hologram"}, one.ended("error", error="limit"), one.asked("Fifth"),
    ]  # fmt: skip


def _copilot(machine: Machine) -> tuple[Copilot, list[dict[str, Any]]]:
    one = Copilot(machine.copilot, machine.root)
    return one, [
        one.start(), one.asked("use this skill", source="skill-pdf"), one.asked("Round the tax"), one.event("assistant.turn_start", turnId="0"),
        one.said("I look."), one.used("edit", {"path": f"{machine.root}/shop/money.py", "old_str": "x", "new_str": "y"}, "e"),
        one.got("e", "edited"), one.event("subagent.started", toolCallId="t", agentName="explore"),
        one.said("Found it.", parentToolCallId="t"), one.said("It rounds."), one.event("session.idle"),
        one.asked("And?"), one.event("abort", reason="user_initiated"), one.asked("Look around"),
        one.event("session.error", errorType="x", message="overloaded"), one.asked("Once more"), one.asked("Please"), one.said("Here it is."),
        one.event("session.shutdown"), one.event("session.resume", context={"cwd": str(machine.root)}),
        one.event("hologram.shown"), one.asked("go on", isAutopilotContinuation=True), one.said("Going on."), one.asked("Thanks"),
    ]  # fmt: skip


LINES: dict[str, Callable[[Machine], tuple[Claude | Codex | Gemini | Cursor | Copilot, list[dict[str, Any]]]]] = {
    "claude-code": _claude, "codex": _codex, "codex, flat": _flat, "gemini": _gemini, "cursor": _cursor, "copilot": _copilot,
}  # fmt: skip


def _places(machine: Machine) -> tuple[Path, ...]:
    return machine.claude, machine.codex, machine.gemini, machine.cursor, machine.copilot


def _clear(machine: Machine) -> None:
    for folder in (*_places(machine), machine.data, Journal.of(machine.root).folder):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.few(6)
@pytest.mark.parametrize("is_quiet", [True, False])
@pytest.mark.parametrize("name", LINES)
def test_a_session_that_ends_behind_any_record_loses_no_prompt(machine: Machine, name: str, is_quiet: bool):
    one, records = LINES[name](machine)
    for end in range(1, len(records) + 1):
        _clear(machine)
        one.file.unlink(missing_ok=True)
        one.write(records[:end], old=is_quiet)
        check(machine, machine.run())


@pytest.mark.parametrize("name", LINES)
def test_a_session_that_is_imported_behind_each_record_loses_no_prompt_and_shows_none_twice(
    machine: Machine, name: str
):
    one, records = LINES[name](machine)
    for record in records:
        one.write([record])
        check(machine, machine.run())
    alone = [prompts for prompts, _, outcome in shown(machine) if outcome == "unanswered"]
    answered = [prompts for prompts, _, outcome in shown(machine) if outcome != "unanswered"]
    assert not [prompts for prompts in alone if prompts in answered]


@pytest.mark.parametrize("form", ["files", "oldest"])
@pytest.mark.parametrize("is_quiet", [True, False])
def test_a_session_of_opencode_that_ends_behind_any_message_loses_no_prompt(
    machine: Machine, form: str, is_quiet: bool
):
    _, _, _, _, one = _records(machine)
    one.message(
        "ses_a", "user", [{"type": "text", "text": "Second"}, {"type": "text", "text": "injected", "synthetic": True}]
    )
    one.message("ses_a", "user", [{"type": "text", "text": "Second, more of it"}])
    one.message("ses_a", "assistant", [], error={"name": "MessageAbortedError", "data": {}})
    one.turn(one.session("ses_b", parentID="ses_a"), "Survey", "Surveyed.")
    one.message("ses_b", "user", [{"type": "text", "text": "Go on"}])
    messages = one.messages
    for end in range(1, len(messages) + 1):
        _clear(machine)
        one.messages = messages[:end]
        one.write_files(oldest=form == "oldest")
        for folder in () if is_quiet else machine.data.rglob("message/*"):
            os.utime(folder, (time.time(), time.time()))
        check(machine, machine.run())


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "copilot"])
def test_no_prompt_is_lost_to_how_lines_are_written(machine: Machine, agent: str):
    """Also the last one, which nothing follows."""
    make = {"claude": Claude, "codex": Codex, "gemini": Gemini, "copilot": Copilot}[agent]
    for name, written in WHOLE.items():
        _clear(machine)
        one = make(getattr(machine, agent), machine.root)
        if isinstance(one, Gemini):
            one.name_project()
        head = [one.start()] if isinstance(one, Copilot) else [] if isinstance(one, Claude) else [one.meta()]
        last = one.event("user_message", message="Second 上") if isinstance(one, Codex) else one.asked("Second 上")
        records = [*head, *one.turn("First 上", "One."), last]
        lines = [json.dumps(record, ensure_ascii=False).encode() for record in records]
        write_lines(one.file, [written(lines)])
        machine.run()
        assert kept_prompts(machine) == {"First 上", "Second 上"}, name


@pytest.mark.parametrize("name", [name for name in QUEUES if "taken back" not in name])
def test_no_prompt_of_the_queue_is_lost(machine: Machine, name: str):
    one = Claude(machine.claude, machine.root)
    records = QUEUES[name][0](one)
    for end in range(1, len(records) + 1):
        _clear(machine)
        one.write(records[:end])
        check(machine, machine.run())


def test_no_prompt_of_very_different_sessions_on_one_machine_is_lost(machine: Machine):
    """With sub-agents, a fork, and files that cannot be read."""
    claude, of_claude, codex, of_codex, other = _records(machine)
    claude.write(of_claude)
    codex.write(of_codex)
    other.write_files()
    child = Codex(machine.codex, machine.root, "33333333-cccc-4ccc-8ccc-333333333333")
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": codex.session}}}
    child.write(
        [
            child.meta(source=spawn),
            *child.turn("Inspect", "Inspected."),
            child.event("user_message", message="And then"),
        ]
    )
    side = Claude(machine.claude, machine.root)
    side.file = claude.file.parent / claude.session / "subagents" / "agent-web1.jsonl"
    side.side = {"isSidechain": True, "agentId": "web1"}
    side.write([side.asked("Survey the web")])
    bad = Codex(machine.codex, machine.root, "44444444-cccc-4ccc-8ccc-444444444444")
    bad.write(bad.turn("Without a beginning", "No."))
    odd = Claude(machine.claude, machine.root, "odd")
    odd.write([{"type": "user", "message": {"role": "user", "content": "Of another program"}}])
    done = machine.run()
    check(machine, done)
    assert (done.looked_at.total, done.looked_at.here, done.looked_at.unread) == (7, 5, 2)
    assert done.waiting == 0
