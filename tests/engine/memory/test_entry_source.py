"""What is written down is searched beside episodes, and what a person changed of it can be taken back."""

from __future__ import annotations

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_file import FILE
from cm_tui.engine.memory.projection.entry_source import passages_of
from cm_tui.errors import RefusedError
from cm_tui.model import Entry, EntryEdit
from cm_tui.model.author import Author
from tests.planted import GITHUB, leaked


@pytest.fixture
def engine(indexed_engine: Engine) -> Engine:
    return indexed_engine


def found(engine: Engine, question: str) -> list[str]:
    return [hit.snippet for hit in engine.search(question, profile="memory", mode="keyword").hits]


def rows(engine: Engine) -> list[tuple[object, ...]]:
    sql = "SELECT source, path, start_line, end_line, title, text, time FROM passage WHERE blob IS NULL ORDER BY ALL"
    return engine._db.rows(sql)


def test_the_next_question_knows_what_was_written(engine: Engine):
    one = engine.remember("Boulders come before gravel.", title="Order", keywords=("quarry",), scope="user")
    assert found(engine, "boulders") == found(engine, "quarry") == ["Boulders come before gravel."]
    hit = engine.search("boulders", profile="memory", mode="keyword").hits[0]
    assert (hit.source, hit.path) == ("entry", f"entry/{one.id}")
    assert engine.source(hit.path).text.startswith("Boulders")
    assert rows(engine)[0][-1] == one.timestamp // 1000
    engine.update_entry(one.id, EntryEdit("Gravel comes before boulders."))
    assert found(engine, "boulders")[0].startswith("Gravel")
    engine.forget_memory(one.id)
    assert found(engine, "boulders") == []


def test_what_did_not_change_is_not_made_again(engine: Engine):
    engine.remember("one stone")
    first = engine._db.rows("SELECT id FROM passage WHERE source = 'entry'")
    found(engine, "stone")
    first = engine._db.rows("SELECT id FROM passage WHERE source = 'entry'")
    engine.remember("two stones")
    found(engine, "stone")
    assert set(first) < set(engine._db.rows("SELECT id FROM passage WHERE source = 'entry'"))


def test_a_rebuild_gives_the_same_answers(engine: Engine):
    for text in ("granite is hard", "slate is dark\n\nand splits", "x " * 3000):
        engine.remember(text)
    engine.forget_memory(engine.remember("chalk").id)
    found(engine, "granite")
    before, answers = rows(engine), found(engine, "granite slate")
    list(engine.rebuild())
    assert (rows(engine), found(engine, "granite slate")) == (before, answers)


def test_a_damaged_file_is_told_and_nothing_breaks(engine: Engine):
    engine.remember("granite is hard")
    assert found(engine, "granite")
    (engine.root / ".cm" / FILE).write_text("{")
    assert found(engine, "granite") == []
    assert "not valid" in engine.entries().note
    (engine.root / ".cm" / FILE).unlink()
    (engine.root / ".cm" / FILE).symlink_to("/etc/passwd")
    assert any("is a symbolic link" in note for note in engine.search("granite", profile="memory").notes)
    with pytest.raises(RefusedError):
        engine.remember("more")


def test_passages_hold_no_secret_whoever_wrote_the_file():
    entry = Entry("k123456", "Rule", f"t {GITHUB}", f"a\nkey {GITHUB}", (GITHUB,), "project", 0)
    text = "\n".join(str(one) for one in passages_of(entry))
    assert "a\n" in text.replace("\\n", "\n")
    assert not leaked(text)


def test_undo_shows_both_sides_where_the_text_changed_since(engine: Engine):
    one = engine.remember("one")
    engine.update_entry(one.id, EntryEdit("two"))
    theirs = Author("agent", "codex")
    Entries(engine.root).change(engine.entry(one.id), EntryEdit("three"), theirs)
    told = engine.undo()
    [conflict] = told.conflicts
    assert (conflict.id, conflict.before, conflict.now) == (one.id, "one", "three")
    assert engine.entry(one.id).content == "three"
    assert engine.undo(theirs_too=True).conflicts == ()
    assert engine.entry(one.id).content == "one"


def test_a_decided_proposal_is_the_persons_to_take_back(engine: Engine):
    one = engine.remember("one")
    waiting = engine.forget_memory(one.id, actor="agent", agent="codex")
    engine.decide(waiting.proposal, accept=True)
    assert engine.entries().total == 0
    engine.undo()
    assert engine.entry(one.id) == one
