"""An import that is killed, a state that is lost, a file that is replaced meanwhile: nothing is lost, twice, or back."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import islice

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.erasure.erase import EraseRequest, erase_events
from cm_tui.engine.memory.erasure.scan import clean, scan
from cm_tui.engine.memory.importers import one_transcript
from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CancelledError
from cm_tui.model import Cancel
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude, OpenCode, write_lines

SECRET = "ghp_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_transcript, "_BATCH", 8)


def _many(machine: Machine, turns: int = 20) -> Claude:
    one = Claude(machine.claude, machine.root)
    one.write([record for number in range(turns) for record in one.turn(f"Prompt {number}", "Done.")])
    return one


def _stopped(machine: Machine) -> None:
    """An import that somebody stops after its first batch."""
    cancel = Cancel()
    with suppress(CancelledError):
        for _ in islice(Import(machine.transcripts()).run(cancel), 3):
            pass
        cancel.set()


def _erase(machine: Machine, ids: list[str]) -> None:
    asked = EraseRequest(ids, found=False, with_patches=False)
    erase_events(Journal.of(machine.root), asked, make_again=list, store=machine.base / "store")


def _ids(machine: Machine) -> list[str]:
    return [event.id for event in Journal.of(machine.root).read() if event.kind == "episode"]


def test_what_is_erased_after_an_interrupted_import_stays_erased(machine: Machine):
    _many(machine)
    _stopped(machine)
    assert 0 < len(machine.episodes()) < 20
    _erase(machine, _ids(machine)[:3])
    machine.run()
    assert sorted(machine.prompts()) == sorted(f"Prompt {number}" for number in range(3, 20))


def test_turns_are_numbered_once_after_an_interrupted_import(machine: Machine):
    _many(machine)
    _stopped(machine)
    machine.run()
    assert [record.turn for record in machine.episodes()] == list(range(1, 21))


def test_an_archived_turn_that_was_erased_stays_erased_when_the_state_is_lost(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([*one.turn("First", "One."), *one.turn("Second", "Two.")])
    machine.run()
    first = _ids(machine)[0]
    with Engine.open(machine.root) as engine:
        list(engine.index())
        assert engine.retention(apply=True, older_than=0).archived == 2
        engine.erase([first])
    for state in machine.transcripts().state.folder.glob("*.json"):
        state.unlink()
    machine.run()
    assert machine.prompts() == []


def test_very_many_kinds_of_records_are_counted_together_and_their_state_can_be_read(machine: Machine):
    one = Claude(machine.claude, machine.root)
    first = one.turn("Say mellon", "Friend.")
    one.write([*first, *({"type": f"k{number}"} for number in range(500))])
    done = machine.run()
    assert sum(done.unknown.values()) == 500
    assert (len(done.unknown), done.unknown["others"]) == (101, 400)
    assert len(list(machine.transcripts().state.all())) == 1


@pytest.mark.parametrize("damage", [b"{", b"[]", b" " * 20_000_001])
def test_a_state_that_cannot_be_read_is_told_and_brings_nothing_back(machine: Machine, damage: bytes):
    one = Claude(machine.claude, machine.root)
    one.write([*one.turn("Say mellon", "Friend."), *one.turn("Second", "Two.")])
    machine.run()
    _erase(machine, _ids(machine)[:1])
    (file,) = machine.transcripts().state.folder.glob("*.json")
    file.write_bytes(damage)
    done = machine.run()
    assert machine.prompts() == ["Second"]
    assert done.notes[0].startswith(f"1 file in {file.parent} could not be read")
    assert machine.run().notes == ()


@pytest.mark.parametrize("how", ["replaced", "rewritten"])
def test_a_file_that_is_replaced_while_it_is_read_loses_no_turn(machine: Machine, how: str):
    one = _many(machine)
    steps = Import(machine.transcripts()).run(Cancel())
    # The third step stands behind the first batch.
    list(islice(steps, 3))
    new = _written_over(machine, one, "", in_place=how == "rewritten")
    last = list(steps)[-1].imported
    assert last is not None
    assert last.notes == (f"{one.file} was replaced while it was read: it is read again the next time",)
    machine.run()
    assert set(machine.prompts()) >= new
    assert len(machine.prompts()) == len(set(machine.prompts()))


def test_a_line_that_begins_in_the_file_before_and_ends_in_the_new_one_is_no_turn(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(one_transcript, "_BATCH", 1)
    one = Claude(machine.claude, machine.root)
    told: set[str] = set()
    new: set[str] = set()
    for number in range(20):
        # What was read ahead ends at another place of a line each time.
        one.file.unlink(missing_ok=True)
        asked = [f"Prompt {number} {turn}" for turn in range(20)]
        one.write([record for prompt in asked for record in one.turn(prompt, "Done.")])
        steps = Import(machine.transcripts()).run(Cancel())
        list(islice(steps, 3))
        new |= _written_over(machine, one, "x" * number, in_place=True)
        list(steps)
        machine.run()
        told |= {*asked}
    prompts = machine.prompts()
    assert sorted(prompt for prompt in prompts if prompt not in told) == sorted(new)


def _written_over(machine: Machine, one: Claude, more: str, *, in_place: bool) -> set[str]:
    """Replace a transcript by another session's, and return the prompts of that."""
    other = Claude(machine.claude, machine.root, f"99999999-aaaa-4aaa-8aaa-{len(more):012}")
    other.clock = 90_000 + 1_000 * len(more)
    prompts = [f"New {number}{more}" for number in range(30)]
    new = [record for prompt in prompts for record in other.turn(prompt, "Done.")]
    if in_place:
        one.file.write_bytes(b"")
        write_lines(one.file, new)
    else:
        write_lines(one.file.with_suffix(".new"), new).replace(one.file)
    return set(prompts)


def test_a_state_holds_no_secret_and_the_scan_and_the_erasure_look_at_it(machine: Machine):
    one = Claude(machine.claude, machine.root, SECRET)
    one.file = one.file.with_name("plain.jsonl")
    one.write([*one.turn("First", "One."), {"type": f"weird {SECRET}"}, {**one.asked("More"), "uuid": SECRET}])
    stored = OpenCode(machine.data, machine.root)
    stored.turn(stored.session("ses_a"), "Second", "Two.")
    stored.messages[1][1].append({"type": f"{'x' * 40} {SECRET}"})
    stored.write_files()
    machine.run()
    folder = machine.transcripts().state.folder
    assert not any(SECRET[8:20].encode() in file.read_bytes() for file in folder.iterdir())
    assert machine.run().transcripts == 0
    # As earlier versions wrote it.
    file = next(iter(sorted(folder.glob("*.json"))))
    kept = {**json.loads(file.read_bytes()), "own": SECRET, "unknown": {f"record {SECRET}": [1, 0]}}
    file.write_text(json.dumps(kept))
    found = scan(None, None, None).findings
    assert [one.where for one in found] == [str(file)]
    assert clean(file, None)
    assert SECRET not in file.read_text()
    assert machine.run().episodes == 0


def test_a_batch_that_cannot_be_written_is_taken_the_next_time(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.errors import StoreError

    _many(machine, 3)
    project = machine.transcripts()
    again = Import(project)

    def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as context:
        context.setattr(Journal, "append_all", full)
        with pytest.raises(StoreError):
            list(again.run(Cancel()))
    list(again.run(Cancel()))
    assert machine.prompts() == [f"Prompt {number}" for number in range(3)]


def test_reading_is_left_off_where_nobody_asks_for_more(machine: Machine):
    _many(machine)
    project = machine.transcripts()
    again = Import(project)
    list(islice(again.run(Cancel()), 3))
    list(again.run(Cancel()))
    assert sorted(machine.prompts()) == sorted(f"Prompt {number}" for number in range(20))
