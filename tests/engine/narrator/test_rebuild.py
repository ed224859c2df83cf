"""What the narrator saw is made again from the journal, and of what was erased nothing is left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.daemon import open_engine
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.episodes import retention
from cm_tui.engine.memory.episodes.changes import CONSOLIDATED
from cm_tui.engine.memory.narrator.tables import NarratorTables
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.store import database
from cm_tui.model import Step
from tests.engine.narrator.passes import new_project, opened, passed, proposed, put, said, sayings, use


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    use(monkeypatch, sayings)
    yield from opened(new_project(tmp_path / "project"))


def stored(words: bytes) -> list[str]:
    """Return the files below cm's folders that hold some words."""
    home = Path(os.environ["CM_HOME"])
    return [str(file.relative_to(home)) for file in home.rglob("*") if file.is_file() and words in file.read_bytes()]


def test_a_rebuilt_store_proposes_the_same(engine: Engine):
    root = engine.root
    # What an index tells is missing is not proposed.
    (root / "Makefile").write_text("all:\n\ttrue\n")
    steps = (Step("tool", "make all", "Bash"),)
    old = put(root, [(n, said("always test", f"s{n}", 100, steps=steps, answer="yes")) for n in range(4)])
    put(root, [(n + 10, said("why?", f"s{n}", 50 - n, steps=steps, files=("a",))) for n in range(4)])
    Journal.of(root).append(CONSOLIDATED, {"ids": old, "actor": "narrator"})
    passed(engine)
    before = proposed(engine)
    assert {one.kind for one in before} == {"statement", "command", "cochange"}
    # What is in the archive is read in another order than it was written in.
    retention.retention(engine._episodes, apply=True, older_than=None)
    engine.close()
    assert list(open_engine.rebuild(root))[-1].stage == "done"
    with Engine.open(root) as again:
        assert again.narrated().total == 0
        assert passed(again).episodes == 8
        assert proposed(again) == before


def test_of_what_was_erased_nothing_is_left(engine: Engine):
    root = engine.root
    ids = put(root, [(n, said("always boil the quokka", f"s{n}")) for n in range(3)])
    put(root, [(n + 9, said("always test", f"t{n}")) for n in range(3)])
    passed(engine)
    assert len(proposed(engine)) == 2
    engine._db.shrink()
    assert stored(b"quokka")
    engine.erase(ids)
    assert stored(b"quokka") == []
    assert passed(engine).episodes == 3
    assert [one.text for one in proposed(engine)] == ["always test"]


def test_what_another_process_erased_is_gone_with_the_next_look(engine: Engine):
    from cm_tui.engine.platform.journal.event import ERASURE

    ids = put(engine.root, [(n, said("always test", f"s{n}")) for n in range(4)])
    passed(engine)
    Journal.of(engine.root).append(ERASURE, {"ids": ids})
    passed(engine)
    assert proposed(engine) == []
    assert NarratorTables(engine._episodes.tables).rows("SELECT count(*) FROM narrator_fact") == [(0,)]


def test_a_store_that_can_only_be_read_is_looked_at_in_memory(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    put(engine.root, [(n, said("always test", f"s{n}")) for n in range(3)])
    passed(engine)
    before = proposed(engine)
    engine.close()
    monkeypatch.setattr(database, "can_only_be_read", lambda _: True)
    with Engine.open(engine.root) as readable:
        assert readable.read_only_note
        assert passed(readable).episodes == 3
        assert proposed(readable) == before
