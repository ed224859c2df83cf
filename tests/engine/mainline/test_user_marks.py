"""What a person said about the past outlives the index: nothing else could tell it again."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path

import pytest

from cm_tui.engine.local import Memory
from cm_tui.engine.mainline import user_marks
from cm_tui.errors import NotFoundError, StoreError
from cm_tui.model import Cancel
from tests.gitrepo import Repo


@pytest.fixture
def memory(repo: Repo, cm_home: Path, monkeypatch):
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    for number in range(6):
        repo.write("a.py", f"def f{number}():\n    return {number}\n")
        repo.commit(f"number {number}")
    with closing(Memory.open(repo.root)) as memory:
        drain(memory.index())
        drain(memory.backfill())
        yield memory


def drain(steps) -> None:
    for _ in steps:
        pass


def test_where_someone_looked_is_known_after_a_rebuild(memory, repo):
    memory.drift(looked=True)
    drain(memory.rebuild())
    repo.write("late.py", "def late():\n    return 1\n")
    repo.commit("late")
    drain(memory.index())
    drain(memory.backfill())
    found = memory.drift("last")
    assert found.looked.ordinal == 6
    assert [change.symbol.name for change in found.changes.rows] == ["late"]


def test_what_was_vacuumed_stays_so_after_a_rebuild_until_it_is_asked_for(memory):
    memory.vacuum(before="#4")
    removed = memory.history().vacuumed
    assert "was removed" in removed
    drain(memory.rebuild())
    assert memory.history().vacuumed == removed
    drain(memory.catch_up(Cancel()))
    assert memory.history().known_from.ordinal == 4
    assert not memory.wants_history()
    with pytest.raises(NotFoundError, match="was removed"):
        memory.callers("f0", at="#2")
    drain(memory.backfill())
    drain(memory.rebuild())
    assert memory.history().vacuumed == ""
    drain(memory.catch_up(Cancel()))
    assert memory.history().complete


def test_a_vacuum_of_a_line_that_is_gone_binds_nothing(memory, repo):
    memory.vacuum(before="#4")
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("elsewhere")
    drain(memory.rebuild())
    assert memory.history().vacuumed == ""
    drain(memory.catch_up(Cancel()))
    assert memory.history().complete


def test_a_damaged_store_is_made_again_with_the_marks(memory, repo):
    memory.drift(looked=True)
    memory.close()
    Memory.store_file(memory.store).write_bytes(b"no database")
    with Memory.rebuilt(repo.root) as again:
        drain(again.index(full=True))
        assert again.drift("last").looked.ordinal == 6


def test_a_reset_forgets_them(memory):
    memory.drift(looked=True)
    memory.reset()
    drain(memory.index())
    assert memory.drift("last").looked is None


def test_marks_are_private_and_a_damaged_file_marks_nothing(memory):
    memory.drift(looked=True)
    file = memory.store / user_marks.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for text in ("", "{", "[1]", '{"looked": 3}'):
        file.write_text(text)
        assert memory.drift("last").looked is None
    memory.drift(looked=True)
    assert memory.drift("last").looked.ordinal == 6


def test_a_mark_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(StoreError, match="Cannot write"):
        user_marks.put(tmp_path / "nowhere", "looked", "0" * 40)
