"""A folder belongs to a repository only when the repository says so too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cm_tui.engine.platform.git.git_dir import verified_git_dir
from tests.gitrepo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "real")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    return repo


def test_a_checkout_and_its_worktrees_share_one_folder(repo, tmp_path):
    common = repo.root / ".git"
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    repo.git("worktree", "add", "-q", str(repo.root / "inside"), "-b", "nested")

    for root in (repo.root, tmp_path / "tree", repo.root / "inside"):
        assert verified_git_dir(root) == common


def test_a_worktree_with_relative_pointers(repo, tmp_path):
    tree = tmp_path / "tree"
    repo.git("worktree", "add", "-q", str(tree), "-b", "side")
    kept = repo.root / ".git/worktrees/tree"
    (tree / ".git").write_text("gitdir: ../real/.git/worktrees/tree\n")
    (kept / "gitdir").write_text("../../../../tree/.git\n")

    assert verified_git_dir(tree) == repo.root / ".git"


def test_a_worktree_of_a_bare_repository(repo, tmp_path):
    bare, tree = tmp_path / "bare.git", tmp_path / "tree"
    repo.git("clone", "-q", "--bare", str(repo.root), str(bare))
    Repo(bare, init=False).git("worktree", "add", "-q", str(tree), "main")

    assert verified_git_dir(tree) == bare
    assert verified_git_dir(bare) is None


def test_a_checkout_reached_through_a_link(repo, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(repo.root)

    assert verified_git_dir(link) == repo.root / ".git"


def test_a_submodule_has_a_folder_of_its_own(repo, tmp_path):
    whole = Repo(tmp_path / "whole")
    whole.git("submodule", "add", "-q", str(repo.root), "lib/part")
    whole.commit()

    assert verified_git_dir(whole.root / "lib/part") == whole.root / ".git/modules/lib/part"
    whole.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    Repo(tmp_path / "tree", init=False).git("submodule", "update", "-q", "--init")
    inside = verified_git_dir(tmp_path / "tree/lib/part")
    assert inside == whole.root / ".git/worktrees/tree/modules/lib/part"


def test_a_separate_folder_counts_when_it_names_the_checkout(tmp_path):
    root, kept = tmp_path / "root", tmp_path / "kept"
    Repo(tmp_path / "any").git("init", "-q", f"--separate-git-dir={kept}", str(root))

    assert verified_git_dir(root) is None
    (kept / "config").open("a").write('[Core]\n\tWorkTree = "../ro\\\not" ; of the files\n')
    assert verified_git_dir(root) == kept


def test_a_file_that_points_at_a_repository_is_not_enough(repo, tmp_path):
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    hostile = tmp_path / "hostile"
    hostile.mkdir()

    for target in (repo.root / ".git", repo.root / ".git/worktrees/tree"):
        (hostile / ".git").write_text(f"gitdir: {target}\n")
        assert verified_git_dir(hostile) is None


def test_a_link_to_a_repository_is_not_enough(repo, tmp_path):
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / ".git").symlink_to(repo.root / ".git")

    assert verified_git_dir(hostile) is None


def test_a_worktree_kept_elsewhere_claims_nobodys_repository(repo, tmp_path):
    """The back-pointer has to lie in the repository itself, not beside the folder that claims it."""
    hostile = tmp_path / "hostile"
    own = hostile / "worktrees/x"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text(f"{repo.root / '.git'}\n")
    (own / "gitdir").write_text(f"{hostile / '.git'}\n")
    (hostile / ".git").write_text(f"gitdir: {own}\n")

    assert verified_git_dir(hostile) is None


def test_an_own_folder_claims_nobodys_branches(repo, tmp_path):
    hostile = Repo(tmp_path / "hostile")
    assert verified_git_dir(hostile.root) == hostile.root / ".git"
    (hostile.root / ".git/commondir").write_text(f"{repo.root / '.git'}\n")

    assert verified_git_dir(hostile.root) is None


def test_a_worktree_that_was_moved_by_hand_is_none(repo, tmp_path):
    tree = tmp_path / "tree"
    repo.git("worktree", "add", "-q", str(tree), "-b", "side")
    tree.rename(tmp_path / "moved")

    assert verified_git_dir(tmp_path / "moved") is None
    repo.git("worktree", "repair", str(tmp_path / "moved"))
    assert verified_git_dir(tmp_path / "moved") == repo.root / ".git"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gitdir:",
        "gitdir: \n",
        "gitdir: a\0b\n",
        "gitdir: /nowhere\n",
        "gitdir: ../real\n",
        "nothing",
        "gitdir: /\n",
    ],
)
def test_what_is_no_pointer_is_none(repo, tmp_path, text):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / ".git").write_text(text)

    assert verified_git_dir(folder) is None


@pytest.mark.parametrize("text", ["x" * 10_000, "gitdir: " + "../" * 10_000])
def test_what_is_too_long_is_none(tmp_path, text):
    (tmp_path / ".git").write_text(text)

    assert verified_git_dir(tmp_path) is None


def test_no_git_and_an_empty_one_are_none(tmp_path):
    assert verified_git_dir(tmp_path) is None
    assert verified_git_dir(tmp_path / "missing") is None
    assert verified_git_dir(Path("a\0b")) is None
    (tmp_path / ".git").mkdir()
    assert verified_git_dir(tmp_path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_does_not_keep_anyone_waiting(repo, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / ".git")
    assert verified_git_dir(folder) is None

    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    kept = repo.root / ".git/worktrees/tree/gitdir"
    kept.unlink()
    os.mkfifo(kept)
    assert verified_git_dir(tmp_path / "tree") is None


@pytest.mark.parametrize(
    ("setting", "counts"),
    [
        ("[core]\n\tworktree = {root}\n", True),
        ("[core] worktree={root} # there\n", True),
        ('[core]\n\tworktree = "{root}"\n', True),
        ("[core]\n\tworktree = /nowhere\n\tworktree = {root}\n", True),
        ("[core]\n\tworktree = {root}\n[core]\n\tworktree = /nowhere\n", False),
        ("[other]\n\tworktree = {root}\n", False),
        ('[core "other"]\n\tworktree = {root}\n', False),
        ("[core]\n\t# worktree = {root}\n\tworktrees = {root}\n", False),
    ],
)
def test_settings_are_read_as_git_reads_them(tmp_path, setting, counts):
    root, kept = tmp_path / "root", tmp_path / "kept"
    Repo(tmp_path / "any").git("init", "-q", f"--separate-git-dir={kept}", str(root))
    (kept / "config").write_text("[core]\n\tbare = false\n" + setting.format(root=root))

    assert (verified_git_dir(root) == kept) is counts
    said = Repo(root, init=False).git("config", "--file", str(kept / "config"), "--default", "", "core.worktree")
    assert (said == str(root)) is counts


def test_it_imports_and_starts_nothing():
    code = (
        "import sys; from pathlib import Path; import cm_tui.engine.platform.git.git_dir as room; "
        "room.verified_git_dir(Path('.')); "
        "assert not {'pygit2', 'subprocess', 'pydantic'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
