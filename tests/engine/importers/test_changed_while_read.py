"""A transcript that somebody changes while it is read: each turn that stays in a file is recorded, once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.engine.memory.importers import one_transcript
from cm_tui.engine.memory.importers.run import Import
from cm_tui.model import Cancel, ImportSummary
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude

TURNS = 300
"""More than a buffer holds of a file."""


def turns(one: Claude, name: str, number: int = TURNS) -> list[dict[str, object]]:
    return [record for at in range(number) for record in one.turn(f"{name} {at}", "word " * 60)]


@pytest.fixture
def session(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Claude:
    monkeypatch.setattr(one_transcript, "_BATCH", 5)
    one = Claude(machine.claude, machine.root)
    one.write(turns(one, "Old"))
    return one


def run(machine: Machine, meanwhile: Callable[[], None]) -> ImportSummary:
    """Import, and do something once the first turns are recorded."""
    summary, done = None, False
    for step in Import(machine.transcripts()).run(Cancel()):
        if not done and machine.prompts():
            done = True
            meanwhile()
        summary = step.imported or summary
    assert done
    assert summary is not None
    return summary


def everything(machine: Machine, name: str, number: int) -> None:
    machine.run()
    machine.run()
    found = [prompt for prompt in machine.prompts() if prompt.startswith(name)]
    # Of what was written over, some was read in the midst of it.
    assert sorted(found) == sorted(f"{name} {at}" for at in range(number))
    assert len(set(machine.prompts())) == len(machine.prompts())


def other_content(machine: Machine, session: Claude, name: str, number: int = 2 * TURNS) -> Path:
    """Write a file with other turns of another session, longer than the one that is read."""
    other = Claude(machine.claude, machine.root, "77777777-aaaa-4aaa-8aaa-777777777777")
    other.file = machine.base / "aside.jsonl"
    other.clock = 1_000_000.0
    return other.write(turns(other, name, number))


def test_what_is_appended_is_taken_the_next_time(machine: Machine, session: Claude):
    run(machine, lambda: void(session.write(turns(session, "New", 3))))
    everything(machine, "Old", TURNS)
    everything(machine, "New", 3)


@pytest.mark.parametrize("number", [5, 2 * TURNS])
def test_one_that_was_replaced_is_read_again(machine: Machine, session: Claude, number: int):
    aside = other_content(machine, session, "New", number)
    run(machine, lambda: void(aside.replace(session.file)))
    everything(machine, "New", number)


@pytest.mark.parametrize("number", [5, 2 * TURNS])
def test_one_that_was_written_over_is_read_again(machine: Machine, session: Claude, number: int):
    content = other_content(machine, session, "New", number).read_bytes()
    run(machine, lambda: void(session.file.write_bytes(content)))
    machine.run()
    found = [one for one in machine.prompts() if one.startswith("New")]
    assert set(found) == {f"New {one}" for one in range(number)}
    # One turn may have begun in the one content and ended in the other: it is another one then.
    assert len(found) <= number + 1


def test_one_that_was_cut_off_keeps_what_was_read(machine: Machine, session: Claude):
    run(machine, lambda: os.truncate(session.file, 0))
    before = len(machine.prompts())
    assert before >= 5
    session.write(turns(session, "New", 4))
    everything(machine, "New", 4)
    assert len(machine.prompts()) == before + 4


def test_one_that_was_moved_away_is_read_to_its_end(machine: Machine, session: Claude):
    done = run(machine, lambda: void(session.file.rename(machine.base / "rotated.jsonl")))
    assert any("could not be read to its end" in note or "replaced" in note for note in done.notes)
    session.write(turns(session, "New", 4))
    everything(machine, "New", 4)


def void(_: object) -> None:
    """Take what nobody needs."""
