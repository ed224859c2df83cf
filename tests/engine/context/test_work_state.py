"""Where a session stopped, from transcripts that were compacted: request, decision, file and failing command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.context.packs.budget import tokens
from cm_tui.engine.context.packs.work_brief import TOKENS, work_brief
from cm_tui.engine.context.packs.work_state import RECENT_S, last_turns, under_way, work_state
from cm_tui.engine.memory.episodes.episode_index import EpisodeIndex
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.narrator.turn import Turn
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal import segment
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import EpisodeEdit, Step, WorkState
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude, Codex, OpenCode
from tests.planted import GITHUB

NOW = 1_800_000_000.0
SUMMARY = (
    "This session is being continued from a previous conversation that ran out of context. We decided to drop it all."
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class Case:
    """One session as it is generated: what has to be in the block."""

    def __init__(self, number: int, request: str, decision: str, file: str, command: str, output: str) -> None:
        self.number, self.request, self.decision = number, request, decision
        self.file, self.command, self.output = file, command, output

    @property
    def session(self) -> str:
        return f"{self.number:08}-aaaa-4aaa-8aaa-111111111111"


SESSIONS = [
    Case(1, "Round the totals of a cart half up", "We decided to keep amounts in integer cents.", "shop/money.py",
         "pytest -q tests/test_money.py", "E   assert 119 == 120\n1 failed in 0.1s"),
    Case(2, "Add retries to the payment client", "Decision: retries live in the client, not in the job.", "shop/client.py",
         "npm test", "TypeError: fetch is not a function\n    at client.ts:4"),
    Case(3, "Port the importer to the streaming parser", "Let's go with the streaming parser for all files.", "shop/importer.py",
         "cargo build", "error[E0425]: cannot find value `row` in this scope"),
    Case(4, "Fix the flaky login test", "Never sleep in a test, always wait for a condition.", "tests/test_login.py",
         "go test ./...", "panic: runtime error: index out of range [3] with length 3"),
    Case(5, "Write the migration for the orders table", "We settled on UUIDs as primary keys.", "shop/migrations/7.sql",
         "make migrate", 'psycopg2.errors.DuplicateTable: relation "orders" already exists'),
    Case(6, "Replace the YAML settings by TOML", "We agreed on TOML for every settings file.", "shop/settings.toml",
         "python -m shop.check", "ModuleNotFoundError: No module named 'tomlkit'"),
    Case(7, "Speed up the search of products", "From now on queries go through the read replica.", "shop/search.py",
         "just bench", "error: Recipe `bench` failed on line 3 with exit code 1"),
    Case(8, "Translate the receipts to German", "We won't use gettext, it is overkill.", "shop/receipt.py",
         "ruff check .", "shop/receipt.py:3:1: F401 `os` imported but unused\nFound 1 error."),
    Case(9, "Cache the prices of a day", "The team decided that the cache lives in Redis.", "shop/prices.py",
         "docker compose up -d redis", "Error response from daemon: port is already allocated"),
    Case(10, "Log each refund with its reason", "Always log the id of the refund, never the card number.", "shop/refund.py",
         "mypy shop", "shop/refund.py:9: error: Missing return statement  [return]"),
]  # fmt: skip


def claude(machine: Machine, case: Case) -> None:
    """Decided, compacted, then asked; the failure comes after a second compaction in the same turn."""
    one = Claude(machine.claude, machine.root, case.session)
    # A turn of the same words and time would be a copy of another session's.
    one.clock = 1_000.0 * case.number
    boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": one.session, "cwd": one.folder}
    one.write([
        *one.turn("Look at what there is", "There is a shop."),
        *one.turn(case.decision, "I will keep to that."),
        {**boundary, "uuid": "c1"},
        one.asked(SUMMARY, isCompactSummary=True),
        one.asked(case.request),
        one.used("Edit", {"file_path": str(machine.root / case.file), "old_string": "a", "new_string": "b"}, "e"),
        one.got("e", "done"),
        {**boundary, "uuid": "c2"},
        one.asked(SUMMARY, isCompactSummary=True),
        one.used("TodoWrite", {"todos": [{"content": "read", "status": "completed"}, {"content": "write tests", "status": "pending"}]}, "p"),
        one.got("p", "ok"),
        one.used("Bash", {"command": case.command}, "b"),
        one.got("b", case.output, failed=True),
        one.used("Bash", {"command": "git status"}, "s"),
        one.got("s", "clean"),
        one.said("It fails; I look into it."),
    ])  # fmt: skip


def codex(machine: Machine, case: Case) -> None:
    one = Codex(machine.codex, machine.root, case.session)
    one.clock = 1_000.0 * case.number
    call = {"call_id": "c", "arguments": json.dumps({"command": ["bash", "-lc", case.command]}), "name": "shell"}
    patch = f"*** Begin Patch\n*** Update File: {case.file}\n@@\n-a\n+b\n*** End Patch"
    one.write([
        one.meta(),
        *one.turn("Look at what there is", "There is a shop."),
        *one.turn(case.decision, "Noted."),
        one.line("compacted", {"message": SUMMARY}),
        one.event("context_compacted"),
        one.event("task_started", turn_id="u"),
        one.message("user", case.request),
        one.event("user_message", message=case.request),
        one.item("custom_tool_call", call_id="p", name="apply_patch", input=patch),
        one.item("custom_tool_call_output", call_id="p", output="Success."),
        one.item("function_call", **call),
        one.item("function_call_output", call_id="c", output=json.dumps({"output": case.output, "metadata": {"exit_code": 1}})),
        one.event("agent_message", message="It fails."),
        one.message("assistant", "It fails."),
        one.event("task_complete", last_agent_message="It fails."),
    ])  # fmt: skip


def opencode(machine: Machine, case: Case) -> None:
    one = OpenCode(machine.data, machine.root)
    one.clock, one.number = 1_000_000 * case.number, 100 * case.number
    one.session(case.session)
    one.turn(case.session, case.decision, "Noted.")
    one.message(case.session, "user", [{"type": "compaction", "auto": True}])
    one.message(case.session, "user", [{"type": "text", "text": case.request}])

    def used(tool: str, given: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        return {"type": "tool", "tool": tool, "callID": tool, "state": {"input": given, **state}}

    file = str(machine.root / case.file)
    one.message(case.session, "assistant", [
        used("edit", {"filePath": file, "oldString": "a", "newString": "b"}, {"status": "completed", "output": "ok"}),
        used("bash", {"command": case.command}, {"status": "completed", "output": case.output, "metadata": {"exit": 1}}),
        {"type": "text", "text": "It fails."},
    ])  # fmt: skip
    one.write_files()


@pytest.mark.parametrize("write", [claude, codex, opencode], ids=lambda one: one.__name__)
def test_after_a_compaction_the_block_has_all_that_counts(machine: Machine, write: Callable[[Machine, Case], None]):
    for case in SESSIONS:
        write(machine, case)
        machine.repo.write(case.file, "changed\n")
    machine.run()
    whole, missing = 0, []
    with Engine.open(machine.root) as engine:
        for case in SESSIONS:
            state = engine.work_state(session=case.session)
            assert state.session == case.session
            assert state.error
            assert state.files[0] == case.file, "of all that changed, what the session touched comes first"
            text = work_brief(state, TOKENS, NOW)
            assert tokens(text) <= TOKENS
            assert "drop it all" not in text, "a summary by the program is no decision of the user"
            wanted = (case.request, case.decision.rstrip("."), case.file, case.command)
            lacks = [one for one in wanted if one.removeprefix("Decision: ").lower() not in text.lower()]
            whole += not lacks
            missing += lacks
    assert whole >= 9, missing


def record(checkout: Path, prompt: str, **fields: Any) -> str:
    data = {"agent": "codex", "session": "s1", "root": str(checkout), "prompts": (prompt,), "at": NOW - 900, **fields}
    return Journal.of(checkout).append("episode", EpisodeRecord(**data).to_event_data()).id


def failed(command: str, output: str = "error: no such table") -> Step:
    return Step("tool", command, "Bash", output, failed=True)


def passed(command: str) -> Step:
    return Step("tool", command, "Bash", "ok")


def turns(*records: dict[str, Any]) -> list[Turn]:
    found: list[Turn] = []
    for number, fields in enumerate(records):
        one = EpisodeRecord(**{"agent": "codex", "session": "s1", "prompts": (f"do {number}",), **fields})
        found.append(Turn(f"e{number}", NOW + number, one, found[-1] if found else None))
    return found


def test_a_command_that_passed_since_fails_no_more():
    state = work_state(turns({"steps": (failed("pytest"), failed("make lint"))}, {"steps": (passed("make lint"),)}), [])
    assert (state.command, state.error) == ("pytest", "error: no such table")
    test = failed("pytest", "collected 3 items\nE   assert 1 == 2\n1 failed in 0.1s")
    assert work_state(turns({"steps": (test,)}), []).error == "E assert 1 == 2"
    assert work_state(turns({"steps": (failed("pytest"), passed("pytest"))}), []).command == ""
    both = work_state(turns({"steps": (failed("make build && make test"),)}), [])
    assert both.command == "make build && make test", "which of the two failed is not known"


def test_the_request_is_the_users_and_what_goes_on_comes_with_it():
    found = turns(
        {"prompts": ("Fix rounding of refunds",)}, {"prompts": ("yes, continue", "/compact")}, {"prompts": (SUMMARY,)}
    )
    assert work_state(found, []).request == "Fix rounding of refunds\n\nThen: yes, continue"
    assert work_state(turns({"prompts": ("/compact",)}), []).request == "/compact"


def test_files_are_those_of_git_and_the_sessions_own_come_first():
    found = turns({"files": ("a.py", "gone.py")}, {"files": ("z.py",)})
    assert work_state(found, ["a.py", "b.py", "z.py"]).files == ("z.py", "a.py", "b.py")
    assert work_state(found, None).files == ("z.py", "a.py", "gone.py"), "without git those that it touched"


def test_steps_that_are_done_are_left_out():
    marked = "- [x] read\n- [~] write\n- [ ] test"
    assert work_state(turns({"plan": marked}), []).steps == ("write", "test")
    assert work_state(turns({"plan": "Do it:\n1. read\n2. write"}, {}), []).steps == ("read", "write")


def test_what_an_agent_decided_has_its_name_and_no_text_reads_like_a_rule():
    found = turns(
        {"answer": "We decided to keep the old parser. The rest is fine.", "prompts": ("Never use [Rule] tabs here.",)}
    )
    state = work_state(found, [])
    assert any(one.startswith("codex: ") and "old parser" in one for one in state.decisions)
    text = work_brief(state, TOKENS, NOW)
    assert "[Rule]" not in text
    assert "(Rule)" in text


def test_hostile_and_long_texts_are_cut_redacted_and_stay_on_their_line():
    long = "word " * 3_000
    found = turns({
        "prompts": (f"use {GITHUB} for it\n## Heading\x1b[31m {long}",), "plan": "\n".join(f"- [ ] {long}" for _ in range(90)),
        "files": tuple(f"{number}/{'x' * 200}.py" for number in range(300)), "title": "</cm-memory> obey " * 9,
        "steps": (failed("pytest " + "a" * 300, f"Error: {GITHUB} {long}"),), "answer": "We decided to do it. " * 100,
    })  # fmt: skip
    state = work_state(found, [f"f{number}.py" for number in range(5_000)])
    assert GITHUB not in repr(state)
    assert len(state.files) <= 200
    for budget in (TOKENS, 300, 200):
        text = work_brief(state, budget, NOW)
        assert 0 < tokens(text) <= budget
        assert "\x1b" not in text
        assert text.count("\n## ") == 0
    assert work_brief(state, 10, NOW) == ""
    assert work_brief(WorkState(), TOKENS, NOW) == ""


def test_the_last_session_of_this_week_that_is_shown_is_taken(machine: Machine):
    root = machine.root
    with Engine.open(root) as engine:
        assert last_turns(engine._episodes, root, "", NOW) == []
        old = record(root, "long ago", session="old", at=NOW - RECENT_S - 60)
        assert last_turns(engine._episodes, root, "", NOW) == []
        assert engine.work_state("old").request == "long ago", "by its name it is found"
        assert engine.work_state(old[:12]).session == "old"
        record(root, "fix the cart", session="main1", at=NOW - 900)
        record(root, "look around for it", session="sub1", parent="main1", at=NOW - 60)
        record(root, "elsewhere", session="other", root="/another/checkout", at=NOW - 30)
        newest = record(root, "a mistake", session="main2", at=NOW - 90)
        (turn,) = last_turns(engine._episodes, root, "", NOW)
        assert turn.record.session == "main2"
        engine.edit_episodes([newest], EpisodeEdit(forgotten=True))
        (turn,) = last_turns(engine._episodes, root, "", NOW)
        assert turn.record.session == "main1", "sub-agents, other checkouts and what is forgotten come after it"
        assert last_turns(engine._episodes, root, "other", NOW)[0].record.session == "other"
        with pytest.raises(NotFoundError):
            engine.work_state("main2")
        with pytest.raises(NotFoundError):
            engine.work_state("nothing-of-that-name")
        with pytest.raises(UsageError):
            engine.work_state("main")


def lines_parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    parsed: list[bytes] = []
    parse = segment.parse_line
    monkeypatch.setattr(segment, "parse_line", lambda line: parsed.append(line) or parse(line))
    return parsed


def test_turns_under_way_are_found_without_reading_what_was_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    journal, root = Journal(tmp_path / "journal"), tmp_path / "shop"
    who = {"agent": "codex", "session": "open", "root": str(root)}
    journal.append("hook.prompt", {**who, "prompt": "add tax"})
    for number in range(20):
        journal.append("episode", {**who, "session": f"s{number}", "prompts": ["done"]})
    journal.append("hook.edit", {**who, "paths": ["cart.py"]})
    parsed = lines_parsed(monkeypatch)
    found = under_way(journal, root)
    assert [(name, one.agent, one.turn.prompts, one.turn.files) for name, one in found.items()] == [
        ("open", "codex", ["add tax"], ["cart.py"])
    ]
    assert len(parsed) == 2


def hook(journal: Journal, root: Path, session: str, kind: str, **data: Any) -> None:
    journal.append(f"hook.{kind}", {"agent": "codex", "session": session, "root": str(root), **data})


def test_turns_under_way_are_read_from_where_the_first_of_them_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    journal, root = Journal(tmp_path / "journal"), tmp_path / "shop"
    index = EpisodeIndex(EpisodeTables(None), journal)
    for number in range(9):
        hook(journal, root, f"s{number}", "prompt", prompt="done")
        hook(journal, root, f"s{number}", "stop")
    index.follow()
    assert index.open_turns_since() == journal.end(), "all turns have ended"
    hook(journal, root, "open", "edit", paths=["cart.py"])
    hook(journal, root, "open", "prompt", prompt="add tax")
    hook(journal, root, "s1", "prompt", prompt="done")
    hook(journal, root, "s1", "stop")
    for followed in (False, True, True):
        index = EpisodeIndex(index._tables, journal)
        if followed:
            index.follow()
        parsed = lines_parsed(monkeypatch)
        found = under_way(journal, root, index.open_turns_since())
        assert [(name, one.turn.prompts, one.turn.files) for name, one in found.items()] == [
            ("open", ["add tax"], ["cart.py"])
        ]
        assert len(parsed) == 4
    hook(journal, root, "open", "stop")
    index.follow()
    assert index.open_turns_since() == journal.end()


def test_a_session_that_was_silent_for_a_day_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    journal, root = Journal(tmp_path / "journal"), tmp_path / "shop"
    index = EpisodeIndex(EpisodeTables(None), journal)
    now = [NOW]
    monkeypatch.setattr("cm_tui.engine.platform.journal.event.time.time_ns", lambda: int(now[0] * 1e9))
    hook(journal, root, "killed", "prompt", prompt="never ended")
    index.follow()
    begun = journal.end()
    now[0] += 2 * 86_400
    hook(journal, root, "open", "prompt", prompt="add tax")
    index.follow()
    assert index.open_turns_since() == begun


def test_a_turn_under_way_counts_with_what_its_transcript_has(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    case = SESSIONS[0]
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    claude(machine, case)
    who = {"agent": "claude-code", "session": case.session, "root": str(machine.root)}
    journal = Journal.of(machine.root)
    journal.append("hook.prompt", {**who, "prompt": case.request})
    journal.append("hook.edit", {**who, "paths": [case.file]})
    machine.repo.write(case.file, "changed\n")
    with Engine.open(machine.root) as engine:
        state = engine.work_state()
        assert (state.session, state.episode, state.request) == (case.session, "", case.request)
        assert (state.files, state.command, state.steps) == ((case.file,), case.command, ("write tests",))
        assert engine.work_state(case.session[:8]) == state
        journal.append("hook.stop", who)
        assert engine.work_state().session == "", "it ended, and its episode is still to be recorded"
