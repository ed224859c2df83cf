"""What a person said about the past outlives the index: nothing else could tell it again."""

from __future__ import annotations

import json
import stat
from contextlib import closing
from pathlib import Path

import pytest

from cm_tui.engine.api import projects
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.mainline import user_marks
from cm_tui.errors import NotFoundError, StoreError
from tests.gitrepo import Repo
from tests.templates import Template, index_with_history


def make(root: Path) -> None:
    Repo(root).commits(
        (f"number {number}", {"a.py": f"def f{number}():\n    return {number}\n"}) for number in range(6)
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """A project of six commits whose history has been read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_EMBEDDING__PROVIDER", "none")
        return Template(tmp_path_factory.mktemp("marked"), make, index_with_history)


@pytest.fixture
def repo(kept: Template, cm_home: Path) -> Repo:
    return Repo(kept.put_back(cm_home), init=False)


@pytest.fixture
def engine(repo: Repo, monkeypatch):
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    with closing(Engine.open(repo.root)) as engine:
        yield engine


def drain(steps) -> None:
    for _ in steps:
        pass


def test_where_someone_looked_is_known_after_a_rebuild(engine, repo):
    engine.drift(looked=True)
    drain(engine.rebuild())
    repo.write("late.py", "def late():\n    return 1\n")
    repo.commit("late")
    drain(engine.index())
    drain(engine.backfill())
    found = engine.drift("last")
    assert found.looked.ordinal == 6
    assert [change.symbol.name for change in found.changes.rows] == ["late"]


def test_what_was_vacuumed_stays_so_after_a_rebuild_until_it_is_asked_for(engine):
    engine.prune(before="#4")
    removed = engine.history().vacuumed
    assert "was removed" in removed
    drain(engine.rebuild())
    assert engine.history().vacuumed == removed
    drain(engine.catch_up())
    assert engine.history().known_from.ordinal == 4
    assert not engine.wants_history()
    with pytest.raises(NotFoundError, match="was removed"):
        engine.callers("f0", at="#2")
    drain(engine.backfill())
    drain(engine.rebuild())
    assert engine.history().vacuumed == ""
    drain(engine.catch_up())
    assert engine.history().complete


def test_a_vacuum_of_a_line_that_is_gone_binds_nothing(engine, repo):
    engine.prune(before="#4")
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("elsewhere")
    drain(engine.rebuild())
    assert engine.history().vacuumed == ""
    drain(engine.catch_up())
    assert engine.history().complete


def test_a_damaged_store_is_made_again_with_the_marks(engine, repo):
    engine.drift(looked=True)
    engine.close()
    projects.store_file(engine.store).write_bytes(b"no database")
    with Engine.open_empty(repo.root) as again:
        drain(again.index(full=True))
        assert again.drift("last").looked.ordinal == 6


def test_a_reset_forgets_them(engine):
    engine.drift(looked=True)
    engine.reset()
    drain(engine.index())
    assert engine.drift("last").looked is None


def test_marks_are_private_and_a_damaged_file_marks_nothing(engine):
    engine.drift(looked=True)
    file = engine.store / user_marks.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for text in ("", "{", "[1]", '{"last_seen": 3}'):
        file.write_text(text)
        assert engine.drift("last").looked is None
    engine.drift(looked=True)
    assert engine.drift("last").looked.ordinal == 6


def test_a_mark_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(StoreError, match="Cannot write"):
        user_marks.set_mark(tmp_path / "nowhere", "last_seen", "0" * 40)


def test_marks_of_older_versions_are_read_and_written_under_their_new_names(tmp_path):
    file = tmp_path / user_marks.FILE
    file.write_text(json.dumps({"looked": "a" * 40, "removed": "b" * 40}))
    assert user_marks.read(tmp_path) == {"last_seen": "a" * 40, "vacuumed_to": "b" * 40}
    user_marks.set_mark(tmp_path, "last_seen", "c" * 40)
    assert json.loads(file.read_text()) == {"last_seen": "c" * 40, "vacuumed_to": "b" * 40}
    user_marks.set_mark(tmp_path, "vacuumed_to", None)
    assert json.loads(file.read_text()) == {"last_seen": "c" * 40}


def test_marks_of_older_versions_still_hold(engine):
    engine.drift(looked=True)
    engine.prune(before="#4")
    file = engine.store / user_marks.FILE
    marks = json.loads(file.read_text())
    file.write_text(json.dumps({"looked": marks["last_seen"], "removed": marks["vacuumed_to"]}))
    drain(engine.rebuild())
    assert engine.drift("last").looked.ordinal == 6
    assert "was removed" in engine.history().vacuumed
