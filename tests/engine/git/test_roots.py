from pathlib import Path

import pytest

from cm_tui.daemon.open_engine import where_of
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.git.roots import find_root, refuse_unsafe
from cm_tui.errors import NotFoundError, RefusedError
from tests.gitrepo import Repo


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A home folder somewhere below tmp_path."""
    home = tmp_path / "people" / "me"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


def test_root_is_the_repository_around_a_folder_or_file(tmp_path):
    repo = Repo(tmp_path / "app")
    file = repo.write("src/deep/a.py", "x = 1\n")
    assert find_root(file.parent) == repo.root
    assert find_root(file) == repo.root
    assert find_root(repo.root / ".git") == repo.root


def test_the_current_folder_is_the_default(tmp_path, monkeypatch):
    repo = Repo(tmp_path / "app")
    repo.write("src/a.py")
    monkeypatch.chdir(repo.root / "src")
    assert find_root() == repo.root


def test_a_deleted_current_folder_is_no_matter_of_spelling(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for find in (find_root, lambda: where_of(None)):
        with pytest.raises(NotFoundError, match="Cannot find the current folder") as caught:
            find()
        assert caught.value.hint == "Change to another folder, then try again."


def test_a_worktree_is_a_root_of_its_own(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.write("a.py")
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    assert find_root(tmp_path / "other") == tmp_path / "other"


def test_a_submodule_is_a_root_of_its_own(tmp_path):
    library = Repo(tmp_path / "library")
    library.write("lib.py")
    library.commit()
    app = Repo(tmp_path / "app")
    app.git("submodule", "add", "-q", str(library.root), "lib")
    assert find_root(app.root / "lib") == app.root / "lib"


def test_a_folder_without_git_is_its_own_root_unless_marked_above(tmp_path):
    inner = tmp_path / "plain" / "inner"
    inner.mkdir(parents=True)
    assert find_root(inner) == inner
    (tmp_path / "plain" / ".cm").mkdir()
    assert find_root(inner) == tmp_path / "plain"


def test_below_an_indexed_folder_without_git_that_is_the_root_unless_a_folder_is_named(tmp_path, monkeypatch):
    outer = tmp_path / "plain"
    file = outer / "inner" / "a.py"
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.chdir(file.parent)
    assert find_root() == find_root(file) == file.parent
    identity = identify(outer)
    identity.folder.mkdir(parents=True)
    assert find_root() == file.parent
    identity.write_manifest(outer)
    assert find_root() == find_root(file) == outer
    assert find_root(file.parent) == file.parent


def test_a_folder_that_its_repository_ignores_is_its_own_root(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.write(".gitignore", "corpora/\n")
    repo.write("corpora/flask/a.py")
    assert find_root(repo.root / "corpora" / "flask") == repo.root / "corpora" / "flask"


def test_a_repository_whose_git_folder_lies_elsewhere(tmp_path):
    repo = Repo(tmp_path / "app", init=False)
    repo.git("init", "-q", "--separate-git-dir", str(tmp_path / "there"), ".")
    repo.write("src/a.py")
    assert find_root(repo.root / "src") == repo.root
    # Until it says whose folder it is: anybody's `.git` could lead there.
    assert not Repository(repo.root, tmp_path / "shadow").git
    repo.git("config", "core.worktree", str(repo.root))
    assert Repository(repo.root, tmp_path / "shadow").git


def test_a_bare_repository_is_refused(tmp_path):
    Repo(tmp_path / "bare", init=False).git("init", "-q", "--bare", "x.git")
    with pytest.raises(RefusedError, match="bare"):
        find_root(tmp_path / "bare" / "x.git")


def test_a_missing_folder_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="nowhere"):
        find_root(tmp_path / "nowhere")


@pytest.mark.parametrize("folder", ["/", "/usr", "/usr/lib", "/etc", "/tmp", "/dev", "/dev/shm"])
def test_system_folders_are_refused(folder):
    if not Path(folder).is_dir():
        pytest.skip("not on this platform")
    with pytest.raises(RefusedError) as refused:
        find_root(folder)
    assert refused.value.exit_code == 4
    assert "--force" in refused.value.hint


def test_home_and_what_is_above_it_are_refused_unless_insisted(home):
    for folder in (home, home.parent):
        with pytest.raises(RefusedError):
            find_root(folder)
        assert find_root(folder, force=True) == folder
    project = home / "project"
    project.mkdir()
    assert find_root(project) == project


def test_a_root_that_was_indexed_on_insisting_is_taken_from_then_on(home, cm_home):
    (home / "a.py").write_text("a = 1\n")
    with Engine.open(home, force=True) as engine:
        for _ in engine.index():
            pass
    with Engine.open(home) as engine:
        assert engine.root == home
    with pytest.raises(RefusedError):
        find_root(home.parent)


def test_a_home_folder_kept_in_git_does_not_swallow_what_lies_below(home):
    Repo(home)
    (home / "notes").mkdir()
    with pytest.raises(RefusedError, match="home folder"):
        find_root(home / "notes")


@pytest.mark.parametrize("name", ["packages", "build", "tmp", "node_modules", "usr"])
def test_a_project_below_a_folder_of_any_name_is_fine(tmp_path, name):
    root = tmp_path / name / "app"
    root.mkdir(parents=True)
    refuse_unsafe(root)
    assert find_root(root) == root


@pytest.mark.parametrize("place", ["", "..", "../other", "../other/deep"])
def test_a_repository_may_not_name_another_folder_as_its_own(tmp_path: Path, place: str):
    """`core.worktree` stands in its own settings, which may be a stranger's."""
    (tmp_path / "work/other/deep").mkdir(parents=True)
    claims = Repo(tmp_path / "work/claims")
    (claims.root / "sub").mkdir()
    claims.git("config", "core.worktree", str((claims.root / place).resolve()))
    for folder in (claims.root, claims.root / "sub", claims.root / ".git"):
        if place:
            with pytest.raises(RefusedError, match="not a checkout of it"):
                find_root(folder)
        else:
            assert find_root(folder) == claims.root
