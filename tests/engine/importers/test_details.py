"""A turn that hooks tell of gets the steps of its transcript, and is not imported a second time."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cm_tui.engine.memory.importers.details import with_details
from cm_tui.engine.memory.importers.plan import all_projects, plan
from cm_tui.engine.memory.projection import episode_source
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.platform.journal import event, removal
from cm_tui.engine.platform.journal.journal import Journal
from tests.cli.in_process import run_here
from tests.daemon.conftest import until
from tests.engine.importers.conftest import Machine
from tests.engine.importers.sessions import AGENTS, Session
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, OpenCode


@pytest.fixture(autouse=True)
def places(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)


def _nothing(root: Path, files: object, source: str) -> None:
    """No index run."""


def test_hook_and_transcript_are_one_episode(machine: Machine):
    one = Claude(machine.claude, machine.root)
    records = [
        *one.turn("Go on", "Gone."), one.asked("Go on"), one.used("Bash", {"command": "pytest"}, "b"),
        one.got("b", "1 failed", failed=True), one.said("It fails."),
    ]  # fmt: skip
    one.write(records, old=False)
    who = {"agent": "claude-code", "session": one.session, "root": str(machine.root)}
    journal = Journal.of(machine.root)
    journal.append("hook.prompt", {**who, "prompt": "Go on"})
    machine.repo.write("shop/money.py", "x = 2\n")
    journal.append("hook.stop", {**who, "answer": "It fails."})
    consumer = JournalConsumer(_nothing, with_details)
    consumer.on_nudge(machine.root)
    until(lambda: machine.episodes() != [])
    consumer.close()
    (record,) = machine.episodes()
    assert (record.actor, record.prompts, record.answer) == ("agent", ("Go on",), "It fails.")
    assert "+x = 2" in record.patch
    assert [step.tool or step.kind for step in record.steps] == ["thought", "Bash"]
    assert (record.tools, record.outcome, record.verdict) == (("Bash",), "failed", "`pytest` failed")
    assert record.tokens == 40
    one.write([])
    done = machine.run()
    assert (done.episodes, done.known) == (1, 1)
    assert machine.episodes()[1].answer == "Gone."


def test_each_format_has_details(machine: Machine):
    codex = Codex(machine.codex, machine.root)
    codex.write([codex.meta(), *codex.turn("First", "One."), codex.event("user_message", message="Second"),
                 codex.item("function_call", name="shell", arguments='{"command": "ls"}', call_id="1"), codex.event("agent_message", message="Two.")])  # fmt: skip
    stored = OpenCode(machine.data, machine.root)
    stored.session("ses_abc")
    stored.turn("ses_abc", "Second", "Two.")
    stored.message(
        "ses_abc",
        "assistant",
        [{"type": "tool", "tool": "bash", "callID": "1", "state": {"status": "running", "input": {"command": "ls"}}}],
    )
    stored.write_database()
    # What is said before a tool runs is a step, and no answer.
    for agent, session, tool, answer in (
        ("codex", codex.session, "shell", "Two."),
        ("opencode", "ses_abc", "bash", ""),
    ):
        record = EpisodeRecord(agent=agent, session=session, prompts=("Second",), root=str(machine.root))
        found = with_details(record)
        assert (found.tools, found.answer) == ((tool,), answer)
        assert with_details(replace(record, answer="Told.")).answer == "Told."


def test_without_a_transcript_a_turn_stays_as_it_is(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    one = Claude(machine.claude, machine.root)
    one.write([one.asked("First"), one.used("Bash", {"command": "ls"}, "b"), one.said("One.")])
    whole = EpisodeRecord(agent="claude-code", session=one.session, prompts=("First",), root=str(machine.root))
    assert with_details(whole).tools == ("Bash",)
    for odd in ("../../x", "", "*", "no-such-session", "x" * 500):
        record = EpisodeRecord(agent="claude-code", session=odd, prompts=("First",), root=str(machine.root))
        assert with_details(record) == record
    other = EpisodeRecord(agent="claude-code", session=one.session, prompts=("Else",), root=str(machine.root))
    assert with_details(other) == other
    monkeypatch.setenv("CM_MEMORY__FOLLOW_TRANSCRIPTS", "false")
    assert with_details(whole) == whole


@pytest.mark.parametrize("failure", [ValueError("not thought of"), "too long"])
def test_a_turn_whose_details_cannot_be_had_is_recorded_without(machine: Machine, failure: ValueError | str):
    def fail(record: EpisodeRecord) -> EpisodeRecord:
        if isinstance(failure, ValueError):
            raise failure
        return replace(record, plan="x" * 2_000_000)

    who = {"agent": "claude-code", "session": "s", "root": str(machine.root)}
    journal = Journal.of(machine.root)
    journal.append("hook.prompt", {**who, "prompt": "Go on"})
    journal.append("hook.stop", {**who, "answer": "Gone."})
    consumer = JournalConsumer(_nothing, fail)
    consumer.on_nudge(machine.root)
    consumer.close()
    assert [(record.prompts, record.answer) for record in machine.episodes()] == [(("Go on",), "Gone.")]
    again = JournalConsumer(_nothing, fail)
    again.on_nudge(machine.root)
    again.close()
    assert len(machine.episodes()) == 1


def test_the_end_of_a_failed_result_is_kept_and_searched(machine: Machine):
    one = Claude(machine.claude, machine.root)
    key = "AKIA" + "Q3EGRY7XKJ2ZP5MN"
    output = "collecting\n" + "x = 1\n" * 2_000 + f"aws {key} was used\nValueError: the rounding of yen is wrong"
    one.write([
        one.asked("Run the tests"), one.used("Bash", {"command": "pytest"}, "a"), one.got("a", output, failed=True),
        one.used("Bash", {"command": "cat notes"}, "b"), one.got("b", output), one.said("It fails."),
    ])  # fmt: skip
    machine.run()
    (record,) = machine.episodes()
    failed, passed = (step for step in record.steps if step.kind == "tool")
    assert failed.result.startswith("collecting\n")
    assert failed.result.endswith("ValueError: the rounding of yen is wrong")
    assert len(failed.result) < 1_100
    assert key not in failed.result
    assert "[redacted" in failed.result
    assert "ValueError" not in passed.result
    assert " … " in episode_source.of(record)
    assert "ValueError: the rounding of yen is wrong" in episode_source.of(record)


def test_a_turn_that_was_interrupted_has_its_steps_in_the_one_that_ended_both(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([
        one.asked("Add the tax"), one.used("Bash", {"command": "make lint"}, "a"), one.got("a", "ok"),
        one.asked("[Request interrupted by user]"),
        one.asked("No, round it"), one.used("Bash", {"command": "make test"}, "b"), one.got("b", "ok"), one.said("Rounded."),
    ])  # fmt: skip
    record = EpisodeRecord(
        agent="claude-code", session=one.session, prompts=("Add the tax", "No, round it"), root=str(machine.root)
    )
    found = with_details(record)
    assert [step.text for step in found.steps if step.kind == "tool"] == ["make lint", "make test"]
    assert (found.outcome, found.answer, found.step_count) == ("ok", "Rounded.", len(found.steps))


@pytest.fixture
def hooks(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a hook of an agent in a session, at the time of its transcript."""
    ticks = itertools.count(int((LONG_AGO + 20) * 1e9), 1_000_000)
    monkeypatch.setattr(event, "time", SimpleNamespace(time_ns=lambda: next(ticks)))
    consumer = JournalConsumer(_nothing, with_details)

    def run(agent: str, session: str, kind: str, **payload: str) -> None:
        told = json.dumps({"session_id": session, "cwd": str(machine.root), **payload})
        agent = agent.partition(",")[0]
        assert run_here(("hook", kind, "--agent", agent), cwd=machine.root, environment={}, stdin=told) == (0, "", "")
        if kind == "stop":
            before = len(machine.episodes())
            consumer.on_nudge(machine.root)
            until(lambda: len(machine.episodes()) > before)

    yield run
    consumer.close()


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session_that_hooks_recorded_is_not_offered_and_one_turn_more_is(machine: Machine, hooks, agent: str):
    session = Session(machine, agent)
    session.turn("Add the tax", "Added.")
    session.turn("Round it", "Rounded.")
    session.write(quiet=False)
    name = machine.transcripts().found()[0].facts.session
    for prompt, answer in (("Add the tax", "Added."), ("Round it", "Rounded.")):
        hooks(agent, name, "prompt", prompt=prompt)
        hooks(agent, name, "stop", last_assistant_message=answer)
    for _ in range(2):
        found = plan(machine.transcripts())
        assert (found.sessions, found.new, found.sources[0].bytes) == (1, 0, 0)
        assert not any(one.new or one.bytes for one in all_projects((), machine.environment).projects)
    session.turn("And then?", "Done.")
    session.write()
    assert plan(machine.transcripts()).new == 1
    # Its folder is in no transcript of an old Gemini: only a project that asks for its own finds it.
    assert sum(one.new for one in all_projects((), machine.environment).projects) == (agent != "gemini, old")
    done = machine.run()
    assert (done.episodes, done.known, done.waiting) == (1, 2, 0)
    assert machine.prompts() == ["Add the tax", "Round it", "And then?"]


def test_a_session_is_offered_again_once_the_journal_that_had_it_is_gone(machine: Machine, hooks):
    session = Session(machine, "claude-code")
    session.turn("Add the tax", "Added.")
    session.write()
    hooks("claude-code", machine.transcripts().found()[0].facts.session, "prompt", prompt="Add the tax")
    hooks("claude-code", machine.transcripts().found()[0].facts.session, "stop")
    assert plan(machine.transcripts()).new == 0
    removal.remove(Journal.of(machine.root))
    assert plan(machine.transcripts()).new == 1


def test_a_turn_that_a_hook_ended_is_not_under_way_and_what_comes_later_is_added(machine: Machine, hooks):
    """A transcript that lies beside a session that was closed may have no record of the end."""
    one = Claude(machine.claude, machine.root)
    one.write([one.asked("Add the tax"), one.said("Added.", over=False)], old=False)
    hooks("claude-code", one.session, "prompt", prompt="Add the tax")
    assert machine.run().waiting == 1
    hooks("claude-code", one.session, "stop")
    assert plan(machine.transcripts()).new == 0
    done = machine.run()
    assert (done.episodes, done.known, done.waiting) == (0, 1, 0)
    assert machine.run().transcripts == 0
    one.write([one.said("And rounded."), *one.turn("Then this", "Done.")])
    done = machine.run()
    assert (done.episodes, done.known) == (1, 0)
    assert machine.prompts() == ["Add the tax", "Then this"]


def test_the_counts_of_a_passed_test_run_are_kept(machine: Machine):
    one = Claude(machine.claude, machine.root)
    output = (
        "platform linux\n" + "tests/test_cart.py ..........\n" * 200 + "===== 613 passed, 9 skipped in 186.44s ====="
    )
    one.write([
        one.asked("Run the tests"), one.used("Bash", {"command": "pytest"}, "a"), one.got("a", output),
        one.used("Bash", {"command": "ls"}, "b"), one.got("b", output), one.said("All is well."),
    ])  # fmt: skip
    machine.run()
    (record,) = machine.episodes()
    tests, listing = (step for step in record.steps if step.kind == "tool")
    assert tests.result.startswith("platform linux\n")
    assert tests.result.endswith("613 passed, 9 skipped in 186.44s =====")
    assert len(tests.result) < 700
    assert "613 passed" not in listing.result
    assert "613 passed" in episode_source.of(record)


def test_what_a_coding_turn_consists_of_is_searched(machine: Machine):
    """Reasons given on the way, the pattern of a search, the last to-do list, small changes: each once, without confirmations."""
    one = Claude(machine.claude, machine.root)
    reason = "I looked at the places that round. " * 20 + "Bankers' rounding stays, because the ledger demands it."
    todos = [
        {"content": "round per line", "status": "pending"},
        {"content": "tell the ledger team", "status": "pending"},
    ]
    done = [{**todos[0], "status": "completed"}, todos[1]]
    path = f"{machine.root}/limits.py"
    edit = {"file_path": path, "old_string": "LIMIT = 10", "new_string": "LIMIT = 4711"}
    large = {
        "file_path": f"{machine.root}/new.py",
        "content": "\n".join(f"zebra_{number} = {number}" for number in range(60)),
    }
    steps = [("TodoWrite", {"todos": todos}), ("Grep", {"pattern": "ROUND_HALF_EVEN", "path": "shop"}), ("Edit", edit),
             ("Write", large), ("TodoWrite", {"todos": done})]  # fmt: skip
    records = [one.asked("Fix the rounding"), one.said(reason, over=False)]
    for number, (tool, given) in enumerate(steps):
        records += [one.used(tool, given, f"c{number}"), one.got(f"c{number}", f"The file {path} has been updated.")]
    one.write([*records, one.said("Done.")])
    machine.run()
    (record,) = machine.episodes()
    text = episode_source.of(record)
    assert "because the ledger demands it" in text
    assert "ROUND_HALF_EVEN" in text
    assert text.count("tell the ledger team") == 1
    assert "- [x] round per line" in text
    assert text.count("[Edit] limits.py\n") == 1
    assert "Changed to:\nLIMIT = 4711" in text
    assert "zebra_1 " not in text, "a large change is found in the code"
