"""What a fork repeats from a session that was held in another project stays there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.memory.importers.project import ProjectTranscripts
from cm_tui.engine.memory.importers.run import Import
from cm_tui.model import Cancel
from tests.engine.importers.conftest import Machine
from tests.engine.importers.transcripts import Claude, Codex
from tests.gitrepo import Repo

_A, _B, _C = (f"{letter * 8}-0000-7000-8000-{letter * 12}" for letter in "abc")


@pytest.fixture
def other(machine: Machine) -> Path:
    """Another repository on the machine."""
    repo = Repo(machine.base / "work" / "other")
    repo.write("a.py", "x = 1\n")
    repo.commit("another beginning")
    return repo.root


def _parent(
    machine: Machine, folder: Path, session: str = _A, *, archived: bool = False
) -> tuple[Codex, list[dict[str, Any]]]:
    one = Codex(machine.codex, folder, session)
    if archived:
        one.file = machine.codex / "archived_sessions" / one.file.name
    return one, [one.meta(), *one.turn("Asked there", "Done there."), *one.turn("Asked there again", "Done again.")]


def _fork(
    machine: Machine, folder: Path, session: str, of: str, repeated: list[dict[str, Any]], prompt: str
) -> list[dict[str, Any]]:
    """A fork as it is written: what it repeats has the time of the copy."""
    one = Codex(machine.codex, folder, session)
    one.clock = 5_000
    meta = one.meta(forked_from_id=of)
    copies = [{**record, "timestamp": meta["timestamp"]} for record in repeated]
    one.clock = 6_000
    records = [meta, *copies, one.line("turn_context", {"cwd": str(folder)}), *one.turn(prompt, "Done.")]
    one.write(records)
    return records


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("tells", [True, False])
def test_a_fork_of_codex_brings_no_turns_of_another_project(machine: Machine, other: Path, archived: bool, tells: bool):
    """Also where it does not repeat whose turns these were."""
    one, records = _parent(machine, other, archived=archived)
    one.write(records)
    _fork(machine, machine.root, _B, _A, records if tells else records[1:], "Asked here")
    done = machine.run()
    assert machine.prompts() == ["Asked here"]
    assert [record.session for record in machine.episodes()] == [_B]
    assert any(f"repeats 2 turns of a session in {other}: not recorded here" in note for note in done.notes)
    assert machine.run().transcripts == 0


def test_a_fork_of_a_fork_brings_no_turns_of_another_project(machine: Machine, other: Path):
    one, records = _parent(machine, other)
    one.write(records)
    second = _fork(machine, machine.root, _B, _A, records, "Asked here")
    _fork(machine, machine.root, _C, _B, second, "Asked here at last")
    machine.run()
    assert machine.prompts() == ["Asked here", "Asked here at last"]
    of_other = ProjectTranscripts(other, (), (), machine.environment)
    list(Import(of_other).run(Cancel()))


@pytest.mark.parametrize("has_context", [True, False])
def test_a_fork_whose_origin_is_not_there_brings_no_turns_of_another_project(
    machine: Machine, other: Path, has_context: bool
):
    _, records = _parent(machine, other)
    written = _fork(machine, machine.root, _B, _A, records, "Asked here")
    if not has_context:
        one = Codex(machine.codex, machine.root, _B)
        one.file.unlink()
        one.write([record for record in written if record["type"] != "turn_context"])
    machine.run()
    assert machine.prompts() == ["Asked here"]


def test_sub_agents_of_codex_bring_no_turns_of_another_project(machine: Machine, other: Path):
    one, records = _parent(machine, other)
    one.write(records)
    child = Codex(machine.codex, machine.root, _B)
    child.clock = 5_000
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": _A}}}
    child.write([child.meta(source=spawn), *records, *child.turn("Look here", "Looked.")])
    machine.run()
    assert machine.prompts() == ["Look here"]


def test_sessions_that_name_each_other_as_their_origin_are_read(machine: Machine, other: Path):
    _, records = _parent(machine, other)
    _fork(machine, machine.root, _B, _C, records, "Asked here")
    _fork(machine, other, _C, _B, records, "Asked there at last")
    machine.run()
    assert "Asked here" in machine.prompts()
    assert "Asked there at last" not in machine.prompts()


def test_a_fork_in_another_folder_of_the_project_is_one_story(machine: Machine):
    (machine.root / "sub").mkdir()
    one, records = _parent(machine, machine.root / "sub")
    one.write(records)
    _fork(machine, machine.root, _B, _A, records, "Asked here")
    done = machine.run()
    assert machine.prompts() == ["Asked there", "Asked there again", "Asked here"]
    assert {record.session for record in machine.episodes()} == {_A}
    assert (done.known, done.notes) == (2, ())


@pytest.mark.parametrize("long", [1, 150])
def test_a_fork_of_claude_code_brings_no_turns_of_another_project(machine: Machine, other: Path, long: int):
    one = Claude(machine.claude, other)
    records = [record for number in range(long) for record in one.turn(f"Asked there {number}", "Done there.")]
    one.write(records)
    fork = Claude(machine.claude, machine.root, "99999999-aaaa-4aaa-8aaa-111111111111")
    fork.clock, fork.last = 90_000, one.last
    copies = [
        {**record, "sessionId": fork.session, "forkedFrom": {"sessionId": one.session, "messageUuid": record["uuid"]}}
        for record in records
    ]
    fork.write([*copies, *fork.turn("Asked here", "Done.")])
    machine.run()
    assert machine.prompts() == ["Asked here"]
    assert [record.session for record in machine.episodes()] == [fork.session]


def test_a_fork_of_claude_code_in_the_project_is_one_story(machine: Machine):
    one = Claude(machine.claude, machine.root)
    records = one.turn("First", "One.")
    one.write(records)
    fork = Claude(machine.claude, machine.root, "99999999-aaaa-4aaa-8aaa-111111111111")
    fork.clock, fork.last = 90_000, one.last
    copies = [{**record, "sessionId": fork.session, "forkedFrom": {"sessionId": one.session}} for record in records]
    fork.write([*copies, *fork.turn("Second", "Two.")])
    machine.run()
    assert machine.prompts() == ["First", "Second"]
    assert {record.session for record in machine.episodes()} == {one.session}
