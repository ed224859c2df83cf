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

from cm_tui.engine.journal.journal import Journal
from cm_tui.model import ImportSummary
from tests.engine.importers.conftest import Machine
from tests.engine.importers.test_odd_values import _records
from tests.engine.importers.test_streams import WHOLE
from tests.engine.importers.test_unanswered import QUEUES, shown
from tests.engine.importers.transcripts import Claude, Codex, iso, write_lines

_PUT_AROUND = re.compile(r"<system-reminder>.*?</system-reminder>")
_NOT_TYPED = re.compile(r"\s*(?:<(?!command-message>)|Caveat:|\[Request interrupted)")


def prompts_in(record: dict[str, Any]) -> Iterator[str]:
    """What a person typed, in a record of Claude Code or Codex: as simply as it can be read."""
    kind, payload, message = record.get("type"), record.get("payload"), record.get("message")
    if kind == "event_msg" and payload["type"] == "user_message":
        yield payload["message"]
    elif kind == "message" and record.get("role") == "user":
        yield "".join(part["text"] for part in record["content"])
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
    for file in [*machine.claude.rglob("*.jsonl"), *machine.codex.rglob("*.jsonl")]:
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


LINES: dict[str, Callable[[Machine], tuple[Claude | Codex, list[dict[str, Any]]]]] = {
    "claude-code": _claude, "codex": _codex, "codex, flat": _flat,
}  # fmt: skip


def _clear(machine: Machine) -> None:
    for folder in (machine.claude, machine.codex, machine.data, Journal.of(machine.root).folder):
        shutil.rmtree(folder, ignore_errors=True)


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


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_no_prompt_is_lost_to_how_lines_are_written(machine: Machine, agent: str, name: str):
    """Also the last one, which nothing follows."""
    one: Claude | Codex = (Claude if agent == "claude-code" else Codex)(*_place(machine, agent))
    records = [*([one.meta()] if isinstance(one, Codex) else ()), *one.turn("First 上", "One.")]
    records.append(one.event("user_message", message="Second 上") if isinstance(one, Codex) else one.asked("Second 上"))
    lines = [json.dumps(record, ensure_ascii=False).encode() for record in records]
    write_lines(one.file, [WHOLE[name](lines)])
    machine.run()
    assert kept_prompts(machine) == {"First 上", "Second 上"}


def _place(machine: Machine, agent: str) -> tuple[Path, Path]:
    return machine.claude if agent == "claude-code" else machine.codex, machine.root


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
