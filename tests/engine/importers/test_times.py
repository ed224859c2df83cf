"""When a turn was: what its records do not say is taken from the session and its file, for its date and for pauses."""

from __future__ import annotations

import os
from datetime import datetime

import pytest

from cm_tui.engine.memory.importers.plan import plan
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.transcripts.transcript import parse_time
from cm_tui.engine.platform.journal.journal import Journal
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, iso, write_lines


def _old_codex(machine: Machine, *, meta: bool, name: str = "rollout-2025-05-07T11-12-13-abc.jsonl") -> None:
    """A session of an old version: flat records without times."""
    first = {"id": "abc", "instructions": None, **({"timestamp": "2025-05-06T10:00:00Z"} if meta else {})}
    records = [
        first, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"<environment_context>\n<cwd>{machine.root}</cwd>"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "First"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One."}]},
    ]  # fmt: skip
    write_lines(machine.codex / "sessions" / "2025" / name, records)


@pytest.mark.parametrize(
    ("meta", "name", "when"),
    [
        (True, "rollout-2025-05-07T11-12-13-abc.jsonl", parse_time("2025-05-06T10:00:00Z")),
        (False, "rollout-2025-05-07T11-12-13-abc.jsonl", datetime(2025, 5, 7, 11, 12, 13).astimezone().timestamp()),
        (False, "rollout-2025-99-99T11-12-13-abc.jsonl", LONG_AGO),
    ],
)
def test_a_turn_without_a_time_has_that_of_its_session_or_its_file(
    machine: Machine, meta: bool, name: str, when: float
):
    _old_codex(machine, meta=meta, name=name)
    machine.run()
    assert [record.at for record in machine.episodes()] == [when]


def test_what_would_be_imported_is_dated_by_its_turns(machine: Machine):
    one = Codex(machine.codex, machine.root)
    file = one.write([one.meta(), *one.turn("First", "One.")])
    os.utime(file)
    _old_codex(machine, meta=True)
    os.utime(machine.codex / "sessions" / "2025" / "rollout-2025-05-07T11-12-13-abc.jsonl")
    (source,) = plan(machine.transcripts()).sources
    assert source.first == parse_time("2025-05-06T10:00:00Z")
    assert source.last == parse_time(iso(one.clock))


@pytest.mark.parametrize(("begin", "end", "is_kept"), [(-50, -10, False), (10, 20, True), (-9e8, -8e8, True)])
def test_a_pause_holds_back_turns_that_do_not_say_when_they_were(
    machine: Machine, begin: float, end: float, is_kept: bool
):
    """The session began before its file was changed last; a pause between may have had the turn in it."""
    _old_codex(machine, meta=True)
    project = Journal.of(machine.root).folder.name
    gate.begin(project, None, now=LONG_AGO + begin)
    gate.end(project, now=LONG_AGO + end)
    done = machine.run()
    assert (done.episodes, done.withheld) == ((1, 0) if is_kept else (0, 1))


def test_a_pause_holds_back_a_turn_of_which_only_the_files_change_is_known(machine: Machine):
    one = Claude(machine.claude, machine.root)
    one.write([{**record, "timestamp": None} for record in one.turn("First", "One.")])
    project = Journal.of(machine.root).folder.name
    gate.begin(project, None, now=LONG_AGO - 9_000)
    gate.end(project, now=LONG_AGO - 8_000)
    assert machine.run().withheld == 1
