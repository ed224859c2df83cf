"""Edits of episodes are events: what an episode is now is what those say that were not undone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.episodes import undo
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.model import Episode, EpisodeEdit, EpisodeFilter


@pytest.fixture
def engine(indexed_engine: Engine) -> Engine:
    return indexed_engine


def record(engine: Engine, prompt: str, **fields: object) -> str:
    data = EpisodeRecord(prompts=(prompt,), **fields).to_event_data()  # type: ignore[arg-type]
    return Journal.of(engine.root).append("episode", data).id


def said(one: Episode) -> tuple[tuple[str, ...], int, bool, str]:
    return one.tags, one.rating, one.pinned, one.state


def test_edits_add_up_and_are_undone_one_by_one(engine: Engine):
    first, second = record(engine, "one", tags=("old",)), record(engine, "two")
    edited = engine.edit_episodes([first, second[:20]], EpisodeEdit(add_tags=("bug", " big  bug "), pinned=True))
    assert edited.ids == (first, second)
    assert edited.words == "tagged bug, big bug; pinned: 2 episodes"
    assert said(engine.episode(first)) == (("old", "bug", "big bug"), 0, True, "shown")
    engine.edit_episodes([first], EpisodeEdit(remove_tags=("old",), rating=-1))
    engine.edit_episodes(["last"], EpisodeEdit(forgotten=True))
    assert [one.id for one in engine.episodes().rows] == [first]
    assert said(engine.episodes(where=EpisodeFilter(state="forgotten")).rows[0])[3] == "forgotten"
    asked = engine.undo(dry_run=True)
    assert (asked.ids, asked.words, asked.dry_run) == ((second,), "undone: forgotten: 1 episode", True)
    assert engine.undo().change == asked.change
    assert engine.episodes().total == 2
    assert engine.undo().ids == (first,)
    assert said(engine.episode(first)) == (("old", "bug", "big bug"), 0, True, "shown")
    assert engine.undo().change == edited.change
    assert [said(engine.episode(one)) for one in (first, second)] == [
        (("old",), 0, False, "shown"),
        ((), 0, False, "shown"),
    ]
    with pytest.raises(NotFoundError, match="No change of yours"):
        engine.undo()


def test_one_change_is_undone_by_its_id_whatever_came_after_it(engine: Engine):
    one = record(engine, "one")
    pinned = engine.edit_episodes([one], EpisodeEdit(pinned=True))
    engine.edit_episodes([one], EpisodeEdit(add_tags=("bug",)))
    assert engine.undo(change=pinned.change, dry_run=True).words == "undone: pinned: 1 episode"
    assert engine.undo(change=pinned.change).ids == (one,)
    assert said(engine.episode(one)) == (("bug",), 0, False, "shown")
    for name in (pinned.change, "no such change"):
        with pytest.raises(NotFoundError, match="is already undone"):
            engine.undo(change=name)
    engine.undo()
    assert said(engine.episode(one)) == ((), 0, False, "shown")


def test_what_an_agent_may_not_change(engine: Engine):
    mine = engine.record_episode("remember the gravel", files=["a.py"], tags=["stone"]).id
    pinned, rated, plain = (record(engine, name) for name in ("pinned", "rated", "plain"))
    engine.edit_episodes([pinned], EpisodeEdit(pinned=True))
    engine.edit_episodes([rated], EpisodeEdit(rating=1))
    for one in (mine, pinned, rated):
        for edit in (EpisodeEdit(forgotten=True), EpisodeEdit(add_tags=("x",)), EpisodeEdit(pinned=False)):
            with pytest.raises(RefusedError, match="only the user"):
                engine.edit_episodes([plain, one], edit, actor="agent")
    engine.edit_episodes([plain], EpisodeEdit(add_tags=("x",), pinned=True), actor="agent")
    engine.edit_episodes([plain], EpisodeEdit(pinned=False), actor="agent")
    assert said(engine.episode(plain)) == (("x",), 0, False, "shown")
    assert engine.undo().ids == (rated,), "what an agent did is not the person's to undo unasked"
    engine.edit_episodes([rated], EpisodeEdit(add_tags=("y",)), actor="agent")


def test_a_recording_by_hand_is_found_and_undone(engine: Engine):
    one = engine.record_episode("run the gravel tests\nwith care", type="command", answer="12 passed", outcome="ok")
    assert (one.actor, one.type, one.outcome, one.answer, one.moment.ordinal) == (
        "person",
        "command",
        "ok",
        "12 passed",
        1,
    )
    assert engine.sessions().rows[0].title == "run the gravel tests"
    assert [hit.path for hit in engine.search("gravel tests", profile="memory").hits] == [f"episode/{one.id}"]
    assert engine.undo().ids == (one.id,)
    assert engine.episodes().total == 0
    assert engine.search("gravel tests", profile="memory").total == 0
    engine.forget_memory(one.id, undo=True)
    assert engine.episodes().total == 1
    engine.undo()
    assert engine.episodes().total == 0
    with pytest.raises(NotFoundError):
        engine.undo()


@pytest.mark.parametrize(
    ("names", "edit"),
    [
        ([], EpisodeEdit(pinned=True)),
        (["last"], EpisodeEdit()),
        (["last"], EpisodeEdit(rating=5)),
        (["last"], EpisodeEdit(add_tags=("  ",))),
    ],
)
def test_edits_of_nothing(engine: Engine, names: list[str], edit: EpisodeEdit):
    record(engine, "one")
    with pytest.raises(UsageError):
        engine.edit_episodes(names, edit)
    with pytest.raises(NotFoundError):
        engine.edit_episodes(["zzzz", "last"], EpisodeEdit(pinned=True))
    with pytest.raises(UsageError, match="Nothing to record"):
        engine.record_episode(" \n")


def test_what_an_agent_only_proposes_to_hide(engine: Engine):
    imported, own, evidence, plain = (
        record(engine, name, actor="import" if name == "imported" else "agent")
        for name in ("imported", "own", "evidence", "plain")
    )
    engine.edit_episodes([own], EpisodeEdit(rating=1), actor="agent")
    Journal.of(engine.root).append("episode.evidence", {"ids": [evidence], "actor": "person"})
    for one in (imported, own, evidence):
        change = engine.forget_memory(one, actor="agent", agent="codex")
        assert (change.change, bool(change.proposal)) == ("", True)
        assert "waits for the user" in change.words
    assert engine.forget_memory(plain, actor="agent", agent="codex").change
    assert {one.target for one in engine.proposals().rows} == {imported, own, evidence}
    assert {one.id for one in engine.episodes().rows} == {imported, own, evidence}
    engine.decide(imported, accept=True)
    assert {one.id for one in engine.episodes().rows} == {own, evidence}


def test_what_cannot_be_taken_back_stands_in_nobodys_way(engine: Engine):
    journal = Journal.of(engine.root)
    first = record(engine, "one")
    pinned = engine.edit_episodes([first], EpisodeEdit(pinned=True)).change
    journal.append("episode.edited", {"ids": [first], "add_tags": 5, "rating": {}, "actor": "person"})
    bad = journal.append("entry.changed", {"before": 5, "after": [], "scope": "zz", "actor": "person"}).id
    assert engine.undo().notes == (
        f"skipped, because it cannot be undone: The event {bad} is not a change to an entry.",
    )
    assert engine.undo().change == pinned
    with pytest.raises(NotFoundError, match="1 other change cannot be undone"):
        engine.undo()


def test_what_another_checkout_wrote_is_undone_there_alone(engine: Engine, tmp_path: Path):
    beside = tmp_path / "beside"
    subprocess.run(["git", "worktree", "add", "-q", "-b", "beside", beside], cwd=engine.root, check=True)
    made = engine.remember("Tests need redis")
    changed = engine.append_note("the first paragraph", name="topics/net")
    note = engine.root / ".cm/notes/topics/net.md"
    with pytest.raises(UsageError, match="made in the checkout"):
        undo.undo(engine._episodes, beside, changed.change, dry_run=False, theirs_too=True)
    with pytest.raises(NotFoundError, match="2 other changes cannot be undone"):
        undo.undo(engine._episodes, beside, dry_run=False, theirs_too=False)
    assert note.exists()
    engine.undo()
    with pytest.raises(UsageError, match="made in the checkout"):
        undo.redo(engine._episodes, beside, changed.change)
    shutil.rmtree(beside)
    assert engine.undo().ids == (made.id,)
    assert not note.exists()
    assert not engine.entries().rows
