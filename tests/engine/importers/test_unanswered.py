"""A prompt without an answer is an episode of its own until it is answered, and never lost or told twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.context.ingestion.inputs import of_event
from cm_tui.engine.memory.erasure.erase import EraseRequest, erase_events
from cm_tui.engine.memory.importers import one_transcript
from cm_tui.engine.memory.importers.plan import plan
from cm_tui.engine.memory.importers.state import VERSION
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.visibility import REPLACED_BY, Visibility
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import EpisodeEdit, EpisodeFilter
from tests.engine.importers.conftest import Machine
from tests.engine.importers.sessions import AGENTS, Session
from tests.engine.importers.test_once import stamp
from tests.engine.importers.transcripts import Claude, Codex, OpenCode
from tests.tiers import examples

Row = tuple[str, str, str]


def shown(machine: Machine) -> list[Row]:
    """Prompts, answer and outcome of the episodes that are not hidden, in their order in the session."""
    seen, records = Visibility(), dict[str, EpisodeRecord]()
    for event in Journal.of(machine.root).read():
        seen.follow(event)
        if event.kind == "episode":
            records[event.id] = EpisodeRecord.from_event(event)
    found = [record for id_, record in records.items() if id_ not in seen.hidden]
    found.sort(key=lambda record: record.turn)
    return [(" + ".join(record.prompts), record.answer, record.outcome) for record in found]


def erase(machine: Machine, ids: list[str]) -> None:
    asked = EraseRequest(ids, found=False, with_patches=False)
    erase_events(Journal.of(machine.root), asked, make_again=list, store=machine.base / "store")


def ids(machine: Machine) -> list[str]:
    return [event.id for event in Journal.of(machine.root).read() if event.kind == "episode"]


@pytest.fixture(params=AGENTS)
def session(request: pytest.FixtureRequest, machine: Machine) -> Session:
    return Session(machine, request.param)


def test_a_prompt_without_an_answer_waits_and_becomes_an_episode(machine: Machine, session: Session):
    session.turn("First", "One.")
    session.ask("Second")
    session.write(quiet=False)
    done = machine.run()
    assert (done.episodes, done.unanswered, done.waiting) == (1, 0, 1)
    # Nothing to add before it comes to rest.
    assert plan(machine.transcripts()).new == 0
    os.utime(session.file, (0, 0))
    assert plan(machine.transcripts()).new == 1
    done = machine.run()
    assert (done.episodes, done.unanswered, done.waiting) == (1, 1, 0)
    assert shown(machine) == [("First", "One.", ""), ("Second", "", "unanswered")]
    assert (machine.run().transcripts, plan(machine.transcripts()).new) == (0, 0)
    # Lists, filters and totals know the outcome.
    with Engine.open(machine.root) as engine:
        where = EpisodeFilter(outcomes=("unanswered",))
        assert [row.prompts for row in engine.episodes(where=where).rows] == [("Second",)]
        assert {facet.value: facet.count for facet in engine.episode_stats(where=EpisodeFilter()).outcomes} == {
            "": 1,
            "unanswered": 1,
        }
    # What an earlier version left out is found: its state has the place of the prompt, and nothing was added since.
    state = machine.transcripts().state
    (kept,) = state.all()
    kept.version, kept.origins = VERSION - 1, kept.origins[:1]
    state.save(kept, None)
    assert (len(ids(machine)[1:]), plan(machine.transcripts()).new) == (1, 0)
    assert machine.run().known == 1
    assert (machine.run().transcripts, len(list(Journal.of(machine.root).read()))) == (0, 2)


def test_a_turn_that_ended_without_a_word_is_waited_for_too(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([one.asked("First"), {"type": "system", "subtype": "turn_duration"}], old=False)
    done = machine.run()
    assert (done.unanswered, done.waiting) == (0, 1)


def test_an_answer_that_comes_late_takes_the_place_of_the_prompt_alone(machine: Machine, session: Session):
    session.turn("First", "One.")
    session.ask("Second")
    session.write()
    machine.run()
    session.answer("Two.")
    session.turn("Third", "Three.")
    session.write()
    machine.run()
    assert shown(machine) == [("First", "One.", ""), ("Second", "Two.", ""), ("Third", "Three.", "")]
    assert [record.turn for record in machine.episodes()] == [1, 2, 2, 3]
    (hidden,) = (event for event in Journal.of(machine.root).read() if event.kind == "episode.forgotten")
    assert hidden.data["actor"] == "import"
    assert (hidden.data["ids"], hidden.data[REPLACED_BY]) == ([ids(machine)[1]], ids(machine)[2])
    assert machine.run().transcripts == 0
    # A pipeline gets a turn once it is answered.
    found = [of_event(event) for event in Journal.of(machine.root).read() if event.kind == "episode"]
    done = "onTaskCompleted"
    assert [one.trigger if one else None for one in found] == [done, None, done, done]


def test_more_is_asked_before_an_answer_comes(machine: Machine, session: Session):
    for text in ("First", "Second", "Third"):
        session.ask(text)
        session.write()
        machine.run()
    assert shown(machine) == [("First + Second + Third", "", "unanswered")]
    session.answer("One for all.")
    session.write()
    machine.run()
    assert shown(machine) == [("First + Second + Third", "One for all.", "")]


def test_of_very_many_prompts_the_note_counts_those_that_are_not_kept(machine: Machine, session: Session):
    for number in range(11):
        session.ask(f"Prompt {number}")
    session.write()
    machine.run()
    session.ask("Prompt 11")
    session.write()
    machine.run()
    (row,) = shown(machine)
    assert row[0].endswith("Prompt 9")
    assert machine.episodes()[-1].note.endswith("2 more prompts not kept")


@pytest.mark.parametrize("is_state_lost", [False, True])
def test_an_erased_prompt_stays_erased_when_it_is_answered(machine: Machine, session: Session, is_state_lost: bool):
    session.ask("Say mellon")
    session.write()
    machine.run()
    erase(machine, ids(machine))
    if is_state_lost:
        for state in machine.transcripts().state.folder.glob("*.json"):
            state.unlink()
    session.ask("Go on")
    session.answer("Friend.")
    session.write()
    machine.run()
    assert shown(machine) == [("Go on", "Friend.", "")]
    journal = Journal.of(machine.root)
    assert not any(b"mellon" in file.read_bytes() for file in journal.folder.rglob("*") if file.is_file())


def test_erasing_the_answered_turn_erases_the_hidden_prompt(machine: Machine, session: Session):
    for text in ("Say mellon", "Now"):
        session.ask(text)
        session.write()
        machine.run()
    session.answer("Friend.")
    session.write()
    machine.run()
    erase(machine, [ids(machine)[-1]])
    os.utime(session.file)
    machine.run()
    assert machine.prompts() == []
    journal = Journal.of(machine.root)
    assert not any(b"mellon" in file.read_bytes() for file in journal.folder.rglob("*") if file.is_file())


def test_a_prompt_that_was_pinned_is_not_hidden(machine: Machine, session: Session):
    session.ask("First")
    session.write()
    machine.run()
    with Engine.open(machine.root) as engine:
        engine.edit_episodes(ids(machine), EpisodeEdit(pinned=True))
    session.answer("One.")
    session.write()
    machine.run()
    assert shown(machine) == [("First", "", "unanswered"), ("First", "One.", "")]


def test_an_import_that_is_killed_before_it_hides_the_prompt_is_finished_by_the_next(
    machine: Machine, session: Session, monkeypatch: pytest.MonkeyPatch
):
    session.ask("First")
    session.write()
    machine.run()
    session.answer("One.")
    session.write()

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(Journal, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            machine.run()
    assert len(shown(machine)) == 2
    machine.run()
    assert shown(machine) == [("First", "One.", "")]
    hidden = [event for event in Journal.of(machine.root).read() if event.kind == "episode.forgotten"]
    assert [event.data[REPLACED_BY] for event in hidden] == [ids(machine)[1]]


# --- what is no prompt of a person, and what only looks so ---


def _claude(machine: Machine, *texts: str, **more: Any) -> None:
    one = Claude(machine.claude, machine.root)
    one.write([*one.turn("First", "One."), *(one.asked(text, **more) for text in texts)])


def _codex(machine: Machine, *events: tuple[str, dict[str, Any]]) -> None:
    one = Codex(machine.codex, machine.root)
    one.write([one.meta(), *one.turn("First", "One."), *(one.event(kind, **more) for kind, more in events)])


def _opencode(machine: Machine, parts: list[dict[str, Any]], *, revert: bool) -> None:
    one = OpenCode(machine.data, machine.root)
    one.session("ses_a", **({"revert": {"messageID": "msg_0003"}} if revert else {}))
    one.turn("ses_a", "First", "One.")
    one.message("ses_a", "user", parts)
    one.write_files()


ENDS: dict[str, tuple[Callable[[Machine], None], list[str]]] = {
    "claude /clear": (lambda m: _claude(m, "<command-name>/clear</command-name>\n<command-message>clear</command-message>"), []),
    "claude /exit": (lambda m: _claude(m, "<command-name>/exit</command-name>", "<local-command-stdout>Bye!</local-command-stdout>"), []),
    "claude ! ls": (lambda m: _claude(m, "<bash-input>ls</bash-input>", "<bash-stdout>a.py</bash-stdout>"), []),
    "claude instructions": (lambda m: _claude(m, "Caveat", isMeta=True), []),
    "claude command with a prompt": (lambda m: _claude(m, "<command-message>review</command-message>\n<command-name>/review</command-name>"), ["/review"]),
    "claude prompt, then /exit": (lambda m: _claude(m, "Fix it", "<command-name>/exit</command-name>"), ["Fix it + /exit"]),
    "codex instructions": (lambda m: _codex(m, ("user_message", {"message": "<environment_context>x"})), []),
    "codex taken back": (lambda m: _codex(m, ("user_message", {"message": "Oops"}), ("thread_rolled_back", {"num_turns": 1})), []),
    "codex ended without a word": (lambda m: _codex(m, ("user_message", {"message": "Fix it"}), ("task_complete", {})), ["Fix it"]),
    "opencode compaction": (lambda m: _opencode(m, [{"type": "compaction"}], revert=False), []),
    "opencode taken back": (lambda m: _opencode(m, [{"type": "text", "text": "Oops"}], revert=True), []),
    "opencode prompt": (lambda m: _opencode(m, [{"type": "text", "text": "Fix it"}], revert=False), ["Fix it"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_commands_of_the_program_and_what_was_taken_back_are_no_prompts(machine: Machine, name: str):
    make, prompts = ENDS[name]
    make(machine)
    done = machine.run()
    assert [row[0] for row in shown(machine)] == ["First", *prompts]
    assert (done.unanswered, done.waiting) == (len(prompts), 0)
    assert machine.run().transcripts == 0


def test_a_prompt_before_an_answer_to_another_one_is_kept(machine: Machine):
    """The format begins a new turn: what it follows is known, and stands two turns before."""
    one = Claude(machine.claude, machine.root)
    first = one.turn("First", "One.")
    second, third = one.turn("Second", "Two."), one.asked("Third")
    late = one.said("One more.", parentUuid=first[1]["uuid"])
    one.write([*first, *second, third, late, *one.turn("Fourth", "Four."), *one.turn("Fifth", "Five.")])
    machine.run()
    assert ("Third", "", "unanswered") in shown(machine)


@pytest.mark.parametrize("first", [1, 2])
def test_a_prompt_that_a_copy_of_the_session_answers_is_no_prompt_without_an_answer(machine: Machine, first: int):
    """An older version goes on in a new file, which repeats the prompt; whichever is read first."""
    one = Claude(machine.claude, machine.root, f"{3 - first}1111111-aaaa-4aaa-8aaa-111111111111")
    records = [*one.turn("First", "One."), one.asked("Second")]
    other = Claude(machine.claude, machine.root, f"{first}9999999-aaaa-4aaa-8aaa-111111111111")
    other.clock, other.last = one.clock, one.last
    copies = [{**record, "sessionId": other.session} for record in records]
    one.write(records)
    other.write([*copies, other.said("Two.")])
    machine.run()
    assert shown(machine) == [("First", "One.", ""), ("Second", "Two.", "")]


def test_a_copy_that_is_quiet_later_than_the_answer_is_known(machine: Machine):
    one = Claude(machine.claude, machine.root)
    records = [*one.turn("First", "One."), one.asked("Second")]
    file = one.write(records, old=False)
    other = Claude(machine.claude, machine.root, "99999999-aaaa-4aaa-8aaa-111111111111")
    other.clock, other.last = one.clock, one.last
    other.write([*({**record, "sessionId": other.session} for record in records), other.said("Two.")])
    assert machine.run().waiting == 1
    os.utime(file, (0, 0))
    machine.run()
    assert shown(machine) == [("First", "One.", ""), ("Second", "Two.", "")]


def test_a_hook_that_records_the_answer_takes_the_place_of_the_prompt_alone(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(one_transcript, "QUIET_SECONDS", 0.5)
    one, journal = Claude(machine.claude, machine.root), Journal.of(machine.root)
    who = {"agent": "claude-code", "session": one.session, "root": str(machine.root)}
    journal.append("hook.prompt", {**who, "prompt": "First"})
    one.write([one.asked("First", timestamp=stamp(1))])
    machine.run()
    assert shown(machine) == [("First", "", "unanswered")]
    stop = journal.append("hook.stop", {**who, "answer": "One."})
    journal.append("episode", EpisodeRecord(**who, prompts=("First",), answer="One.", stop=stop.id).to_event_data())
    one.write([one.said("One.")])
    machine.run()
    assert shown(machine) == [("First", "One.", "")]


# --- prompts that wait in Claude Code's queue ---


def _queue(operation: str, content: str = "") -> dict[str, Any]:
    return {"type": "queue-operation", "operation": operation, **({"content": content} if content else {})}


def _worked(one: Claude, *records: dict[str, Any], over: bool) -> list[dict[str, Any]]:
    begin = [one.asked("First"), one.used("Bash", {"command": "sleep"}, "s"), *records]
    return [*begin, one.got("s", ""), one.said("One.")] if over else begin


QUEUES: dict[str, tuple[Callable[[Claude], list[dict[str, Any]]], list[str]]] = {
    "killed while it worked": (lambda one: _worked(one, _queue("enqueue", "More"), over=False), ["First + More"]),
    "killed when it had ended": (lambda one: _worked(one, _queue("enqueue", "More"), over=True), ["First", "More"]),
    "given to it later": (lambda one: [*_worked(one, _queue("enqueue", "More"), over=True), _queue("dequeue"), *one.turn("More", "Two.")], ["First", "More"]),
    "two given at once": (
        lambda one: [*_worked(one, _queue("enqueue", "A"), _queue("enqueue", "B"), over=True), *one.turn("A\nB", "Two.")], ["First", "A\nB"]
    ),
    "taken back": (lambda one: _worked(one, _queue("enqueue", "More"), _queue("popAll", "More"), over=True), ["First"]),
    "lost with the program": (lambda one: [*_worked(one, _queue("enqueue", "More"), over=True), *one.turn("Else", "Two.")], ["First", "More", "Else"]),
    "behind a message of the program": (
        lambda one: _worked(one, _queue("enqueue", "<task-notification>x"), _queue("enqueue", "More"), _queue("dequeue"), over=True), ["First", "More"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", QUEUES)
def test_a_prompt_that_waits_in_the_queue_is_not_lost(machine: Machine, name: str):
    make, prompts = QUEUES[name]
    one = Claude(machine.claude, machine.root)
    one.write(make(one))
    machine.run()
    one.write([])
    os.utime(one.file)
    machine.run()
    assert sorted(row[0] for row in shown(machine)) == sorted(prompts)


def test_a_queue_alone_is_reported(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([{**_queue("enqueue", "First"), "sessionId": one.session}])
    (note,) = machine.run().notes
    assert "no record with a session and a folder: it ended at once" in note


# --- however it grows ---

STEPS = st.lists(st.sampled_from(["ask", "answer", "import", "lose the state"]), max_size=14).filter(
    lambda steps: steps.count("ask") <= 10
)
"""A turn keeps ten prompts, and says how many more there were."""


@settings(max_examples=examples(40, few=4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
@pytest.mark.parametrize("agent", AGENTS)
def test_step_by_step_shows_what_one_import_of_all_does(
    tmp_path_factory: pytest.TempPathFactory, agent: str, steps: list[str]
):
    """Prompts and answers one after another, an import anywhere between."""
    followed, fresh = (Machine(tmp_path_factory.mktemp(name)) for name in ("followed", "fresh"))
    for machine in (followed, fresh):
        session, number, is_asked = Session(machine, agent), 0, False
        for step in steps:
            if step == "import" and machine is followed and number:
                session.write()
                machine.run()
            elif step == "lose the state" and machine is followed:
                for file in machine.transcripts().state.folder.glob("*.json"):
                    file.unlink()
            elif step == "ask" or (step == "answer" and is_asked):
                number += 1
                (session.ask if step == "ask" else session.answer)(f"{step} {number}")
                is_asked = step == "ask"
        if number:
            session.write()
        machine.run()
    assert shown(followed) == shown(fresh)
    asked = [text for prompts, _, _ in shown(fresh) for text in prompts.split(" + ") if text]
    assert len(asked) == sum(step == "ask" for step in steps)
