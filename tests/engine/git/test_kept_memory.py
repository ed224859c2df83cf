"""A checkout keeps its memory whatever git says of it later; a copy, or another repository in its place, does not get it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.platform.git import checkout_links, folder_mark, identity
from cm_tui.engine.platform.git.folder_mark import FolderMark
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.files import damaged_copies
from tests.gitrepo import Repo

REMOTE = "https://example.org/team/app.git"
Change = Callable[[Repo, Path], Path | None]
"""Changes a repository; returns the folder to look at, where that is another one."""


def begun_before_a_commit(root: Path) -> Repo:
    return Repo(root)


def begun_with_a_commit(root: Path) -> Repo:
    repo = Repo(root)
    repo.write("a.py", "x = 1\n")
    repo.commit("one")
    repo.commit("two")
    return repo


def begun_with_a_remote(root: Path) -> Repo:
    repo = begun_with_a_commit(root)
    repo.git("remote", "add", "origin", REMOTE)
    return repo


STARTS = [begun_before_a_commit, begun_with_a_commit, begun_with_a_remote]


def remember(root: Path) -> str:
    """Begin a memory; returns the name of its folder."""
    Journal.of(root).append("test", {})
    return Journal.of(root).folder.name


def name_of(root: Path) -> str:
    """From the cache of journals; checked against the identity itself."""
    name = Journal.of(root).folder.name
    assert name == identify(root).folder.name == Journal.of(root).folder.name
    return name


def _after_a_commit(*words: str) -> Change:
    def change(repo: Repo, _: Path) -> None:
        repo.commit("another")
        repo.git(*words)

    return change


def _commit(repo: Repo, _: Path) -> None:
    repo.commit("another")


def _orphan(repo: Repo, _: Path) -> None:
    repo.git("checkout", "-q", "--orphan", "pages")
    repo.commit("another start")


def _rewritten(repo: Repo, _: Path) -> None:
    _orphan(repo, _)
    repo.git("branch", "-M", "pages", "main")
    repo.git("reflog", "expire", "--expire=all", "--all")
    repo.git("gc", "-q", "--prune=now")


def _remote(*words: str) -> Change:
    def change(repo: Repo, _: Path) -> None:
        if "add" not in words and not repo.git("remote"):
            repo.git("remote", "add", "origin", REMOTE)
        if not ("add" in words and repo.git("remote")):
            repo.git("remote", *words)

    return change


def _grafted(repo: Repo, _: Path) -> None:
    head = repo.commit("another")
    repo.write(".git/info/grafts", f"{head}\n")


def _replaced(repo: Repo, _: Path) -> None:
    repo.commit("another")
    head = repo.commit("one more")
    repo.git("replace", "--graft", head)


def _shallow(repo: Repo, _: Path) -> None:
    repo.write(".git/shallow", f"{repo.commit('another')}\n")


def _worktree(repo: Repo, tmp_path: Path) -> Path:
    repo.commit("another")
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    return tmp_path / "tree"


def _symlinked(repo: Repo, tmp_path: Path) -> Path:
    _orphan(repo, tmp_path)
    (tmp_path / "link").symlink_to(repo.root)
    return tmp_path / "link"


def _rights(repo: Repo, _: Path) -> None:
    for file in (repo.root / ".git").rglob("*"):
        file.chmod(file.stat().st_mode & 0o700)
    _orphan(repo, _)


def _moved_and_back(repo: Repo, tmp_path: Path) -> None:
    repo.root.rename(tmp_path / "elsewhere").rename(repo.root)
    _orphan(repo, tmp_path)


SAME: dict[str, Change] = {
    "first or next commit": _commit,
    "orphan branch": _orphan,
    "history rewritten and pruned": _rewritten,
    "detached HEAD": _after_a_commit("checkout", "-q", "--detach"),
    "remote added": _remote("add", "origin", "https://example.org/me/other.git"),
    "remote of another name added": _remote("add", "upstream", "git@example.org:up/stream"),
    "remote renamed": _remote("rename", "origin", "upstream"),
    "remote changed": _remote("set-url", "origin", "https://example.org/me/other.git"),
    "remote removed": _remote("remove", "origin"),
    "grafts": _grafted,
    "replaced commits": _replaced,
    "cut off by a shallow fetch": _shallow,
    "worktree added": _worktree,
    "by a symbolic link": _symlinked,
    "permissions changed": _rights,
    "moved away and back": _moved_and_back,
    "branch renamed": _after_a_commit("branch", "-M", "trunk"),
    "packed": _after_a_commit("gc", "-q"),
    "initialised again": _after_a_commit("init", "-q"),
}


@pytest.mark.few(29)
@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
@pytest.mark.parametrize("begin", STARTS)
def test_the_same_git_folder_has_the_same_memory(tmp_path: Path, begin: Callable[[Path], Repo], change: Change):
    repo = begin(tmp_path / "app")
    before = remember(repo.root)
    root = change(repo, tmp_path) or repo.root
    assert name_of(root) == before
    assert identify(root).claims == ""
    identity.claim(root)
    assert name_of(root) == before


def _copied(repo: Repo, tmp_path: Path) -> Path:
    return Path(shutil.copytree(repo.root, tmp_path / "copy", copy_function=shutil.copy2))


def _cloned(repo: Repo, tmp_path: Path) -> Path:
    repo.commit("another")
    repo.git("clone", "-q", str(repo.root), str(tmp_path / "clone"))
    return tmp_path / "clone"


def _moved(repo: Repo, tmp_path: Path) -> Path:
    return repo.root.rename(tmp_path / "moved")


def _pointed_at(repo: Repo, tmp_path: Path) -> Path:
    (tmp_path / "pointer").mkdir()
    (tmp_path / "pointer/.git").write_text(f"gitdir: {repo.root / '.git'}\n")
    return tmp_path / "pointer"


def _copied_into_its_place(repo: Repo, tmp_path: Path) -> None:
    kept = _copied(repo, tmp_path)
    shutil.rmtree(repo.root)
    shutil.copytree(kept, repo.root, copy_function=shutil.copy2)


def _created_again(repo: Repo, _: Path) -> None:
    shutil.rmtree(repo.root)
    begun_with_a_remote(repo.root)


def _created_again_before_a_commit(repo: Repo, _: Path) -> None:
    shutil.rmtree(repo.root)
    Repo(repo.root)


def _git_created_again(repo: Repo, _: Path) -> None:
    shutil.rmtree(repo.root / ".git")
    begun_with_a_remote(repo.root)


def _git_deleted(repo: Repo, _: Path) -> None:
    shutil.rmtree(repo.root / ".git")


def _a_plain_folder(repo: Repo, _: Path) -> None:
    shutil.rmtree(repo.root)
    repo.root.mkdir()


OTHER: dict[str, Change] = {
    "copy": _copied,
    "clone": _cloned,
    "moved": _moved,
    "pointer to it": _pointed_at,
    "copy in its place": _copied_into_its_place,
    "created again": _created_again,
    "created again before a commit": _created_again_before_a_commit,
    ".git created again": _git_created_again,
    ".git deleted": _git_deleted,
    "a plain folder in its place": _a_plain_folder,
}


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER)
@pytest.mark.parametrize("begin", STARTS)
def test_another_one_gets_none_of_it(tmp_path: Path, begin: Callable[[Path], Repo], change: Change):
    repo = begin(tmp_path / "app")
    before = remember(repo.root)
    root = change(repo, tmp_path) or repo.root
    own = name_of(root)
    assert own != before
    assert remember(root) == name_of(root) == own
    identity.claim(root)
    # What git says later gives it nothing either.
    if (root / ".git").is_dir():
        Repo(root).commit("later")
        Repo(root).git("config", "remote.origin.url", REMOTE)
    assert name_of(root) == own
    if root != repo.root and repo.root.exists():
        assert name_of(repo.root) == before


def test_the_same_history_in_the_same_place_is_another_repository(tmp_path: Path):
    """Same first commit, same remote, same path: nothing that git says tells the two apart."""
    repo = begun_with_a_remote(tmp_path / "app")
    kept = _copied(repo, tmp_path)
    before = remember(repo.root)
    shutil.rmtree(repo.root)
    shutil.copytree(kept, repo.root)
    assert name_of(repo.root) != before
    assert identify(repo.root).claims == "remote:example.org/team/app"
    assert checkout_links.earlier(repo.root) == {before: True}


def test_git_init_in_a_folder_that_has_a_memory(tmp_path: Path):
    plain = tmp_path / "plain"
    plain.mkdir()
    before = remember(plain)
    begun_with_a_remote(plain)
    assert name_of(plain) == before
    remember(plain)
    identity.claim(plain)
    assert name_of(plain) == before
    assert list(json.loads(paths.links_file().read_text())["checkouts"]) == [str(plain / ".git")]


def test_a_plain_folder_that_was_created_again(tmp_path: Path):
    plain = tmp_path / "plain"
    plain.mkdir()
    before = remember(plain)
    assert name_of(plain) == before
    plain.rmdir()
    plain.mkdir()
    assert name_of(plain) != before
    assert checkout_links.earlier(plain) == {before: True}


def test_a_submodule_whose_git_folder_is_absorbed(tmp_path: Path):
    outer, inner = begun_with_a_commit(tmp_path / "outer"), begun_with_a_commit(tmp_path / "outer/inner")
    before = remember(inner.root)
    outer.git("-c", "advice.addEmbeddedRepo=false", "submodule", "add", "-q", str(inner.root), "inner")
    outer.git("submodule", "absorbgitdirs")
    assert (inner.root / ".git").is_file()
    assert name_of(inner.root) == before
    assert name_of(outer.root) != before
    remember(inner.root)
    identity.claim(inner.root)
    inner.git("remote", "add", "origin", REMOTE)
    assert name_of(inner.root) == before


def test_a_path_in_another_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where case does not count, one folder has several real paths."""
    repo = begun_with_a_commit(tmp_path / "app")
    (tmp_path / "APP").symlink_to(repo.root)
    real = checkout_links.owner_of
    monkeypatch.setattr(checkout_links, "owner_of", lambda root: str(tmp_path / "APP/.git"))
    before = remember(repo.root)
    monkeypatch.setattr(checkout_links, "owner_of", real)
    repo.git("remote", "add", "origin", REMOTE)
    assert identify(repo.root).folder.name == before


def test_a_checkout_that_an_earlier_version_knew_keeps_its_memory(tmp_path: Path):
    repo = begun_with_a_commit(tmp_path / "app")
    before = remember(repo.root)
    known = json.loads(paths.links_file().read_text())
    del known["checkouts"]
    for links in (json.dumps(known), None):
        paths.links_file().unlink()
        if links is not None:
            paths.links_file().write_text(links)
        # The first look notes it, before git says something new.
        assert name_of(repo.root) == before
        assert checkout_links.memory_of(repo.root) is not None
    repo.git("remote", "add", "origin", REMOTE)
    assert name_of(repo.root) == before


def test_what_an_earlier_version_lost_is_found_again(tmp_path: Path):
    repo = Repo(tmp_path / "app")
    lost = [remember(repo.root)]
    for change in (lambda: repo.commit("one"), lambda: repo.git("remote", "add", "origin", REMOTE)):
        known = json.loads(paths.links_file().read_text())
        del known["checkouts"]
        paths.links_file().write_text(json.dumps(known))
        change()
        lost.append(remember(repo.root))
    assert len({*lost}) == 3
    assert checkout_links.earlier(repo.root) == dict.fromkeys(sorted(lost[:2]), False)
    assert sorted(identity.earlier_memories(repo.root)) == sorted(lost[:2])


def test_what_git_says_later_is_found_by_other_clones(tmp_path: Path):
    """The memory has the name that it was begun with; a clone knows the project by its remote."""
    repo = begun_with_a_commit(tmp_path / "app")
    before = remember(repo.root)
    repo.git("remote", "add", "origin", REMOTE)
    identity.claim(repo.root)
    clone = _cloned(repo, tmp_path)
    assert identify(clone).claims == "remote:example.org/team/app"
    assert identity.claimed_memory(clone).folder.name == before
    assert name_of(clone) != before


def test_a_damaged_note_gives_nothing_away(tmp_path: Path):
    repo = begun_with_a_remote(tmp_path / "app")
    before = remember(repo.root)
    known = json.loads(paths.links_file().read_text())
    for damaged in ({"mark": [1, 2]}, {"mark": None}, {"identity": 3}, {"name": []}):
        note = {**known["checkouts"][str(repo.root / ".git")], **damaged}
        paths.links_file().write_text(json.dumps({**known, "checkouts": {str(repo.root / ".git"): note}}))
        assert identify(repo.root).folder.name != before
    for damage in ([1], None, 5, "x"):
        paths.links_file().write_text(json.dumps({**known, "checkouts": damage}))
        assert identify(repo.root).folder.name == before
        identity.claim(repo.root)
        assert identify(repo.root).folder.name == before
    paths.links_file().write_text(f"<<<<<<< {json.dumps(known)}")
    identity.claim(repo.root)
    assert [one.read_text() for one in damaged_copies(paths.links_file())] == [f"<<<<<<< {json.dumps(known)}"]


MARK = FolderMark(1, 10, (5, 6, 7))
MARKS = [
    (MARK, True),
    (MARK._replace(inode=2), True),  # The file system numbers its folders again.
    (MARK._replace(first_file=(5, 6, 8)), True),  # Its permissions were changed.
    (MARK._replace(born=11), True),  # A container made a layer of its own of it.
    (MARK._replace(born=11, first_file=(5, 6, 8)), False),  # The next one got the inode.
    (MARK._replace(born=11, inode=2), False),
    (MARK._replace(born=11, first_file=()), False),
    (MARK._replace(born=0), True),  # The file system does not record births.
    (MARK._replace(born=0, first_file=(5, 8, 8)), False),
    (None, False),
]


@pytest.mark.parametrize(("other", "is_same"), MARKS)
def test_marks(other: FolderMark | None, is_same: bool):
    assert MARK.is_same(other) is is_same
    if other is not None:
        assert other.is_same(MARK) is is_same
        assert FolderMark.read(json.loads(json.dumps(other))) == other


def test_marks_of_folders_without_a_first_file():
    plain = FolderMark(1, 10)
    assert not plain.is_same(plain._replace(born=11))
    assert plain.is_same(plain._replace(inode=2))
    assert plain._replace(born=0).is_same(plain._replace(born=0))
    assert not plain._replace(born=0).is_same(FolderMark(2, 0))


@pytest.mark.parametrize("begin", STARTS)
def test_without_births_the_file_that_git_wrote_first_tells(
    tmp_path: Path, begin: Callable[[Path], Repo], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(folder_mark, "_born", lambda *_: 0)
    repo = begin(tmp_path / "app")
    before = remember(repo.root)
    _orphan(repo, tmp_path)
    assert name_of(repo.root) == before
    _created_again(repo, tmp_path)
    assert name_of(repo.root) != before


def test_a_birth_is_read_where_the_disk_records_it(tmp_path: Path):
    mark = FolderMark.of(tmp_path)
    assert mark is not None
    assert mark.inode == os.stat(tmp_path).st_ino  # noqa: PTH116
    # In nanoseconds, and no later than what changed in it since.
    assert 0 <= mark.born <= (tmp_path.stat().st_ctime_ns) + 1_000_000_000
    assert FolderMark.of(tmp_path / "nothing") is None
