"""One turn is one episode: however often it is read, whoever told of it first, and never again when it was erased."""

from __future__ import annotations

import os
import random
import shutil
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.erasure.erase import EraseRequest, erase_events
from cm_tui.engine.memory.importers.known import origin_of
from cm_tui.engine.memory.importers.one_transcript import QUIET_SECONDS
from cm_tui.engine.memory.importers.plan import plan
from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CancelledError
from cm_tui.model import Cancel
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, OpenCode, iso, write_lines
from tests.fake_clock import FakeClock
from tests.tiers import examples


def stamp(seconds_ago: float) -> str:
    return datetime.fromtimestamp(time.time() - seconds_ago, UTC).isoformat().replace("+00:00", "Z")


def hooked(machine: Machine, session: str, prompt: str, *, recorded: bool = True) -> str:
    """What hooks leave of a turn; returns the id of its prompt."""
    journal = Journal.of(machine.root)
    who = {"agent": "claude-code", "session": session, "root": str(machine.root)}
    asked = journal.append("hook.prompt", {**who, "prompt": prompt})
    stop = journal.append("hook.stop", {**who, "answer": "done"})
    if recorded:
        record = EpisodeRecord(
            agent="claude-code", session=session, prompts=(prompt,), answer="done", stop=stop.id, root=str(machine.root)
        )
        journal.append("episode", record.to_event_data())
    return asked.id


def test_a_second_import_takes_only_what_is_new(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."))
    assert machine.run().episodes == 1
    assert machine.run().transcripts == 0
    one.write(one.turn("Second", "Two."))
    done = machine.run()
    assert (done.episodes, done.known) == (1, 0)
    assert [(record.prompts[0], record.turn) for record in machine.episodes()] == [("First", 1), ("Second", 2)]


def test_an_import_beside_another_one_reports_which_it_waits_for_and_goes_on(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."))
    with ExitStack() as other:
        other.enter_context(machine.transcripts().state.held())
        clock = FakeClock(on_sleep=lambda _: clock.monotonic() > 5 and other.close())
        steps = list(Import(machine.transcripts(), clock).run(Cancel()))
    assert [step.message for step in steps if step.stage == "wait"] == [
        "another import of this project is running (this process); waiting for it to finish"
    ]
    assert steps[-1].imported.episodes == 1
    with machine.transcripts().state.held():
        cancel = Cancel()
        steps = Import(machine.transcripts(), FakeClock()).run(cancel)
        assert [next(steps).stage, next(steps).stage] == ["find", "wait"]
        cancel.set()
        with pytest.raises(CancelledError):
            next(steps)


def test_a_replacement_of_the_same_size_and_time_is_planned_as_it_is_imported(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."))
    machine.run()
    shutil.rmtree(machine.transcripts().state.folder)
    assert plan(machine.transcripts()).new == 0
    other = write_lines(one.file.with_suffix(".new"), [one.file.read_bytes().replace(b"First", b"Third")])
    other.replace(one.file)
    machine.run()
    assert "Third" in machine.prompts()


def test_another_file_of_the_same_size_and_time_is_read(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."))
    machine.run()
    before = one.file.stat()
    one.file.write_bytes(one.file.read_bytes().replace(b"First", b"Third"))
    os.utime(one.file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert machine.run().episodes == 1
    assert machine.prompts() == ["First", "Third"]


def test_a_turn_under_way_is_taken_when_it_has_ended(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([*one.turn("First", "One."), one.asked("Second"), one.used("Bash", {"command": "ls"}, "l")], old=False)
    done = machine.run()
    assert (done.episodes, done.waiting) == (1, 1)
    one.write([one.got("l", "a.py"), one.said("Two.")], old=False)
    assert machine.run().episodes == 1
    second = machine.episodes()[1]
    assert (second.prompts, second.answer, second.tools) == (("Second",), "Two.", ("Bash",))


def test_a_turn_that_never_said_that_it_is_over_is_taken_when_nothing_more_came(machine: Machine):
    one = Claude(machine.claude, machine.root)
    file = one.write([one.asked("First"), one.said("I begin.", over=False)], old=False)
    assert machine.run().episodes == 0
    rested = time.time() - QUIET_SECONDS - 60
    os.utime(file, (rested, rested))
    assert machine.run().episodes == 1
    assert machine.run().transcripts == 0


@pytest.mark.parametrize("new_ids", [False, True])
def test_a_session_that_was_resumed_in_another_file_is_one_story(machine: Machine, new_ids: bool):
    one = Claude(machine.claude, machine.root)
    records = [*one.turn("First", "One."), *one.turn("Second", "Two.")]
    one.write(records)
    other = Claude(machine.claude, machine.root, "99999999-aaaa-4aaa-8aaa-111111111111")
    other.clock = one.clock
    copies = [{**record, "sessionId": other.session} for record in records]
    if new_ids:
        copies = [{**copy, "uuid": f"new-{number}"} for number, copy in enumerate(copies)]
    other.write([*copies, *other.turn("Third", "Three.")])
    done = machine.run()
    assert (done.episodes, done.known) == (3, 2)
    assert machine.prompts() == ["First", "Second", "Third"]
    assert {record.session for record in machine.episodes()} == {one.session}
    assert [record.turn for record in machine.episodes()] == [1, 2, 3]
    other.write(other.turn("Fourth", "Four."))
    machine.run()
    assert machine.episodes()[-1].session == one.session


def test_a_session_that_goes_on_in_a_new_file_after_a_compaction_is_one_story(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."))
    other = Claude(machine.claude, machine.root, "99999999-aaaa-4aaa-8aaa-111111111111")
    other.clock, other.last = one.clock, one.last
    boundary = {
        "type": "system", "subtype": "compact_boundary", "logicalParentUuid": one.last, "parentUuid": None, "uuid": "b",
        "sessionId": other.session, "cwd": other.folder, "timestamp": "2026-03-02T10:00:00.000Z",
    }  # fmt: skip
    other.write([boundary, *other.turn("Second", "Two.")])
    machine.run()
    assert [(record.prompts[0], record.session) for record in machine.episodes()] == [
        ("First", one.session),
        ("Second", one.session),
    ]


def test_sessions_of_other_agents_are_no_part_of_a_story(machine: Machine):
    """Codex and OpenCode name no last record: what names none goes on behind none of them."""
    codex, third = Codex(machine.codex, machine.root), OpenCode(machine.data, machine.root)
    codex.write([codex.meta(), *codex.turn("Of codex", "Yes.")])
    third.turn(third.session("ses_a"), "Of opencode", "Yes.")
    third.write_files()
    machine.run()
    one = Claude(machine.claude, machine.root)
    one.clock = 900
    records = [*one.turn("First", "One."), *one.turn("Second", "Two.")]
    one.write(records)
    other = Claude(machine.claude, machine.root, "99999999-aaaa-4aaa-8aaa-111111111111")
    other.clock = 1_900
    other.write([*({**record, "sessionId": other.session} for record in records), *other.turn("Third", "Three.")])
    machine.run()
    assert [record.parent for record in machine.episodes()] == [""] * 5
    mine = [record for record in machine.episodes() if record.agent == "claude-code"]
    assert [(record.session, record.turn) for record in mine] == [(one.session, 1), (one.session, 2), (one.session, 3)]


def test_a_fork_of_codex_is_one_story(machine: Machine):
    one = Codex(machine.codex, machine.root)
    one.write([one.meta(), *one.turn("First", "One."), *one.turn("First", "Once more.")])
    fork = Codex(machine.codex, machine.root, "99999999-bbbb-4bbb-8bbb-222222222222")
    # What is copied has the time of the copy.
    fork.clock = 5_000
    fork.write(
        [
            fork.meta(forked_from_id=one.session),
            *fork.turn("First", "One."),
            *fork.turn("First", "Once more."),
            *fork.turn("Third", "Three."),
        ]
    )
    machine.run()
    assert machine.prompts() == ["First", "First", "Third"]
    assert {record.session for record in machine.episodes()} == {one.session}


def test_a_transcript_that_was_moved_is_the_same(machine: Machine):
    one = Codex(machine.codex, machine.root)
    file = one.write([one.meta(), *one.turn("First", "One.")])
    machine.run()
    moved = machine.codex / "archived_sessions" / file.name
    moved.parent.mkdir()
    file.rename(moved)
    done = machine.run()
    assert (done.episodes, done.known) == (0, 1)


def _without(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def test_turns_that_look_alike_are_all_recorded(machine: Machine):
    one = Claude(machine.claude, machine.root)
    unnamed = [
        _without(record, "timestamp", "uuid") for record in (*one.turn("No time", "One."), *one.turn("None", "Two."))
    ]
    long = [*one.turn("P" * 600 + "1", "One."), *one.turn("P" * 600 + "2", "Two.")]
    one.write([*unnamed, *({**record, "timestamp": iso(0)} for record in long)])
    for session, answer in (("aaaa-1", "Did x."), ("bbbb-1", "Did y.")):
        other = Claude(machine.claude, machine.root, session)
        other.write(other.turn("continue", answer))
    done = machine.run()
    assert (done.episodes, done.known) == (6, 0)
    assert sorted(record.answer for record in machine.episodes() if record.prompts == ("continue",)) == [
        "Did x.",
        "Did y.",
    ]
    # A copy of the file is the same.
    one.file.with_name("copy.jsonl").write_bytes(one.file.read_bytes())
    assert (machine.run().episodes, len(machine.episodes())) == (0, 6)


def test_what_an_earlier_version_imported_is_known(machine: Machine):
    """It named a turn by its time and the beginning of its prompt."""
    one = Claude(machine.claude, machine.root)
    first = one.turn("First", "One.")
    one.write([*first, *one.turn("Second", "Two.")])
    key = f"{first[0]['timestamp']} First"
    record = EpisodeRecord(
        agent="claude-code", session=one.session, prompts=("First",), answer="One.", actor="import", turn=1,
        origin=origin_of("claude-code", "", key), root=str(machine.root),
    )  # fmt: skip
    Journal.of(machine.root).append("episode", record.to_event_data())
    done = machine.run()
    assert (done.episodes, done.known) == (1, 1)
    assert [(found.prompts[0], found.turn) for found in machine.episodes()] == [("First", 1), ("Second", 2)]


# --- hooks ---


def test_a_turn_that_a_hook_recorded_is_left_as_it_is(machine: Machine):
    one = Claude(machine.claude, machine.root)
    hooked(machine, one.session, "Fix the tax")
    one.write([one.asked("Fix the tax", timestamp=stamp(1)), one.said("Fixed."), *one.turn("Then this", "Done.")])
    done = machine.run()
    assert (done.episodes, done.known) == (1, 1)
    assert machine.prompts() == ["Fix the tax", "Then this"]
    assert machine.episodes()[1].turn == 2


def test_a_turn_that_a_hook_is_about_to_record_is_waited_for(machine: Machine):
    one = Claude(machine.claude, machine.root)
    hooked(machine, one.session, "Fix the tax", recorded=False)
    one.write([one.asked("Fix the tax", timestamp=stamp(2)), one.said("Fixed.", timestamp=stamp(1))], old=False)
    done = machine.run()
    assert (done.episodes, done.waiting) == (0, 1)


def test_what_a_hook_wrote_down_and_nobody_recorded_is_taken_in_the_end(machine: Machine):
    one = Claude(machine.claude, machine.root)
    hooked(machine, one.session, "Fix the tax", recorded=False)
    one.write([one.asked("Fix the tax"), one.said("Fixed.")])
    assert machine.run().episodes == 1


def test_the_same_words_in_another_session_or_long_before_are_another_turn(machine: Machine):
    one = Claude(machine.claude, machine.root)
    hooked(machine, "another", "Go on")
    hooked(machine, one.session, "Go on")
    one.write([one.asked("Go on"), one.said("Gone.")])
    assert machine.run().episodes == 1


def test_a_prompt_with_a_secret_is_known_again(machine: Machine):
    secret = "ghp_" + "".join(random.Random(3).choices("abcdefghijkABCDEFGHIJK0123456789", k=36))
    one = Claude(machine.claude, machine.root)
    hooked(machine, one.session, f"Use the token {secret} for it")
    one.write([one.asked(f"Use the token {secret} for it", timestamp=stamp(1)), one.said("Used.")])
    done = machine.run()
    assert (done.episodes, done.known) == (0, 1)


# --- erased and hidden ---


def test_an_imported_turn_that_was_erased_stays_erased(machine: Machine):
    one = Claude(machine.claude, machine.root)
    file = one.write([*one.turn("Say mellon", "Friend."), *one.turn("Second", "Two.")])
    machine.run()
    journal = Journal.of(machine.root)
    first = next(event.id for event in journal.read() if event.kind == "episode")
    erase_events(
        journal, EraseRequest([first], found=False, with_patches=False), make_again=list, store=machine.base / "store"
    )
    assert machine.prompts() == ["Second"]
    os.utime(file)
    one.write(one.turn("Third", "Three."))
    machine.run()
    copy = file.with_name("copy.jsonl")
    copy.write_bytes(file.read_bytes())
    machine.run()
    assert machine.prompts() == ["Second", "Third"]
    assert not any(b"mellon" in found.read_bytes() for found in journal.folder.rglob("*") if found.is_file())


def test_a_turn_of_a_hook_that_was_erased_is_not_imported(machine: Machine):
    one = Claude(machine.claude, machine.root)
    asked = hooked(machine, one.session, "Say mellon")
    one.write([one.asked("Say mellon", timestamp=stamp(0)), one.said("Friend."), *one.turn("Second", "Two.")])
    journal = Journal.of(machine.root)
    erase_events(
        journal, EraseRequest([asked], found=False, with_patches=False), make_again=list, store=machine.base / "store"
    )
    machine.run()
    assert machine.prompts() == ["Second"]


def test_after_the_journal_was_removed_everything_is_imported_again(machine: Machine):
    from cm_tui.engine.platform.journal import removal

    one = Claude(machine.claude, machine.root)
    one.write(one.turn("First", "One."))
    machine.run()
    removal.remove(Journal.of(machine.root))
    assert machine.run().episodes == 1


@pytest.mark.parametrize("is_state_lost", [False, True])
def test_what_moved_to_the_archive_is_not_imported_again(machine: Machine, is_state_lost: bool):
    one = Claude(machine.claude, machine.root)
    hooked(machine, one.session, "Told by a hook")
    file = one.write([one.asked("Told by a hook", timestamp=stamp(1)), one.said("Yes."), *one.turn("First", "One.")])
    machine.run()
    with Engine.open(machine.root) as engine:
        list(engine.index())
        assert engine.retention(apply=True, older_than=0).archived == 2
    assert machine.prompts() == []
    if is_state_lost:
        for state in machine.transcripts().state.folder.glob("*.json"):
            state.unlink()
    file.with_name("copy.jsonl").write_bytes(file.read_bytes())
    one.write(one.turn("Second", "Two."))
    machine.run()
    assert machine.prompts() == ["Second"]


def test_what_is_not_to_be_recorded_is_passed_over(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([*one.turn("First", "One."), *one.turn("Secret", "Two."), *one.turn("Third", "Three.")])
    project = Journal.of(machine.root).folder.name
    gate.begin(project, None, now=LONG_AGO + 12)
    gate.end(project, now=LONG_AGO + 18)
    last = list(Import(machine.transcripts()).run(Cancel()))[-1]
    assert last.imported is not None
    assert (last.imported.episodes, last.imported.withheld) == (2, 1)
    assert machine.prompts() == ["First", "Third"]
    assert machine.run().transcripts == 0


# --- whatever happens between ---

ACTIONS = st.lists(
    st.sampled_from(["grow", "import", "lose the state", "copy", "truncate", "half a line", "rename"]), max_size=14
)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS, seed=st.integers(0, 2**16))
def test_each_turn_is_recorded_once_whatever_happens_between(
    tmp_path_factory: pytest.TempPathFactory, actions: list[str], seed: int
):
    machine = Machine(tmp_path_factory.mktemp("machine"))
    chance = random.Random(seed)
    one = Claude(machine.claude, machine.root)
    said = _grow(one, [])
    for action in actions:
        said = _act(machine, one, action, said, chance)
    one.write([])
    machine.run()
    assert sorted(machine.prompts()) == sorted(said)


def _grow(one: Claude, said: list[str]) -> list[str]:
    prompt = f"Prompt {len(said)}"
    one.write(one.turn(prompt, "Done."))
    return [*said, prompt]


def _act(machine: Machine, one: Claude, action: str, said: list[str], chance: random.Random) -> list[str]:
    if action == "grow":
        return _grow(one, said)
    if action == "import":
        machine.run()
    elif action == "lose the state":
        for file in machine.transcripts().state.folder.glob("*.json"):
            file.unlink()
    elif action == "copy":
        one.file.with_name(f"copy-{chance.random()}.jsonl").write_bytes(one.file.read_bytes())
    elif action == "rename":
        content = one.file.read_bytes()
        one.file.unlink()
        one.file = one.file.with_name(f"{chance.random()}.jsonl")
        one.file.write_bytes(content)
    elif action == "half a line":
        whole = one.file.read_bytes()
        one.file.write_bytes(whole + b'{"type":"user","mess')
        machine.run()
        one.file.write_bytes(whole)
    elif action == "truncate":
        whole = one.file.read_bytes()
        _cut(one.file, chance)
        machine.run()
        one.file.write_bytes(whole)
    return said


def _cut(file: Path, chance: random.Random) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    # Between two turns: half a turn that came to rest is one.
    file.write_bytes(b"".join(lines[: chance.randrange(len(lines) // 2 + 1) * 2]))
    os.utime(file, (0, 0))
