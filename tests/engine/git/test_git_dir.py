"""Reading git's files gives what git says."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from tests.gitrepo import Repo


def sha_of(root: Path) -> str | None:
    folders = git_folders(root)
    assert folders is not None
    return head_of(folders).sha


def test_before_the_first_commit(tmp_path: Path):
    assert sha_of(Repo(tmp_path).root) is None


@pytest.mark.parametrize("packed", [False, True])
def test_branch_detached_and_unusual_names(tmp_path: Path, packed: bool):
    repo = Repo(tmp_path)
    first = repo.commit("one")
    repo.git("checkout", "-q", "-b", "große/ma in".replace(" ", "-"))
    second = repo.commit("two")
    if packed:
        repo.git("pack-refs", "--all")
    assert sha_of(tmp_path) == second
    repo.git("checkout", "-q", "main")
    assert sha_of(tmp_path) == first
    repo.git("checkout", "-q", "--detach", second)
    assert sha_of(tmp_path) == second


def test_worktrees_and_submodules_stand_where_they_stand(tmp_path: Path):
    repo = Repo(tmp_path / "repo")
    first = repo.commit("one")
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "a tree"))
    tree = Repo(tmp_path / "a tree", init=False)
    second = tree.commit("two")
    assert (sha_of(repo.root), sha_of(tree.root)) == (first, second)
    outer = Repo(tmp_path / "outer")
    outer.git("submodule", "add", "-q", str(repo.root), "inner")
    assert sha_of(outer.root / "inner") == first


def test_a_folder_without_git_has_none(tmp_path: Path):
    assert git_folders(tmp_path) is None
    (tmp_path / ".git").write_text("rubbish")
    assert git_folders(tmp_path) is None
