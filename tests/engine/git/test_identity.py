import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api import projects
from cm_tui.engine.platform.git import root_commit
from cm_tui.engine.platform.git.commits import Commits
from cm_tui.engine.platform.git.identity import _local_source, identify, normalise_remote, refuse_other
from cm_tui.errors import CmError, RefusedError
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
    repo.commits([("change", {})] * 40)
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


ODD = [
    "~nosuchuser/x", "ssh://[bad/x", "https://[bad/x", "file://[bad/x", "file:///tmp/a%00b", "/" + "x" * 5000,
    "x/" * 2500, "loop/x", "loop",
]  # fmt: skip


@pytest.mark.parametrize("url", ODD)
def test_an_odd_remote_is_none(tmp_path, url):
    repo = Repo(tmp_path / "app")
    (repo.root / "loop").symlink_to("loop")
    with (repo.root / ".git/config").open("a") as file:
        file.write(f'[remote "origin"]\n\turl = "{url}"\n')
    assert identify(repo.root).text == f"path:{repo.root}"
    sha = repo.commit()
    assert identify(repo.root).text == f"root-commit:{sha}"


@pytest.mark.parametrize(
    "url",
    ["\\\\host\\share", "//host/share", "/net/host/x", "../../../../../../../../../../net/host", "file://host/x",
     "file:////host/x", "\\/host/x", "file:///net/x"],
)  # fmt: skip
def test_another_machine_is_not_asked_for_a_folder(tmp_path, url, monkeypatch):
    touched = []
    is_dir, resolve = Path.is_dir, Path.resolve
    monkeypatch.setattr(Path, "is_dir", lambda self: touched.append(str(self)) or is_dir(self))
    monkeypatch.setattr(Path, "resolve", lambda self, **how: touched.append(str(self)) or resolve(self, **how))
    assert _local_source(url, tmp_path) is None
    assert touched == []
    assert _local_source("file://localhost/", tmp_path) == Path("/")


def test_a_source_that_cannot_be_opened_says_nothing(tmp_path):
    source = Repo(tmp_path / "source")
    (source.root / ".git/config").write_text("[core\n")
    repo = Repo(tmp_path / "app")
    repo.git("remote", "add", "origin", str(source.root))
    sha = repo.commit()
    assert identify(repo.root).text == f"root-commit:{sha}"


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main", "packed-refs"])
def test_a_damaged_repository_is_an_error_with_a_message_or_no_project_of_git(tmp_path, name):
    repo = Repo(tmp_path / "app")
    repo.commit()
    if name == "packed-refs":
        repo.git("pack-refs", "--all")
    (repo.root / ".git" / name).write_bytes(b"\xff what is this\n")
    with suppress(CmError):
        assert identify(repo.root).text == f"path:{repo.root}"


def test_the_store_of_another_project_is_not_opened(tmp_path, monkeypatch):
    """The name of a store's folder is cut short: two projects may meet in one, by chance or by somebody's search."""
    monkeypatch.setattr(paths, "store_dir", lambda identity, name: paths.data_dir() / "projects/one-and-the-same")
    first, second = tmp_path / "first", tmp_path / "second"
    for root in (first, second):
        root.mkdir()
    refuse_other(identify(first))
    identify(first).folder.mkdir(parents=True)
    identify(first).write_manifest(first)
    assert projects.locate(first)[0] == first
    with pytest.raises(RefusedError, match="another project"):
        projects.locate(second)
    (identify(first).folder / paths.STORE_MANIFEST).write_text("[]")
    assert projects.locate(second)[0] == second
