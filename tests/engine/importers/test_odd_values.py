"""Any JSON value may stand anywhere in a transcript: it costs that record at most, and never the others."""

from __future__ import annotations

import random
import shutil
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.importers.details import with_details
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.transcripts import claude_code
from tests.engine.importers.conftest import Machine
from tests.engine.importers.test_bad_input import ANY
from tests.engine.importers.transcripts import Claude, Codex, OpenCode
from tests.tiers import examples


def _records(machine: Machine) -> tuple[Claude, list[Any], Codex, list[Any], OpenCode]:
    claude, codex = Claude(machine.claude, machine.root), Codex(machine.codex, machine.root)
    path = f"{machine.root}/shop/money.py"
    of_claude = [
        claude.asked("First"), claude.used("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "e"),
        claude.got("e", "edited", toolUseResult={"structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}]}),
        claude.used("TodoWrite", {"todos": [{"content": "do it", "status": "completed"}]}, "t"), claude.got("t", "ok"),
        claude.asked("Aside", isSidechain=True, agentId="a1"), claude.said("Done.", isSidechain=True, agentId="a1"),
        {"type": "system", "subtype": "turn_duration"}, {"type": "queue-operation", "operation": "remove", "content": "more"},
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "and"}},
        {"type": "custom-title", "customTitle": "Name"}, claude.said("Done."), *claude.turn("Second", "Two."),
    ]  # fmt: skip
    of_codex = [
        codex.meta(git={"commit_hash": "a" * 40, "repository_url": "git@x:y.git"}, source={"subagent": {"thread_spawn": {}}}),
        *codex.turn("First", "One."), codex.event("token_count", info={"last_token_usage": {"input_tokens": 5}}),
        codex.item("function_call", name="shell", call_id="c", arguments='{"command": ["ls"]}'),
        codex.item("function_call_output", call_id="c", output={"output": "x", "metadata": {"exit_code": 1}}),
        codex.item("function_call", name="update_plan", call_id="p", arguments={"plan": [{"step": "do it", "status": "pending"}]}),
        codex.item("reasoning", summary=[{"text": "hm"}]), codex.event("turn_aborted", reason="interrupted"), *codex.turn("Second", "Two."),
    ]  # fmt: skip
    other = OpenCode(machine.data, machine.root)
    name = other.session("ses_a")
    other.turn(name, "First", "One.")
    state = {
        "status": "completed",
        "input": {"filePath": path, "content": "x = 2"},
        "metadata": {"exit": 0, "diff": "@@ -1 +1 @@\n-a\n+b"},
    }
    other.message(
        name,
        "assistant",
        [{"type": "tool", "tool": "write", "callID": "w", "state": state}, {"type": "patch", "files": [path]}],
    )
    other.message(name, "assistant", [], error={"name": "Oops", "data": {"message": "no"}})
    return claude, of_claude, codex, of_codex, other


def _places(value: Any) -> list[tuple[Any, Any]]:
    """All places below a value: what holds each, and its name there."""
    found: list[tuple[Any, Any]] = []
    names = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for name in names:
        found += [(value, name), *_places(value[name])]
    return found


_made: list[Machine] = []


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(ANY, min_size=3, max_size=12), seed=st.integers(0, 2**16))
def test_any_value_in_any_place_is_read(tmp_path_factory: pytest.TempPathFactory, values: list[Any], seed: int):
    machine = _made[0] if _made else Machine(tmp_path_factory.mktemp("machine"))
    _made[:] = [machine]
    for folder in (machine.claude, machine.codex, machine.data, machine.transcripts().state.folder):
        shutil.rmtree(folder, ignore_errors=True)
    claude, of_claude, codex, of_codex, other = _records(machine)
    chance = random.Random(seed)
    for number, value in enumerate(values):
        wholes = (of_claude[1:], of_codex[1:], [list(one) for one in other.messages])
        # Files of OpenCode are called by their ids.
        names = {"id", "sessionID"} if number % 3 == 2 else ()
        places = [place for place in _places(wholes[number % 3]) if place[1] not in names]
        holder, name = chance.choice(places)
        if not (number % 3 == 2 and isinstance(holder, list) and any(holder is one for one in wholes[2])):
            holder[name] = value
    claude.write(of_claude)
    codex.write(of_codex)
    other.write_files()
    notes = machine.run().notes
    assert notes == ()
    assert machine.run().transcripts == 0


@pytest.mark.parametrize("odd", [["x"], {"a": 1}, 9e999, None, True, 10**300, "abc"])
def test_one_odd_value_costs_no_other_transcript(machine: Machine, odd: Any):
    claude, of_claude, codex, of_codex, other = _records(machine)
    of_claude[-1]["message"]["stop_reason"] = odd
    of_claude[3]["message"]["content"].append({"type": odd})
    of_claude[7]["subtype"] = odd
    call = next(record for record in of_codex if record["payload"].get("type") == "function_call_output")
    call["payload"]["output"]["metadata"]["exit_code"] = odd
    for info, parts in other.messages:
        info["finish"] = odd
        parts.append({"type": odd, "state": {"status": odd, "metadata": {"exit": odd}}})
    claude.write(of_claude)
    codex.write(of_codex)
    other.write_database()
    done = machine.run()
    assert done.notes == ()
    assert {"First", "Second"} <= set(machine.prompts())
    assert {record.agent for record in machine.episodes()} == {"claude-code", "codex", "opencode"}


@pytest.mark.parametrize("odd", ["abc", 9e999, b"\xff", "9" * 400])
def test_a_time_of_a_database_that_is_none_hides_no_session(machine: Machine, odd: Any):
    import sqlite3

    other = OpenCode(machine.data, machine.root)
    other.turn(other.session("ses_a"), "First", "One.")
    with sqlite3.connect(other.write_database()) as db:
        db.execute("UPDATE session SET time_updated = ?", [odd])
    db.close()
    machine.run()
    assert machine.prompts() == ["First"]


def test_a_failure_in_one_transcript_is_told_and_keeps_what_was_read(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    bad, good = Claude(machine.claude, machine.root), Codex(machine.codex, machine.root)
    file = bad.write([*bad.turn("Before", "One."), *bad.turn("Behind", "Two.")])
    good.clock = 500
    good.write([good.meta(), *good.turn("Good", "Yes.")])
    usual = claude_code.ClaudeCode.read

    def broken(self: Any, transcript: Any, facts: Any, resume: Any) -> Any:
        yield next(usual(self, transcript, facts, resume))
        raise ValueError("not thought of")

    with monkeypatch.context() as context:
        context.setattr(claude_code.ClaudeCode, "read", broken)
        done = machine.run()
    assert machine.prompts() == ["Before", "Good"]
    assert done.notes == (f"{file} could not be read: ValueError ('not thought of')",)
    machine.run()
    assert sorted(machine.prompts()) == ["Before", "Behind", "Good"]


def test_the_details_of_a_turn_survive_odd_values(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(machine.claude))
    one = Claude(machine.claude, machine.root)
    one.write([one.asked("First"), {**one.said("One."), "message": {"stop_reason": ["x"], "content": [{"type": []}]}}])
    record = EpisodeRecord(
        agent="claude-code", session=one.session, prompts=("First",), root=str(machine.root), answer="One."
    )
    assert with_details(record).answer == "One."
