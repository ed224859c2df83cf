"""Policies approve what a person chose in their own settings, and nothing of what is a person's to decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator import policy
from cm_tui.engine.memory.narrator.turn import Observation, Turn
from cm_tui.model import NarratedFilter
from tests.engine.narrator.decided import approved, decided, note_of, one_of, states, taught
from tests.engine.narrator.passes import new_project, opened, passed, put, said, sayings, use

ALL = '[narrator]\npolicy = "custom"\napprove = { statement = 0.1, command = 0.1, correction = 0.1 }\n'


def wishes(turn: Turn) -> Iterable[Observation]:
    """Find besides what a person prefers wherever they work."""
    for prompt in turn.record.prompts:
        if prompt.startswith("prefer "):
            yield Observation("statement", "", prompt, prompt, prompt, 0.9, scope="user")
    yield from sayings(turn)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    use(monkeypatch, wishes)
    root = new_project(tmp_path / "project")
    taught(root, "boil the quokka", "sign tags")
    put(root, [(n + 500, said("prefer small answers", f"w{n}")) for n in range(3)])
    yield from opened(root)


def chosen(text: str) -> None:
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text(text)


def test_what_a_policy_names_is_approved_listed_and_taken_back_for_good(engine: Engine):
    chosen(ALL)
    trial = passed(engine, dry_run=True)
    assert (trial.approved, trial.waiting, note_of(engine)) == ((), 3, "")
    report = passed(engine)
    found = engine.narrated(NarratedFilter(("approved",), policy=True)).rows
    assert {one.text for one in found} == {"always boil the quokka", "always sign tags"}
    assert {one.id for one in found} == set(report.approved)
    assert {one.decided_by for one in found} == {"policy custom"}
    assert (report.waiting, report.proposed, report.withdrawn) == (1, 3, 0)
    assert note_of(engine).count("cm:narrator") == 2
    assert states(engine)["prefer small answers"] == "waiting", "what is for all projects is a person's"
    again = passed(engine)
    assert (again.approved, again.withdrawn, again.waiting) == ((), 0, 1)
    # The general undo takes back what a person did.
    with pytest.raises(Exception, match="No change of yours"):
        engine.undo()
    one = one_of(engine, "quokka", "approved")
    assert engine.undo_narrated(one.id).done
    for _ in range(2):
        assert passed(engine).approved == ()
        assert states(engine)["always boil the quokka"] == "waiting"
    approved(engine, one.id)
    assert one_of(engine, "quokka", "approved").decided_by == "person"
    engine.undo_narrated(one.id)
    assert passed(engine).approved == ()


def test_what_a_person_took_back_is_not_approved_by_itself(engine: Engine):
    passed(engine)
    for one in engine.narrated().rows:
        approved(engine, one.id)
        engine.undo_narrated(one.id)
    decided(engine, one_of(engine, "sign").id, "defer")
    chosen(ALL)
    report = passed(engine)
    assert "sign tags" not in {engine.narrated_proposal(id_).text for id_ in report.approved}
    assert states(engine)["always sign tags"] == "deferred"


def test_a_policy_that_approves_everything_approves_nothing_of_a_persons(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    note = engine.root / ".cm/notes/project.md"
    note.parent.mkdir(parents=True)
    note.write_text("# Project\n\n## Rules\n\n- Never boil the quokka.\n")
    engine.propose_fact("Wash the quokka.", agent="codex")
    chosen(ALL)
    monkeypatch.setattr(policy, "_is_chosen", lambda one, _: True)
    before = note.read_text()
    passed(engine)
    now = states(engine)
    assert now["Wash the quokka."] == "waiting"
    assert now["prefer small answers"] == "waiting"
    if one_of(engine, "always boil").relation == "contradicts":
        assert now["always boil the quokka"] == "waiting"
    assert note.read_text().startswith(before.rstrip())
