"""Deciding: each verdict does what it says, is told, and is taken back; nobody's lines are lost over it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.narrated import DECIDED, WORDED
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import NarratedDecision, NarratedFilter
from tests.engine.narrator.decided import (
    NOTE,
    approved,
    decided,
    note_of,
    one_of,
    ran,
    states,
    taught,
)
from tests.engine.narrator.passes import passed, put, said
from tests.planted import GITHUB, leaked

EVERY = NarratedFilter(("waiting", "approved", "rejected"))


@pytest.fixture
def engine(with_proposals: Engine) -> Engine:
    return with_proposals


def evidence_of(engine: Engine) -> list[tuple[str, bool, bool]]:
    rows = engine._episodes.tables.rows(
        "SELECT id, settled, evidence FROM episode WHERE settled OR evidence ORDER BY id"
    )
    return [tuple(row) for row in rows]


def test_approved_is_written_as_shown_and_marks_what_it_stands_on(engine: Engine):
    one = engine.narrated_proposal(one_of(engine, "quokka").id)
    assert f"+- {one.text} <!-- cm:narrator {one.id} -->" in one.diff
    done = approved(engine, f"{one.id}@{one.digest}", reason="yes\nof course")
    assert note_of(engine) == f"# Project\n\n## Rules\n\n- {one.text} <!-- cm:narrator {one.id} -->\n"
    now = one_of(engine, "quokka", "approved")
    assert (now.reason, now.decided_by, now.change) == ("yes of course", "person", done.change)
    assert now.decided is not None
    assert (done.proposal.state, done.proposal.id) == ("approved", one.id)
    assert engine.narrated_proposal(one.id).diff == ""
    assert evidence_of(engine) == [(id_, True, True) for id_ in sorted(one.evidence_ids)]
    assert states(engine) == {"always boil the quokka": "approved", "always sign tags": "waiting"}
    undone = engine.undo_narrated(one.id)
    assert undone.done, undone.problem
    assert undone.proposal.state == "waiting"
    assert not (engine.root / NOTE).exists()
    assert evidence_of(engine) == []


def test_decisions_are_taken_back_months_later(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign tags")
    approved(engine, one.id)
    assert decided(engine, other.id, "reject", reason="not so").done
    # Meanwhile other things are said, looked at and decided on.
    later = list(Journal.of(engine.root).read())[-1].time + 60 * 86_400.0
    monkeypatch.setattr("time.time", lambda: later)
    taught(engine.root, "feed the emu", first=1_000)
    passed(engine)
    approved(engine, one_of(engine, "emu").id)
    engine.retention(apply=True)
    for name, text in ((other.id, "sign tags"), (one.id, "quokka")):
        undone = engine.undo_narrated(name)
        assert undone.done, undone.problem
        assert one_of(engine, text).id == name, "it waits again, as the same proposal"
    assert "quokka" not in note_of(engine)
    assert "emu" in note_of(engine), "only its own line goes"
    assert set(engine.undo(dry_run=True).ids) == {one_of(engine, "emu", "approved").id}


@pytest.mark.parametrize(
    ("verdict", "more"),
    [
        ("approve", {"reason": "yes"}),
        ("approve", {"text": "Boil no quokka.", "target": "topics/quokkas"}),
        ("approve", {"as_rule": True}),
        ("reject", {"reason": "no"}),
    ],
)
def test_a_decision_that_was_taken_back_is_made_again_as_it_was(engine: Engine, verdict: str, more: dict[str, str]):
    def found() -> list[object]:
        files = sorted((engine.root / ".cm").rglob("*.md"))
        rows = [(one.id, one.state, one.text, one.reason, one.target) for one in engine.narrated(EVERY).rows]
        return [*rows, *(file.read_text() for file in files), *(one.content for one in engine.entries().rows)]

    one = one_of(engine, "quokka")
    assert decided(engine, one.id, verdict, **more).done
    before = found()
    back = engine.undo_narrated(one.id)
    assert found() != before
    again = engine.redo(back.change)
    assert (again.ids, again.change != back.change) == ((one.id,), True)
    assert found() == before
    assert engine.undo().change == again.change
    assert one_of(engine, "quokka").id == one.id


def test_what_was_decided_is_decided(engine: Engine):
    one = one_of(engine, "quokka")
    approved(engine, one.id)
    for verdict in ("approve", "reject", "defer"):
        done = decided(engine, one.id, verdict)
        assert (done.done, "already approved" in done.problem) == (False, True)
    assert note_of(engine).count("quokka") == 1
    other = one_of(engine, "sign")
    decided(engine, other.id, "reject")
    assert "was rejected" in decided(engine, other.id).problem


def test_rejected_is_never_proposed_again_in_any_wording(engine: Engine):
    one = one_of(engine, "quokka")
    done = decided(engine, one.id, "reject", reason="we are vegetarians")
    assert (done.done, done.proposal.state, done.change) == (True, "rejected", "")
    taught(engine.root, "boil the quokka", first=5_000)
    # Another wording that counts as the same fact, and was said earlier: the fact has another name now.
    early = [(n + 9_000, said("always boil the quokka", f"e{n}", 40.0)) for n in range(3)]
    put(engine.root, early)
    report = passed(engine)
    assert (report.proposed, report.withdrawn) == (0, 0)
    assert states(engine)["always boil the quokka"] == "rejected"
    rejected = one_of(engine, "quokka", "rejected")
    assert (rejected.reason, rejected.support) == ("we are vegetarians", 9)
    assert len(engine.narrated_proposal(one.id).evidence) == 8
    assert engine.undo_narrated(one.id).proposal.state == "waiting"
    assert not note_of(engine)


def test_a_fact_with_another_name_is_known_by_its_claims(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.engine.memory.narrator import proposals

    first, second = one_of(engine, "quokka"), one_of(engine, "sign")
    decided(engine, first.id, "reject")
    approved(engine, second.id)
    monkeypatch.setattr(proposals, "id_of", lambda group, taken: f"nother{len(taken)}")
    engine.close()
    with Engine.open(engine.root) as again:
        assert states(again) == {"always boil the quokka": "rejected", "always sign tags": "approved"}
        assert one_of(again, "quokka", "rejected").id == first.id
        assert again.narrated().total == 0


def test_deferred_is_out_of_the_way_until_something_new_speaks_for_it(engine: Engine):
    one = one_of(engine, "quokka")
    assert decided(engine, one.id, "defer", reason="later").done
    assert states(engine)["always boil the quokka"] == "deferred"
    assert engine.narrated().total == 1
    passed(engine)
    assert states(engine)["always boil the quokka"] == "deferred"
    assert engine.narrated_proposal(one.id).diff, "it can still be decided"
    put(engine.root, [(8_000, said("always boil the quokka", "new", -0.001))])
    passed(engine)
    assert states(engine)["always boil the quokka"] == "waiting"
    approved(engine, one.id)
    assert engine.undo_narrated(one.id).proposal.state == "waiting", "not put off again"


def test_approved_stays_listed_when_its_fact_is_gone_and_can_be_taken_back(engine: Engine):
    one = one_of(engine, "quokka")
    approved(engine, one.id, text="Boil no quokka.")
    for id_ in one.evidence_ids:
        engine.forget_memory(id_)
    passed(engine)
    now = one_of(engine, "quokka", "approved")
    assert (now.id, now.text) == (one.id, "Boil no quokka.")
    assert all(found.quote == "" for found in engine.narrated_proposal(one.id).evidence)
    undone = engine.undo_narrated(one.id)
    assert (undone.done, undone.proposal) == (True, None)
    assert "not proposed any more" in undone.words
    assert not note_of(engine)


def test_one_whose_evidence_was_forgotten_is_reported_as_withdrawn_also_after_later_passes(engine: Engine):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    for id_ in one.evidence_ids:
        engine.forget_memory(id_)
    for _ in range(2):
        for name in (one.id, one.id[:5]):
            with pytest.raises(NotFoundError, match=f"The proposal {one.id} was withdrawn: .* forgotten"):
                engine.narrated_proposal(name)
        assert "withdrawn" in decided(engine, one.id).problem
        passed(engine)
    assert decided(engine, other.id).done
    passed(engine)
    assert "was withdrawn" in decided(engine, one.id).problem
    assert (passed(engine).proposed, passed(engine).withdrawn) == (0, 0)
    taught(engine.root, "boil the quokka", first=50_000)
    assert passed(engine).proposed == 1


def test_one_that_cannot_be_decided_hinders_no_other(engine: Engine):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    names = ["nzzzzzz", f"{one.id}@00000000", other.id, "", "n", f"{other.id[:4]}"]
    done = engine.decide_narrated(names, NarratedDecision("approve"))
    assert [each.done for each in done] == [False, False, True, False, False, False]
    assert "Proposal not found: 'nzzzzzz'." in done[0].problem
    assert "changed since" in done[1].problem
    assert done[1].proposal.state == "waiting"
    assert "already approved" in done[5].problem
    assert note_of(engine).count("cm:narrator") == 1


SENSELESS = (
    ([], NarratedDecision("approve")), (["a", "b"], NarratedDecision("approve", text="x")),
    (["a"], NarratedDecision("reject", text="x")), (["a"], NarratedDecision("defer", target="x")),
    (["a"], NarratedDecision("approve", as_rule=True, target="x")), (["a"], NarratedDecision("approve", text=" \n ")),
    (["a"], NarratedDecision("approve", text="<!-- -->")), (["a"], NarratedDecision("approve", text="x" * 20_000)),
)  # fmt: skip


def test_what_does_not_go_together_is_refused(engine: Engine):
    for names, decision in SENSELESS:
        before = len(list(Journal.of(engine.root).read()))
        with pytest.raises(UsageError):
            engine.decide_narrated(names, decision)
        assert len(list(Journal.of(engine.root).read())) == before


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("  two\nlines\t here ", "two lines here"), ("- * 1. nested", "nested"), ("a\x1b[31mb\u202ec", "a [31mb c"),
        ("kept <!-- cm:narrator nabcdef --> words", "kept words"), ("<!-- x --> y -->", "y"), ("a <!-- open", "a"),
    ],
)  # fmt: skip
def test_a_text_is_one_plain_line(engine: Engine, text: str, written: str):
    one = one_of(engine, "quokka")
    approved(engine, one.id, text=text)
    assert note_of(engine).splitlines()[-1] == f"- {written} <!-- cm:narrator {one.id} -->"
    assert engine.undo_narrated(one.id).done
    assert not note_of(engine)


def test_a_secret_in_a_text_is_written_nowhere(engine: Engine):
    one = one_of(engine, "quokka")
    done = approved(engine, one.id, text=f"Use {GITHUB}.", reason=f"because {GITHUB}")
    assert not leaked(note_of(engine) + str(done))
    home = Path(os.environ["CM_HOME"])
    engine._db.shrink()
    assert [str(file) for file in home.rglob("*") if file.is_file() and GITHUB.encode() in file.read_bytes()] == []


def test_into_another_note_and_taken_back_from_there(engine: Engine):
    one = one_of(engine, "quokka")
    done = approved(engine, one.id, target="topics/cooking.md")
    note = ".cm/notes/topics/cooking.md"
    assert note in done.words
    assert one.text in note_of(engine, note)
    assert not note_of(engine)
    now = one_of(engine, "quokka", "approved")
    assert (now.target, now.scope) == (note, "topic")
    assert engine.undo_narrated(one.id).done
    assert not (engine.root / note).exists()
    for target in ("../../x.md", "/etc/passwd", "AGENTS.md", "con.md", ""):
        done = decided(engine, one.id, target=target)
        assert done.done == (target == ""), (target, done)
    assert one.text in note_of(engine), "no note is named: the one that was proposed"


def test_several_are_decided_and_taken_back_by_the_general_undo(engine: Engine):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    engine.decide_narrated([one.id, other.id], NarratedDecision("approve"))
    assert engine.undo(dry_run=True).ids == (other.id,)
    assert note_of(engine).count("cm:narrator") == 2
    done = engine.undo()
    assert (done.ids, "approved the proposal" in done.words) == ((other.id,), True)
    assert states(engine) == {"always boil the quokka": "approved", "always sign tags": "waiting"}
    assert [line for line in note_of(engine).splitlines() if "narrator" in line] == [
        f"- {one.text} <!-- cm:narrator {one.id} -->"
    ]
    decided(engine, other.id, "reject")
    assert "rejected the proposal" in engine.undo().words
    assert states(engine)["always sign tags"] == "waiting"
    assert engine.undo().ids == (one.id,)
    assert not note_of(engine)
    assert evidence_of(engine) == []
    with pytest.raises(NotFoundError):
        engine.undo()


def test_an_approved_command_is_not_proposed_again(engine: Engine):
    (engine.root / "Makefile").write_text("all:\n\ttrue\n")
    put(engine.root, [(n + 700, said("why?", f"c{n}", steps=ran("make all"))) for n in range(4)])
    passed(engine)
    one = one_of(engine, "make")
    approved(engine, one.id)
    assert "## Commands" in note_of(engine)
    put(engine.root, [(n + 800, said("why?", f"d{n}", steps=ran("make all"))) for n in range(4)])
    assert passed(engine).proposed == 0
    assert one_of(engine, "make", "approved").support == 8


def test_the_journal_tells_of_words_and_decisions_apart(engine: Engine):
    one = one_of(engine, "quokka")
    approved(engine, one.id)
    decided(engine, one_of(engine, "sign").id, "reject")
    events = [event for event in Journal.of(engine.root).read() if event.kind in (WORDED, DECIDED)]
    assert [event.kind for event in events] == [WORDED, DECIDED] * 2
    for event in events:
        has_words = "quokka" in str(event.data) or "sign tags" in str(event.data)
        assert has_words == (event.kind == WORDED)
