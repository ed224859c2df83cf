"""A folder whose `.git` leads to a repository that knows nothing of it has no history, and is indexed as it lies there."""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.platform.store.database import Database
from tests.engine.history.conftest import read, view_of
from tests.gitrepo import Repo


def subjects(db: Database) -> list[str]:
    return [str(row[0]) for row in db.rows("SELECT subject FROM line_commit")]


def test_the_past_of_another_repository_is_not_read(db: Database, tmp_path: Path):
    victim = Repo(tmp_path / "victim")
    victim.write("secret.py", "def of_the_victim():\n    return 1\n")
    victim.commit("words of the victim")
    claims = Repo(tmp_path / "claims", init=False)
    claims.write("a.py", "def own():\n    return 1\n")
    claims.write(".git", f"gitdir: {victim.root}/.git\n")
    view = read(db, claims.root)
    assert subjects(db) == []
    assert [row[0] for row in db.rows("SELECT qualname FROM symbol")] == ["own"]
    assert any("that does not reference it" in note for note in view.report.status().notes)
    assert "that does not reference it" in view.commits.mainline("", None, 10).note


def test_a_repository_whose_folder_lies_elsewhere_has_its_past_once_it_names_its_checkout(db: Database, tmp_path: Path):
    repo = Repo(tmp_path / "app", init=False)
    repo.git("init", "-q", "-b", "main", "--separate-git-dir", str(tmp_path / "there"), ".")
    repo.write("a.py", "def own():\n    return 1\n")
    repo.commit("the first one")
    read(db, repo.root)
    assert subjects(db) == []
    repo.git("config", "core.worktree", str(repo.root))
    read(db, repo.root)
    assert subjects(db) == ["the first one"]
    assert view_of(db, repo.root).report.status().notes == ()
