"""A pipe or a device where git's data belongs ends with a message: git's library would wait for it for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cm_tui.engine.platform.git.commits import LooseObjects
from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from cm_tui.engine.platform.git.opening import repository_around
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.git.roots import find_root
from cm_tui.engine.platform.git.special_files import refuse_special
from cm_tui.errors import RefusedError
from tests.forked import run_python
from tests.gitrepo import Repo

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")

PLACES = [
    "config", "HEAD", "commondir", "shallow", "index", "packed-refs", "info/grafts", "info/exclude", "info/attributes",
    "objects/info/alternates", "objects/info/commit-graph", "objects/pack/multi-pack-index", "objects/pack/pack-1.idx",
    "refs/heads/main", "", "../.gitignore", "../.gitattributes", "../.gitmodules",
]  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "real")
    repo.write("a.py", "x = 1\n")
    repo.write("sub/b.py", "x = 2\n")
    repo.commit()
    return repo


def in_the_way(place: Path) -> None:
    if place.is_dir():
        place.rename(place.with_name("aside"))
    place.unlink(missing_ok=True)


@pytest.mark.parametrize("name", PLACES)
def test_a_special_file_is_refused_by_name(repo: Repo, name: str):
    refuse_special(repo.root)
    place = Path(os.path.normpath(repo.root / ".git" / name))
    for make in (os.mkfifo, lambda place: place.symlink_to("/dev/zero")):
        in_the_way(place)
        make(place)
        for folder in (repo.root, repo.root / "sub"):
            with pytest.raises(RefusedError, match="pipe or a device") as refused:
                refuse_special(folder)
            assert str(place) in refused.value.message


@pytest.mark.parametrize(
    "text",
    [
        "[include] path = ../pipe",
        '[Include]\n\tPATH = "../pi\\\npe"',
        '[includeIf "gitdir:/nowhere/"] path = ../pipe',
        "[a][include] path=../pipe",
        "[core]\nexcludesFile = ../pipe # this",
        "[core] attributesfile = {root}/pipe",
        "[include] path = ../one",
    ],
)
def test_settings_that_lead_to_a_pipe(repo: Repo, text: str):
    os.mkfifo(repo.root / "pipe")
    (repo.root / "one").write_text("[include]\npath = one\npath = pipe\n")
    file = repo.root / ".git/config"
    before = file.read_text()
    file.write_text(before + text.format(root=repo.root) + "\n")
    with pytest.raises(RefusedError, match="/pipe is a pipe"):
        refuse_special(repo.root)
    file.write_text(before + "[include] path = nowhere\n[core] excludesFile = ../a.py\n")
    assert repository_around(repo.root) is not None


def test_settings_of_no_sensible_size_are_refused(repo: Repo):
    file = repo.root / ".git/config"
    before = file.read_text()
    file.write_text(before + "[include] path = 0\n")
    for number in range(200):
        (repo.root / f".git/{number}").write_text(f"[include] path = {number + 1}\n")
    with pytest.raises(RefusedError, match="too many"):
        refuse_special(repo.root)
    for content, said in ((before + "#" * 1_000_000, "too large"), (before + "[include] path = a\0b\n", "NUL")):
        file.write_text(content)
        with pytest.raises(RefusedError, match=said):
            refuse_special(repo.root)


def test_a_repository_above_one_that_is_none_is_looked_at_too(repo: Repo):
    """Git's library passes an empty `.git` and goes on upwards."""
    (repo.root / "sub/.git").mkdir()
    (repo.root / ".git/config").unlink()
    os.mkfifo(repo.root / ".git/config")
    with pytest.raises(RefusedError, match="config is a pipe"):
        refuse_special(repo.root / "sub")


def test_a_worktree_a_bare_repository_and_what_objects_are_borrowed_from(repo: Repo, tmp_path: Path):
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "x.git"))
    repo.git("clone", "-q", "--shared", str(repo.root), str(tmp_path / "borrows"))
    folders = tmp_path / "tree", tmp_path / "x.git", tmp_path / "borrows"
    for folder in folders:
        refuse_special(folder)
    os.mkfifo(tmp_path / "x.git/shallow")
    os.mkfifo(repo.root / ".git/objects/pack/pack-1.idx")
    for folder in folders:
        with pytest.raises(RefusedError):
            refuse_special(folder)


def test_ignore_files_on_the_way(repo: Repo):
    os.mkfifo(repo.root / "sub/.gitignore")
    (repo.root / "sub/deep").mkdir()
    for ask in (
        lambda: find_root(repo.root / "sub/deep"),
        lambda: Repository(repo.root, repo.root).ignored("sub/b.py"),
    ):
        with pytest.raises(RefusedError, match="ignore is a pipe"):
            ask()


@pytest.mark.parametrize("name", ["sub/.gitignore", "new/deep/.gitattributes", "kept/.gitignore", "nested/.git/config"])
def test_a_comparison_does_not_come_to_a_pipe(repo: Repo, tmp_path: Path, name: str):
    repo.write("kept/c.py", "x = 3\n")
    repo.commit()
    repo.write(".gitignore", "kept/\nbuilt/\n")
    repo.write("built/out.py", "x = 4\n")
    os.mkfifo(repo.root / "built/.gitignore")
    Repo(repo.root / "nested").commit()
    assert set(Repository(repo.root, tmp_path / "shadow").status()) >= {".gitignore"}
    place = repo.root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with pytest.raises(RefusedError, match="is a pipe"):
        Repository(repo.root, tmp_path / "shadow").status()


def test_files_read_without_the_library(repo: Repo):
    sha = repo.git("rev-parse", "HEAD")
    loose = repo.root / ".git/objects" / sha[:2] / sha[2:]
    loose.unlink()
    os.mkfifo(loose)
    with pytest.raises(Exception, match="not a file"):
        LooseObjects(repo.root / ".git").refuse_truncated(sha)
    for name in ("HEAD", "commondir", "packed-refs", "objects/info/alternates"):
        (repo.root / ".git" / name).unlink(missing_ok=True)
        os.mkfifo(repo.root / ".git" / name)
    folders = git_folders(repo.root)
    assert folders is not None
    assert head_of(folders).sha is None
    LooseObjects(repo.root / ".git")


def test_the_whole_way_in_a_process_that_would_hang(repo: Repo):
    """Not only what this module looks at: the library itself is asked, in a process that can be ended."""
    os.mkfifo(repo.root / "pipe")
    with (repo.root / ".git/config").open("a") as file:
        file.write("[include] path = ../pipe\n")
    code = "import sys; from cm_tui.engine.platform.git.roots import find_root; find_root(sys.argv[1])"
    done = run_python(code, str(repo.root))
    assert "RefusedError" in done.stderr
