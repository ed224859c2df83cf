"""Other things that are decided: Rules, lines that the code contradicts, topics, and what agents propose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.narrated import STANDS_ON
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError
from cm_tui.model import EntryEdit, NarratedDecision, NarratedFilter, NarratedProposal
from tests.engine.mentions.conftest import CONFIG, JUSTFILE
from tests.engine.narrator.decided import NOTE, approved, decided, note_of, one_of, states
from tests.engine.narrator.passes import passed, put, said, sayings, use
from tests.engine.narrator.test_stale_facts import take_out
from tests.gitrepo import Repo

TOPICS = ".cm/notes/topics"
LINES = "# Project\n\n## Rules\n\n- Call `parse_config()` once. <!-- cm:narrator nabcdef -->\n- `Reader` must be closed.\n- Use tabs.\n"


@pytest.fixture
def engine(with_proposals: Engine) -> Engine:
    return with_proposals


@pytest.fixture
def outdated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A project with notes that name what is gone."""
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    use(monkeypatch, sayings)
    repo = Repo(tmp_path / "shop")
    repo.write("src/config.py", CONFIG)
    repo.write("src/main.py", "def main():\n    return parse_config('x')\n")
    repo.write("justfile", JUSTFILE)
    repo.commit("begin")
    repo.write(NOTE, LINES)
    take_out(repo)
    with Engine.open(repo.root) as engine:
        list(engine.index())
        list(engine.backfill(depth=10_000))
        engine.stale_items()
        yield engine


def stale(engine: Engine, words: str) -> NarratedProposal:
    rows = [one for one in engine.narrated(NarratedFilter(kinds=("stale",))).rows if words in one.old]
    assert len(rows) == 1, rows
    return rows[0]


# --- Rules ---


def test_as_a_rule_it_is_approved_given_to_agents_and_taken_back(engine: Engine):
    one = one_of(engine, "quokka")
    done = approved(engine, one.id, as_rule=True)
    (entry,) = engine.entries().rows
    assert (entry.category, entry.content, entry.scope) == ("Rule", "always boil the quokka", "project")
    assert (entry.actor, entry.changed_by, entry.unapproved, entry.held) == ("narrator", "person", False, False)
    assert entry.made_from == tuple(f"episode/{id_}" for id_ in one.evidence_ids)
    assert entry.id in done.words
    assert not note_of(engine)
    assert states(engine)["always boil the quokka"] == "approved"
    assert engine.undo_narrated(one.id).done
    assert engine.entries().total == 0
    approved(engine, one.id, as_rule=True, text="Boil no quokka.")
    assert engine.entries().rows[0].content == "Boil no quokka."
    assert engine.undo().ids == (one.id,)
    assert engine.entries().total == 0
    assert states(engine)["always boil the quokka"] == "waiting"


def test_a_rule_that_a_person_changed_is_shown_and_stays(engine: Engine):
    one = one_of(engine, "quokka")
    approved(engine, one.id, as_rule=True)
    (entry,) = engine.entries().rows
    engine.update_entry(entry.id, EntryEdit(content="Boil it gently."))
    undone = engine.undo_narrated(one.id)
    assert not undone.done
    assert "“always boil the quokka” was written" in undone.problem
    assert "Boil it gently." in undone.problem
    assert engine.entries().rows[0].content == "Boil it gently."
    engine.forget_memory(entry.id)
    assert engine.undo_narrated(one.id).done
    assert states(engine)["always boil the quokka"] == "waiting"


def test_a_rule_that_is_there_already_is_not_written_twice_nor_taken_away(engine: Engine):
    engine.remember("always boil the quokka", category="Rule")
    one = one_of(engine, "quokka")
    done = approved(engine, one.id, as_rule=True)
    assert "already" in done.words
    assert engine.entries().total == 1
    assert engine.undo_narrated(one.id).done
    assert engine.entries().total == 1


def test_what_says_nothing_to_be_done_is_no_rule(engine: Engine):
    (engine.root / "Makefile").write_text("all:\n\ttrue\n")
    from tests.engine.narrator.decided import ran

    put(engine.root, [(n + 700, said("why?", f"c{n}", steps=ran("make all"))) for n in range(4)])
    passed(engine)
    one = one_of(engine, "make")
    assert "cannot be a Rule" in decided(engine, one.id, as_rule=True).problem
    approved(engine, one.id, as_rule=True, text="Run `make all` before a commit.")
    assert engine.entries().rows[0].category == "Rule"


# --- lines that the code contradicts ---


def test_lines_are_corrected_and_removed_and_come_back(outdated: Engine):
    put(outdated.root, [(n, said("always call `Reader` twice", f"r{n}", 200.0)) for n in range(3)])
    passed(outdated)
    found = {row.text for row in outdated.narrated(limit=100).rows if row.kind == "statement"}
    assert not any("Reader" in text for text in found), "a fact that names what is gone is not proposed"
    one = stale(outdated, "parse_config")
    assert (one.action, one.problem) == ("replace", "")
    whole = outdated.narrated_proposal(one.id)
    assert "-- Call `parse_config()` once. <!-- cm:narrator nabcdef -->\n" in whole.diff
    line = f"- Call `read_config()` once. <!-- cm:narrator nabcdef --> <!-- cm:narrator {one.id} -->\n"
    assert f"+{line}" in whole.diff
    approved(outdated, f"{one.id}@{one.digest}")
    assert line in note_of(outdated)
    assert one_of(outdated, "read_config", "approved").old == one.old
    assert outdated.undo_narrated(one.id).done
    assert note_of(outdated) == LINES
    approved(outdated, one.id)
    assert outdated.undo().ids == (one.id,)
    assert note_of(outdated) == LINES
    gone = stale(outdated, "Reader")
    assert gone.action == "remove"
    approved(outdated, f"{gone.id}@{gone.digest}")
    assert note_of(outdated) == LINES.replace("- `Reader` must be closed.\n", "")
    assert outdated.undo_narrated(gone.id).done
    assert note_of(outdated) == LINES
    decided(outdated, gone.id, "reject", reason="it will come back")
    passed(outdated)
    assert outdated.narrated_proposal(gone.id).reason == "it will come back"
    assert [row.id for row in outdated.narrated(NarratedFilter(kinds=("stale",))).rows] == [one.id]


# --- topics ---


def test_topics_are_merged_as_shown_and_come_back(engine: Engine):
    folder = engine.root / TOPICS
    folder.mkdir(parents=True)
    (folder / "router.md").write_text("---\ntags: [net, http]\n---\n# Router\n\n- It routes quickly enough.\n")
    (folder / "routing.md").write_text("---\ntags: [net, http]\n---\n# Routing\n\n- Short.\n")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    (one,) = engine.narrated(NarratedFilter(kinds=("topic",))).rows
    whole = engine.narrated_proposal(one.id)
    assert (one.action, one.digest, whole.digest) == ("merge", whole.digest, one.digest)
    assert "+++ /dev/null" in whole.diff
    assert not decided(engine, f"{one.id}@00000000").done
    for more in ({"text": "x"}, {"target": "y"}, {"as_rule": True}):
        assert not decided(engine, one.id, **more).done
    approved(engine, f"{one.id}@{one.digest}")
    assert [file.name for file in folder.iterdir()] == ["router.md"]
    assert engine.narrated(NarratedFilter(kinds=("topic",))).total == 0
    assert engine.undo_narrated(one.id).done
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    approved(engine, one.id)
    assert engine.undo().ids == (one.id,)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    decided(engine, one.id, "reject")
    assert engine.narrated(NarratedFilter(kinds=("topic",))).total == 0
    approved(engine, one_of(engine, "quokka").id)
    assert engine.undo_narrated(one.id).proposal.state == "waiting"


# --- agents ---


def test_what_an_agent_proposes_is_decided_like_anything_else(engine: Engine):
    id_ = one_of(engine, "quokka").evidence_ids[0]
    made = engine.propose_fact("Deploys take an hour.", why="It took one.", agent="codex", episodes=(id_,))
    assert (made.state, made.proposed_by) == ("waiting", "codex")
    listed = one_of(engine, "Deploys")
    assert (listed.digest, listed.problem) == (made.digest, "")
    assert engine.narrated_proposal(made.id).evidence[0].episode == id_
    approved(engine, f"{made.id}@{made.digest}")
    assert "- Deploys take an hour. <!-- cm:narrator" in note_of(engine)
    assert engine.propose_fact("deploys take an hour", agent="opencode").state == "approved"
    assert engine.undo_narrated(made.id).done
    decided(engine, made.id, "reject", reason="it takes two")
    again = engine.propose_fact("Deploys take an hour.", agent="codex")
    assert (again.id, again.state, again.reason) == (made.id, "rejected", "it takes two")
    engine.erase([id_])
    passed(engine)
    with pytest.raises(NotFoundError):
        engine.narrated_proposal("nzzzzzz")
    rejected = engine.narrated(NarratedFilter(("rejected",))).rows
    assert [(one.id, one.text) for one in rejected] == [(made.id, "")]


def test_events_name_what_they_stand_on(engine: Engine):
    one = one_of(engine, "quokka")
    engine.decide_narrated([one.id], NarratedDecision("approve"))
    told = {event.kind: event.data for event in Journal.of(engine.root).read() if STANDS_ON in event.data}
    assert set(told) == {"narrator.worded", "note.changed"}
    assert {tuple(data[STANDS_ON]) for data in told.values()} == {one.evidence_ids}
