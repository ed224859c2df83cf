"""What was given covers its checkouts and their worktrees, and nothing that merely claims to be one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.engine.platform.git.reach import has_foreign_history, reach
from tests.gitrepo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "real")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    return repo


def test_folders_cover_what_lies_in_them(tmp_path: Path):
    given = tmp_path / "work"
    (given / "one").mkdir(parents=True)
    (tmp_path / "work2").mkdir()
    (tmp_path / "way").symlink_to(given)
    assert reach(given, [given]) == "given"
    assert reach(given / "one", [given]) == "given"
    assert reach(tmp_path / "way/one", [given]) == "given"
    assert reach(given / "one", [tmp_path / "way"]) == "given"
    for folder in (tmp_path, tmp_path / "work2", given / "../work2", Path("/"), Path("/etc")):
        assert reach(folder, [given]) == "outside"
    assert reach(given, []) == "outside"


def test_a_link_in_a_folder_covers_nothing(tmp_path: Path):
    (tmp_path / "work").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "work/link").symlink_to(tmp_path / "other")
    assert reach(tmp_path / "work/link", [tmp_path / "work"]) == "outside"


def test_worktrees_are_covered_whichever_was_given(repo: Repo, tmp_path: Path):
    trees = [repo.root, tmp_path / "a tree", tmp_path / "b tree"]
    for tree in trees[1:]:
        repo.git("worktree", "add", "-q", "--detach", str(tree))
    for one in trees:
        for other in trees:
            assert reach(one, [other]) == "given"
    bare = tmp_path / "bare/x.git"
    repo.git("clone", "-q", "--bare", str(repo.root), str(bare))
    Repo(bare, init=False).git("worktree", "add", "-q", "--detach", str(tmp_path / "of bare"))
    assert reach(tmp_path / "of bare", [tmp_path / "bare"]) == "given"
    assert reach(tmp_path / "of bare", [repo.root]) == "outside"


def test_a_clone_is_another_repository(repo: Repo, tmp_path: Path):
    repo.git("clone", "-q", str(repo.root), str(tmp_path / "clone"))
    assert reach(tmp_path / "clone", [repo.root]) == "outside"


def test_submodules_and_repositories_inside_are_covered(repo: Repo, tmp_path: Path):
    whole = Repo(tmp_path / "whole")
    whole.git("submodule", "add", "-q", str(repo.root), "lib/part")
    Repo(whole.root / "vendor/other").write("x")
    assert reach(whole.root / "lib/part", [whole.root]) == "given"
    assert reach(whole.root / "vendor/other", [whole.root]) == "given"
    assert reach(whole.root, [whole.root / "lib/part"]) == "outside"


def test_a_checkout_whose_data_lies_elsewhere(repo: Repo, tmp_path: Path):
    root, kept = tmp_path / "root", tmp_path / "kept"
    repo.git("init", "-q", f"--separate-git-dir={kept}", str(root))
    assert reach(root, [root]) == "foreign git"
    assert reach(root, [root, kept]) == "given"
    Repo(root, init=False).git("config", "core.worktree", str(root))
    assert reach(root, [root]) == "given"


@pytest.mark.parametrize("name", ["HEAD", "index", "packed-refs", "refs", "refs/heads", "refs/heads/main"])
def test_data_that_is_a_link_to_another_repository(repo: Repo, tmp_path: Path, name: str):
    repo.git("pack-refs", "--all", "--no-prune")
    claims = Repo(tmp_path / "claims")
    claims.write("b.py", "y = 1\n")
    claims.commit()
    claims.git("pack-refs", "--all", "--no-prune")
    assert reach(claims.root, [claims.root]) == "given"
    place = claims.root / ".git" / name
    place.rename(tmp_path / "aside")
    place.symlink_to(repo.root / ".git" / name)
    assert reach(claims.root, [claims.root]) == "foreign git"
    assert reach(claims.root, [claims.root, repo.root]) == "given"
    place.unlink()
    (tmp_path / "aside").rename(claims.root / ".git/aside")
    place.symlink_to(claims.root / ".git/aside")
    assert reach(claims.root, [claims.root]) == "given"


def test_a_way_of_references_to_another_repository(repo: Repo, tmp_path: Path):
    claims = Repo(tmp_path / "claims")
    claims.commit()
    (claims.root / ".git/refs/heads/far").symlink_to(repo.root / ".git/refs/heads")
    (claims.root / ".git/HEAD").write_text("ref: refs/heads/far/main\n")
    assert reach(claims.root, [claims.root]) == "foreign git"


@pytest.mark.parametrize("name", ["objects", "objects/pack", "objects/info", "objects/ab", "objects/pack/x.pack"])
def test_objects_that_are_a_link_to_another_repository(repo: Repo, tmp_path: Path, name: str):
    repo.git("gc", "-q")
    claims = Repo(tmp_path / "claims")
    claims.commit()
    place = claims.root / ".git" / name
    if place.exists():
        place.rename(tmp_path / "aside")
    place.symlink_to(repo.root / ".git" / ("objects" if name == "objects" else "objects/pack"))
    assert reach(claims.root, [claims.root]) == "foreign git"
    assert reach(claims.root, [claims.root, repo.root]) == "given"
    assert not has_foreign_history(claims.root)


def test_borrowed_objects_are_given_by_whoever_gives_both(repo: Repo, tmp_path: Path):
    for source, clone in ((repo.root, "one"), (tmp_path / "one", "two"), (tmp_path / "two", "three")):
        repo.git("clone", "-q", "--shared", str(source), str(tmp_path / clone))
    three = tmp_path / "three"
    # Git writes them all down; one that names its neighbour alone comes to the others by that.
    (three / ".git/objects/info/alternates").write_text(f"{tmp_path}/two/.git/objects\n")
    (tmp_path / "two/.git/objects/info/alternates").write_text("../../../one/.git/objects\n")
    assert reach(three, [three]) == "foreign git"
    assert reach(three, [three, tmp_path / "one", tmp_path / "two"]) == "foreign git"
    assert reach(three, [tmp_path / "one", tmp_path / "two", three, repo.root]) == "given"
    assert not has_foreign_history(three)
    (three / ".git/objects/info/alternates").write_text('"/somewhere"\n')
    assert reach(three, [three]) == "foreign git"
    (three / ".git/objects/info/alternates").write_text(f"# {repo.root}\n\n")
    assert reach(three, [three]) == "given"


def test_a_reference_beside_head_that_is_a_link_to_another_repository(repo: Repo, tmp_path: Path):
    claims = Repo(tmp_path / "claims")
    claims.commit()
    (claims.root / ".git/refs/tags/deep").mkdir()
    (claims.root / ".git/refs/tags/deep/theirs").symlink_to(repo.root / ".git/refs/heads/main")
    assert reach(claims.root, [claims.root]) == "foreign git"
    assert has_foreign_history(claims.root)


def test_whose_history_it_is(repo: Repo, tmp_path: Path):
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    (tmp_path / "claims").mkdir()
    assert not has_foreign_history(tmp_path / "claims")
    (tmp_path / "claims/.git").write_text(f"gitdir: {repo.root}/.git\n")
    assert has_foreign_history(tmp_path / "claims")
    assert not has_foreign_history(tmp_path / "tree")
    assert not has_foreign_history(repo.root)
