"""Storage formats of git: what the library cannot read costs history alone, and changes no identity."""

import os
from contextlib import closing

import pytest

from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.git.opening import UnreadableGit, checkout_around, unreadable_format
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.git.roots import find_root
from cm_tui.engine.platform.store.database import Database
from tests import indexing
from tests.gitrepo import Repo

READABLE = {
    "noop": "true",
    "objectFormat": "sha1",
    "partialClone": "origin",
    "preciousObjects": "true",
    "refStorage": "files",
    "relativeWorktrees": "true",
    "worktreeConfig": "true",
    "compatObjectFormat": "sha256",
}
UNREADABLE = {
    "extensions.refStorage": ("reftable", "references are stored as 'reftable'"),
    "extensions.objectFormat": ("sha256", "object format is 'sha256'"),
    "extensions.notYetThoughtOf": ("1", "extension 'notyetthoughtof'"),
    "core.repositoryFormatVersion": ("2", "storage format is version 2"),
}


@pytest.fixture
def repo(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.write("sub/a.py", "def hello():\n    pass\n")
    repo.write(".gitignore", "*.log\n")
    repo.write("x.log", "1\n")
    repo.commit()
    return repo


def make_unreadable(repo, name):
    settings = repo.root / ".git" / "config"
    section, _, key = name.partition(".")
    settings.write_text(
        f"{settings.read_text()}[core]\n\trepositoryFormatVersion = 1\n[{section}]\n\t{key} = {UNREADABLE[name][0]}\n"
    )


@pytest.mark.parametrize("name", READABLE)
def test_an_extension_that_changes_nothing_is_read(repo, tmp_path, name):
    before = identify(repo.root)
    repo.git("config", "core.repositoryFormatVersion", "1")
    settings = repo.root / ".git" / "config"
    settings.write_text(f"{settings.read_text()}[extensions]\n\t{name} = {READABLE[name]}\n")
    repository = Repository(repo.root, tmp_path / "shadow")
    assert repository.git
    assert repository.git_problem == ""
    assert repository.head().branch == "main"
    assert identify(repo.root) == before


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_format_that_cannot_be_read_costs_history_alone(repo, tmp_path, name):
    make_unreadable(repo, name)
    assert find_root(repo.root / "sub") == repo.root
    repository = Repository(repo.root, tmp_path / "shadow")
    assert not repository.git
    assert UNREADABLE[name][1] in repository.git_problem
    assert "history" in repository.git_problem
    with closing(Database(tmp_path / "store")) as db:
        summary = indexing.index(db, repo.root)
        assert repository.git_problem in summary.notes
        assert set(indexing.now(db)) == {"sub/a.py", ".gitignore"}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("remote", ["", "git@example.org:team/app.git", "ex:team/app"])
def test_the_identity_is_that_of_before(repo, tmp_path, monkeypatch, name, remote):
    settings = tmp_path / "gitconfig"
    settings.write_text('[url "https://example.org/"]\n\tinsteadOf = ex:\n')
    repo.git("config", "include.path", os.fspath(settings))
    if remote:
        repo.git("remote", "add", "other", "https://other.example.org/x")
        repo.git("remote", "add", "origin", remote)
    before = identify(repo.root)
    before.folder.mkdir(parents=True)
    assert identify(repo.root) == before
    assert before.text.startswith("remote:example.org/team/app" if remote else "root-commit:")
    make_unreadable(repo, name)
    assert identify(repo.root) == before


def test_the_first_commit_is_asked_of_git_where_nothing_is_known(tmp_path):
    repo = Repo(tmp_path / "app", init=False)
    repo.git("init", "-q", "--object-format=sha256")
    assert identify(repo.root).text == f"path:{repo.root}"
    first = repo.commit()
    repo.commit()
    assert identify(repo.root).text == f"root-commit:{first}"


def test_a_worktree_is_a_checkout_of_its_own(tmp_path):
    repo = Repo(tmp_path / "app", init=False)
    repo.git("init", "-q", "--object-format=sha256")
    repo.commit()
    repo.git("worktree", "add", "-q", "../side")
    assert find_root(tmp_path / "side") == tmp_path / "side"
    assert identify(tmp_path / "side").folder == identify(repo.root).folder
    assert "sha256" in Repository(tmp_path / "side", tmp_path / "shadow").git_problem


def test_a_repository_within_another_one_is_the_nearest(repo):
    inner = Repo(repo.root / "inner", init=False)
    inner.git("init", "-q", "--object-format=sha256")
    assert find_root(inner.root) == inner.root
    assert find_root(repo.root / "sub") == repo.root
    assert identify(repo.root).text.startswith("root-commit:")


@pytest.mark.parametrize(
    ("settings", "readable"),
    [
        ("", True),
        ("[core]\nrepositoryformatversion = x\n", True),
        ("[core]\nrepositoryformatversion = 0\n[extensions]\nanything = 1\n", True),
        ("[core]\nrepositoryformatversion = 1\n", True),
        ("[core]\nrepositoryformatversion = 1\n[Extensions]\nREFSTORAGE = Files\n", True),
        ("[core]\nrepositoryformatversion = 1\n[extensions]\nrefstorage = \n", False),
        ("[core]\nrepositoryformatversion = 99999\n", False),
    ],
)
def test_settings_that_decide(tmp_path, settings, readable):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(settings)
    around = checkout_around(tmp_path)
    found = unreadable_format(*around)
    assert (found is None) == readable
    assert found is None or isinstance(found, UnreadableGit)
