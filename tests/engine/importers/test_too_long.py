"""What is too long for the journal, or too much for memory: that alone is shortened or passed over, and it is told."""

from __future__ import annotations

import os
import time

import pytest

from cm_tui.engine.memory.importers.plan import plan
from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.memory.transcripts import files
from cm_tui.engine.memory.transcripts import lines as lines_of
from cm_tui.engine.memory.transcripts.transcript import Resume
from cm_tui.engine.memory.transcripts.turn import Turn
from cm_tui.errors import CancelledError
from cm_tui.model import Cancel
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, Cursor

WIDE = "\U0001f600" * 8_000


def _long_turn(one: Claude) -> list[object]:
    """Ten prompts of which each takes 96 kB in the journal."""
    first = one.asked(WIDE)
    return [first, *(one.asked(f"{number}{WIDE}") for number in range(9)), one.said(WIDE)]


def test_a_turn_that_is_too_long_takes_nothing_from_its_neighbours(machine: Machine):
    one = Claude(machine.claude, machine.root)
    records: list[object] = []
    for number in range(6):
        path = f"{machine.root}/f{number}.py"
        records += [
            one.asked(f"Ask {number}"), one.used("Write", {"file_path": path, "content": "x = 1\n"}, f"w{number}"),
            one.got(f"w{number}", "written"), one.said("Done."),
        ]  # fmt: skip
        if number == 2:
            records += _long_turn(one)
    one.write(records)
    done = machine.run()
    assert (done.episodes, done.broken, done.notes) == (7, {}, ())
    others = [record for record in machine.episodes() if record.prompts[0].startswith("Ask")]
    assert len(others) == 6
    assert all(record.steps and record.patch for record in others)
    (long,) = [record for record in machine.episodes() if record not in others]
    assert "too long for the journal" in long.note
    assert (len(long.prompts), len(long.prompts[0])) == (10, 4_000)


def test_tags_that_are_never_closed_take_no_time(machine: Machine):
    one = Cursor(machine.cursor, machine.root)
    record = one.asked("")
    record["message"]["content"][0]["text"] = "<user_query>Ask" + " <user_query>" * 60_000
    one.write([record, one.said("Done."), one.ended()])
    assert machine.run().episodes == 1
    assert machine.prompts()[0].startswith("Ask <user_query>")


@pytest.mark.parametrize("name", ["sessionId", "agentId"])
def test_an_id_that_is_too_long_is_known_by_its_digest(machine: Machine, name: str):
    one, good = Claude(machine.claude, machine.root), Codex(machine.codex, machine.root)
    odd = {name: "s" * 1_100_000, "isSidechain": name == "agentId"}
    one.write([{**record, **odd} for record in one.turn("First", "One.")])
    good.write([good.meta(), *good.turn("Good", "Yes.")])
    done = machine.run()
    assert (done.notes, done.broken) == ((), {})
    assert sorted(machine.prompts()) == ["First", "Good"]
    assert all(len(record.session) < 100 for record in machine.episodes())
    assert machine.run().transcripts == 0


def test_a_turn_that_cannot_be_shortened_is_counted_and_the_others_are_written(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    from cm_tui.engine.memory.importers import record

    monkeypatch.setattr(record, "_SHORTER", ())
    one = Claude(machine.claude, machine.root)
    file = one.write([*one.turn("First", "One."), *_long_turn(one), *one.turn("Third", "Three.")])
    done = machine.run()
    assert machine.prompts() == ["First", "Third"]
    assert done.broken == {"claude-code: turn too long for the journal": 1}
    assert done.notes == (f"{file}: a turn is too long for the journal even when it is shortened",)
    assert machine.run().transcripts == 0


def test_a_hole_in_a_file_is_passed_over_and_told(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lines_of, "SKIPPED_BYTES", 3_000_000)
    one, other = Claude(machine.claude, machine.root), Codex(machine.codex, machine.root)
    file = one.write(one.turn("First", "One."))
    with file.open("ab") as stream:
        stream.truncate(20_000_000_000)
    os.utime(file, (LONG_AGO, LONG_AGO))
    empty = other.file.with_name("rollout-hole.jsonl")
    other.write([other.meta(), *other.turn("Second", "Two.")])
    with empty.open("wb") as stream:
        stream.truncate(20_000_000_000)
    began = time.process_time()
    plan(machine.transcripts())
    done = machine.run()
    assert time.process_time() - began < 5
    assert sorted(machine.prompts()) == ["First", "Second"]
    assert done.broken == {"claude-code: so long that the rest is not read": 1}
    assert machine.run().transcripts == 0


def test_somebody_who_cancels_waits_for_no_end_of_a_transcript(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([one.asked("First"), *[one.said("more", over=False)] * 3_000])
    cancel = Cancel()
    steps = Import(machine.transcripts()).run(cancel)
    next(steps)
    next(steps)
    cancel.set()
    with pytest.raises(CancelledError):
        list(steps)
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1

    found = machine.transcripts().found()[0]
    list(found.format.read(found.transcript, found.facts, Resume(check=check)))
    assert looks == 3_001


def test_a_turn_of_nothing_but_texts_takes_bounded_memory():
    turn = Turn("k")
    for number in range(5_000):
        turn.say(f"text {number}")
        turn.use(f"call {number}", f"tool {number}", "x") if number % 2 else turn.think("hm")
    assert (len(turn.steps), len(turn._open), len(turn.tools)) == (60, 500, 200)
    turn = Turn("k")
    for number in range(5_000):
        turn.say(f"text {number}")
    assert (len(turn.answer), turn.answer[0], turn.answer[-1]) == (60, "text 0", "text 4999")
    turn.use("c", "Bash", "ls")
    assert turn.step_count == 5_001


def test_folders_with_more_files_than_are_looked_at_are_told(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "_MOST", 3)
    for number in range(4):
        one = Claude(machine.claude, f"{machine.root}", f"{number}")
        one.file = machine.claude / "projects" / f"p{number}" / "a.jsonl"
        one.write(one.turn(f"Prompt {number}", "Done."))
    told = (f"{machine.claude / 'projects'} has too many files: not all were searched for sessions",)
    assert plan(machine.transcripts()).notes == told
    assert machine.run().notes == told
