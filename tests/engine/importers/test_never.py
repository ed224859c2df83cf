"""What is never to be recorded, by import and while sessions are followed: folders, files in them, sessions by any of their names."""

from __future__ import annotations

import json

import pytest

from cm_tui.engine.memory.importers import run
from cm_tui.engine.memory.importers.details import with_details
from cm_tui.engine.memory.importers.run import Follower
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Cancel
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude

WORDS = "the customers are Ann and Bob"


@pytest.fixture
def private(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder inside of the project that is never recorded."""
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    folder = str(machine.root / "private")
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", json.dumps([folder]))
    return folder


def touching(one: Claude, folder: str) -> list[dict[str, object]]:
    """A turn that reads and writes a file in the folder, and one beside it."""
    return [
        one.asked("Tidy up"),
        one.used("Read", {"file_path": f"{folder}/list.md"}, "r1"),
        one.got("r1", WORDS),
        one.used("Write", {"file_path": f"{folder}/list.md", "content": WORDS + "\n"}, "w1"),
        one.got("w1", "written"),
        one.used("Write", {"file_path": f"{one.folder}/open.md", "content": "open words\n"}, "w2"),
        one.got("w2", "written"),
        one.said("Done."),
    ]


def take(machine: Machine, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "import":
        machine.run()
    else:
        monkeypatch.setattr(run, "REST_SECONDS", 0.0)
        Follower(machine.root).look(Cancel())


@pytest.mark.parametrize("way", ["import", "follow"])
def test_files_in_such_a_folder_leave_nothing(
    machine: Machine, private: str, way: str, monkeypatch: pytest.MonkeyPatch
):
    one = Claude(machine.claude, machine.root)
    one.write(touching(one, private))
    take(machine, way, monkeypatch)
    (record,) = machine.episodes()
    assert record.files == ("open.md",)
    assert "+open words" in record.patch
    assert "[omitted: private/list.md is in a folder that is never recorded]" in record.patch
    tools = [step for step in record.steps if step.kind == "tool"]
    assert [step.text.startswith("[omitted") for step in tools] == [True, True, False]
    assert WORDS not in str(record)


def test_nor_do_they_by_what_a_transcript_adds_to_a_hook(machine: Machine, private: str):
    one = Claude(machine.claude, machine.root)
    one.write(touching(one, private))
    told = EpisodeRecord(agent="claude-code", session=one.session, root=str(machine.root), prompts=("Tidy up",))
    detailed = with_details(told)
    assert len([step for step in detailed.steps if step.kind == "tool"]) == 3
    assert WORDS not in str(detailed)


@pytest.mark.parametrize("way", ["import", "follow"])
def test_a_turn_that_worked_there_is_passed_by(
    machine: Machine, private: str, way: str, monkeypatch: pytest.MonkeyPatch
):
    one = Claude(machine.claude, machine.root)
    inside = [one.asked("In there", cwd=f"{private}/sub"), one.said("Hidden.", cwd=f"{private}/sub")]
    one.write([*one.turn("Before", "One."), *inside, *one.turn("After", "Two.")])
    take(machine, way, monkeypatch)
    assert machine.prompts() == ["Before", "After"]


@pytest.mark.parametrize("way", ["import", "follow"])
def test_a_session_that_was_resumed_is_known_by_each_of_its_names(
    machine: Machine, way: str, monkeypatch: pytest.MonkeyPatch
):
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    one = Claude(machine.claude, machine.root)
    first = one.turn("First", "One.")
    one.write(first)
    take(machine, way, monkeypatch)
    # The list of episodes names the session by its first file; what follows stands in another one.
    gate.mark_session(one.session, never=True)
    other = Claude(machine.claude, machine.root, "99999999-aaaa-4aaa-8aaa-111111111111")
    other.clock = one.clock
    other.write([*({**record, "sessionId": other.session} for record in first), *other.turn("Second", "Two.")])
    take(machine, way, monkeypatch)
    assert machine.prompts() == ["First"]
    assert not any("Second" in str(event.data) for event in Journal.of(machine.root).read())


def test_sub_agents_of_such_a_session_are_not_recorded(machine: Machine):
    one = Claude(machine.claude, machine.root)
    gate.mark_session(one.session, never=True)
    one.write(one.turn("First", "One."))
    side = Claude(machine.claude, machine.root, one.session)
    side.file = side.file.with_name("agent-abc.jsonl")
    side.side = {"isSidechain": True, "agentId": "abc"}
    side.write(side.turn("Look into it", "I did."))
    done = machine.run()
    assert (done.episodes, done.withheld) == (0, 2)
