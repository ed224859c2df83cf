import gc
import os
import shutil
import tracemalloc
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import FileStatus, ObjectType

from cm_tui.engine.platform.git import delta
from cm_tui.engine.platform.git.commits import Head
from cm_tui.engine.platform.git.delta import Trees
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.git.roots import find_root
from cm_tui.errors import CmError, NotFoundError, RefusedError
from tests.gitrepo import Repo


@pytest.fixture
def repo(tmp_path):
    return Repo(tmp_path / "app")


def opened(repo, tmp_path):
    return Repository(repo.root, tmp_path / "shadow")


def test_head_is_unborn_on_a_branch_or_detached(repo, tmp_path):
    assert opened(repo, tmp_path).head() == Head(None, "main")
    repo.write("a.py", "1\n")
    sha = repo.commit()
    assert opened(repo, tmp_path).head() == Head(sha, "main")
    repo.git("checkout", "-q", "--detach")
    assert opened(repo, tmp_path).head() == Head(sha, None)


def test_tree_lists_files_links_and_odd_names(repo, tmp_path):
    repo.write('sp ace/é "q"\n.py', "1\n")
    (repo.root / "link").symlink_to("/etc/passwd")
    Path(os.fsdecode(os.fsencode(repo.root) + b"/bad\xff.py")).write_bytes(b"2\n")
    sha = repo.commit()
    tree = opened(repo, tmp_path).tree(sha)
    assert set(tree) == {'sp ace/é "q"\n.py', "link", "bad\udcff.py"}
    assert tree["link"].is_link
    assert not tree['sp ace/é "q"\n.py'].is_link


def test_what_is_kept_of_a_history_that_is_read_takes_little_memory(repo, tmp_path):
    """Each of its folders is looked at; only neighbouring commits share any."""
    repo.write("a.py", "1\n")
    repo.commit()
    blob = pygit2.hash(b"1\n").raw
    data = b"".join(b"100644 module_%04d.py\0%b" % (number, blob) for number in range(4_000))
    tree = bytes(pygit2.Repository(str(repo.root)).write(ObjectType.TREE, data).raw)
    trees = Trees(opened(repo, tmp_path))
    tracemalloc.start()
    try:
        assert len(trees.names(tree)) == 4_000
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken / 4_000 * delta._KEPT_ENTRIES < 16 << 20
    assert pygit2.settings.cached_memory[1] <= 16 << 20


def test_first_parents_are_the_line(repo, tmp_path):
    for number in range(3):
        repo.write("a.py", f"{number}\n")
        sha = repo.commit()
    repo.git("checkout", "-q", "-b", "side", "HEAD~2")
    repo.write("b.py")
    repo.commit()
    repo.write("c.py")
    repo.commit()
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "side")
    merge = repo.git("rev-parse", "HEAD")
    repository = opened(repo, tmp_path)
    assert [commit.sha for commit in repository.first_parents(merge)][:2] == [merge, sha]
    assert len(list(repository.first_parents(merge))) == 4


def test_first_parents_in_a_shallow_clone_end_where_it_does(repo, tmp_path):
    for number in range(4):
        repo.write("a.py", f"{number}\n")
        sha = repo.commit()
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--depth", "2", f"file://{repo.root}", ".")
    repository = opened(clone, tmp_path)
    assert len(list(repository.first_parents(sha))) == 2
    assert repository.is_shallow


def test_commit_gives_time_author_and_subject(repo, tmp_path):
    repo.write("a.py")
    sha = repo.commit("First line\n\nMore.")
    info = opened(repo, tmp_path).commit(sha)
    assert (info.sha, info.author, info.subject) == (sha, "A", "First line")
    assert info.time > 0


def test_resolve_names_commits_and_refuses_others(repo, tmp_path):
    repo.write("a.py")
    sha = repo.commit()
    repo.git("tag", "-a", "v1", "-m", "one")
    repository = opened(repo, tmp_path)
    assert repository.resolve("v1") == sha
    assert repository.resolve("main") == sha
    for ref in ("nope", "", "HEAD~9", "a..b", "x" * 500):
        with pytest.raises(NotFoundError):
            repository.resolve(ref)


def test_objects_that_are_missing_are_none(repo, tmp_path):
    repo.write("a.py", "1\n")
    repo.commit()
    repository = opened(repo, tmp_path)
    oid = repository.tree(repository.head().sha)["a.py"].oid
    assert repository.read(oid) == b"1\n"
    assert repository.size(oid) == 2
    assert repository.read("0" * 39 + "1") is None
    assert repository.size("0" * 39 + "1") is None


def test_a_partial_clone_can_be_opened(repo, tmp_path):
    repo.write("a.py", "1\n")
    repo.commit()
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--filter=blob:none", f"file://{repo.root}", ".")
    assert opened(clone, tmp_path).head().branch == "main"


def test_a_folder_without_git_is_compared_and_stays_untouched(tmp_path):
    plain = Repo(tmp_path / "plain", init=False)
    plain.write("sub/a.py", "1\n")
    plain.write("sub/.gitignore", "*.log\n")
    plain.write("sub/x.log", "1\n")
    repository = opened(plain, tmp_path)
    assert not repository.git
    assert repository.head() == Head(None, None)
    assert set(repository.status()) == {"sub/a.py", "sub/.gitignore"}
    assert [path.name for path in plain.root.iterdir()] == ["sub"]


def test_a_damaged_shadow_is_made_anew(tmp_path):
    plain = Repo(tmp_path / "plain", init=False)
    plain.write("a.py", "1\n")
    opened(plain, tmp_path)
    (tmp_path / "shadow" / "HEAD").write_bytes(b"\0\0")
    (tmp_path / "shadow" / "config").write_bytes(b"[core\n")
    assert set(opened(plain, tmp_path).status()) == {"a.py"}


def test_a_damaged_git_index_is_a_plain_message(repo, tmp_path):
    repo.write("a.py", "1\n")
    repo.commit()
    (repo.root / ".git" / "index").write_bytes(b"garbage")
    with pytest.raises(CmError, match="git cannot compare"):
        opened(repo, tmp_path).status()


def test_a_folder_below_a_removed_repository_is_plain(repo, tmp_path):
    repo.write("a.py", "1\n")
    repo.commit()
    shutil.rmtree(repo.root / ".git" / "refs")
    assert not opened(repo, tmp_path).git


@pytest.mark.parametrize("form", ["split", "sparse index", "sparse"])
def test_forms_of_the_index_that_only_git_reads(repo, tmp_path, form):
    for name in ("in/a.py", "in/b.py", "in/c.py", "out/d.py"):
        repo.write(name, f"{name}\n")
    repo.commit()
    if form == "split":
        repo.git("update-index", "--split-index")
        (repo.root / "out/d.py").unlink()
    else:
        repo.git(
            "sparse-checkout", "init", "--cone", "--sparse-index" if form == "sparse index" else "--no-sparse-index"
        )
        repo.git("sparse-checkout", "set", "in")
    repo.write("in/a.py", "changed\n")
    repo.write("in/staged é.py", "1\n")
    repo.git("add", "in/staged é.py")
    (repo.root / "in/b.py").unlink()
    repo.git("rm", "-q", "--cached", "in/c.py")
    repo.write("in/new.py", "1\n")
    Repo(repo.root / "in/nested").write("n.py", "1\n")
    assert opened(repo, tmp_path).status() == {
        "in/a.py": FileStatus.WT_MODIFIED,
        "in/staged é.py": FileStatus.INDEX_NEW,
        "in/b.py": FileStatus.WT_DELETED,
        "in/c.py": FileStatus.INDEX_DELETED | FileStatus.WT_NEW,
        "in/new.py": FileStatus.WT_NEW,
        "in/nested/": FileStatus.WT_NEW,
        "out/d.py": FileStatus.WT_DELETED,
    }


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_someone_else_is_refused_with_the_way_out(repo, tmp_path):
    repo.write("a.py", "1\n")
    os.chown(repo.root, 12345, 12345)
    with pytest.raises(RefusedError) as refused:
        find_root(repo.root)
    assert f"safe.directory {repo.root}" in refused.value.hint


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_of_another_user_are_compared_without_git_and_refused_with_it(tmp_path):
    plain = Repo(tmp_path / "plain", init=False)
    plain.write("a.py", "1\n")
    os.chown(plain.root, 12345, 12345)
    assert set(opened(plain, tmp_path).status()) == {"a.py"}
    theirs = Repo(tmp_path / "theirs")
    for path in (theirs.root, theirs.root / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(RefusedError, match="not owned"):
        opened(theirs, tmp_path)
