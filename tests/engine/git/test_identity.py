import shutil

import pytest

from cm_tui import paths
from cm_tui.engine.git import root_commit
from cm_tui.engine.git.commits import Commits
from cm_tui.engine.git.identity import identify, normalise_remote
from tests.gitrepo import Repo

SAME = [
    "https://github.com/Owner/Repo",
    "https://github.com/Owner/Repo.git",
    "https://GitHub.com:443/Owner/Repo.git/",
    "https://user:token@github.com/Owner/Repo.git",
    "http://github.com//Owner/Repo/",
    "git@github.com:Owner/Repo.git",
    "github.com:Owner/Repo",
    "git@GITHUB.com:/Owner/Repo.git",
    "ssh://git@github.com/Owner/Repo.git",
    "ssh://git@github.com:2222/Owner/Repo",
    "git+ssh://git@github.com/Owner/Repo",
    "git://github.com/Owner/Repo.git",
]


@pytest.mark.parametrize("url", SAME)
def test_every_way_to_write_a_remote_is_one(url):
    assert normalise_remote(url) == "github.com/Owner/Repo"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://host/a%20b.git", "host/a b"),
        ("ssh://git@[::1]:22/a/b.git", "::1/a/b"),
        ("git@[::1]:a/b.git", "::1/a/b"),
        ("https://host/group/sub/project", "host/group/sub/project"),
        ("/srv/git/app.git", None),
        ("../app", None),
        ("file:///srv/git/app.git", None),
        ("C:\\git\\app", None),
        ("C:/git/app", None),
    ],
)
def test_other_remotes(url, expected):
    assert normalise_remote(url) == expected


def test_credentials_are_nowhere_in_an_identity(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.git("remote", "add", "origin", "https://me:s3cret@example.org/team/app.git")
    identity = identify(repo.root)
    assert identity.text == "remote:example.org/team/app"
    assert "s3cret" not in str(identity.folder)
    assert identity.folder.name.startswith("app-")


def test_origin_comes_before_other_remotes(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.git("remote", "add", "aaa", "https://example.org/fork/app")
    assert identify(repo.root).text == "remote:example.org/fork/app"
    repo.git("remote", "add", "origin", "https://example.org/team/app")
    assert identify(repo.root).text == "remote:example.org/team/app"


def test_clones_and_worktrees_share_a_store_and_namesakes_do_not(tmp_path):
    upstream = Repo(tmp_path / "one" / "app")
    upstream.write("a.py")
    upstream.commit()
    clone = Repo(tmp_path / "two", init=False)
    clone.git("clone", "-q", str(upstream.root), "app")
    upstream.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    Repo(tmp_path / "renamed", init=False).git("clone", "-q", str(upstream.root), ".")
    places = (upstream.root, tmp_path / "two" / "app", tmp_path / "tree", tmp_path / "renamed")
    assert len({identify(place).folder for place in places}) == 1
    assert identify(upstream.root).text.startswith("root-commit:")

    namesake = Repo(tmp_path / "three" / "app")
    namesake.write("b.py")
    namesake.commit("other")
    assert identify(namesake.root).folder != identify(upstream.root).folder


def test_a_clone_of_a_local_clone_is_the_project_of_its_remote(tmp_path):
    first = Repo(tmp_path / "first")
    first.write("a.py")
    first.commit()
    first.git("remote", "add", "origin", "git@example.org:team/app.git")
    Repo(tmp_path / "second", init=False).git("clone", "-q", str(first.root), ".")
    assert identify(tmp_path / "second").text == "remote:example.org/team/app"


def test_two_clones_of_each_other_do_not_run_in_circles(tmp_path):
    first = Repo(tmp_path / "first")
    first.write("a.py")
    first.commit()
    second = Repo(tmp_path / "second", init=False)
    second.git("clone", "-q", str(first.root), ".")
    first.git("remote", "add", "origin", str(second.root))
    assert identify(first.root) == identify(first.root)
    assert identify(first.root).text == identify(second.root).text


def test_without_remote_and_commit_it_is_where_it_lies(tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    assert identify(plain).text == f"path:{plain}"
    repo = Repo(tmp_path / "unborn")
    assert identify(repo.root).text == f"path:{repo.root}"


def test_the_root_commit_stays_when_the_project_goes_on(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.write("a.py")
    repo.commit()
    before = identify(repo.root)
    repo.write("b.py")
    repo.commit()
    assert identify(repo.root) == before


def test_a_name_of_only_odd_letters_still_makes_a_folder(tmp_path):
    odd = tmp_path / "日本"
    odd.mkdir()
    assert identify(odd).folder.name.startswith("project-")


def remembered(root):
    """Identity of a project that has a store."""
    identity = identify(root)
    identity.folder.mkdir(parents=True, exist_ok=True)
    return identify(root)


def test_a_lost_commit_or_a_shallow_fetch_leaves_it_what_it_was(tmp_path):
    repo = Repo(tmp_path / "app")
    for _ in range(6):
        repo.commit()
    before = remembered(repo.root)
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", f"file://{repo.root}", ".")
    assert remembered(clone.root).text == before.text
    clone.git("fetch", "-q", "--depth", "2")
    assert identify(clone.root).text == before.text
    lost = repo.git("rev-parse", "HEAD~3")
    (repo.root / ".git/objects" / lost[:2] / lost[2:]).unlink()
    assert identify(repo.root) == before
    repo.commit()
    repo.commit()
    assert identify(repo.root) == before


def test_what_began_without_its_first_commit_stays_what_it_was(tmp_path):
    repo = Repo(tmp_path / "app")
    for _ in range(6):
        repo.commit()
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--depth", "2", f"file://{repo.root}", ".")
    before = remembered(clone.root)
    assert before.text == f"path:{clone.root}"
    repo.commit()
    clone.git("pull", "-q", "--unshallow")
    assert identify(clone.root) == before


def test_another_repository_in_the_same_place_is_another_project(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.commit("one")
    before = remembered(repo.root)
    shutil.rmtree(repo.root)
    again = Repo(tmp_path / "app")
    again.commit("two")
    assert identify(again.root).text != before.text


def test_only_what_is_new_is_walked(tmp_path, monkeypatch):
    repo = Repo(tmp_path / "app")
    for _ in range(40):
        repo.commit()
    repo.git("branch", "side", "HEAD~5")
    before = remembered(repo.root)
    walked = []
    get = Commits.get
    monkeypatch.setattr(Commits, "get", lambda self, sha: walked.append(sha) or get(self, sha))
    assert identify(repo.root) == before
    repo.commit()
    assert identify(repo.root) == before
    assert len(walked) <= 2
    walked.clear()
    repo.git("checkout", "-q", "side")
    assert identify(repo.root) == before
    assert len(walked) <= 10


def test_marks_stay_few_and_reach_far_back():
    found = root_commit.RootCommit("0", {})
    for height in range(1, 3000):
        found = root_commit._extended(found, [str(height)], height)
    assert len(found.marks) <= 64
    assert min(found.marks.values()) < 1500


def test_a_question_about_a_project_without_a_store_leaves_nothing_behind(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.commit()
    identify(repo.root)
    assert not (paths.data_dir() / root_commit.FILE).exists()
