"""Repositories that lie, break or change under our hands: a clear message, the known part answers, nothing wrong is kept."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model import Cancel
from tests.engine.history.conftest import compare_with_fresh, read, view_of
from tests.gitrepo import Repo
from tests.indexing import index


def grow(repo: Repo, count: int) -> list[str]:
    made = []
    for number in range(count):
        repo.write(f"f{number % 3}.py", f"def f{number}():\n    return g{number}()\n")
        made.append(repo.commit(f"number {number}"))
    return made


NAMES = (
    "@{-1}", "@{-99999999999999999999}", "HEAD:../..", "HEAD:../../etc/passwd", "HEAD:", "HEAD^{tree}", "HEAD^{blob}",
    "HEAD~99999999999999999999", "HEAD^99999999999", "HEAD@{5000}", "refs/../../../etc/passwd", "../HEAD", "a b", "*", "@{",
    "HEAD^{commit", "$(touch pwned)", "`touch pwned`", "; touch pwned", "'", '"', "%00", "é" * 400, "#99999999999", "#-1",
    "0000000000000000000000000000000000000000", "9999-99-99", "10000-01-01", "2024-02-30T25:61",
)  # fmt: skip


def hint_of(ask: Callable[[str], object], ref: str) -> str:
    """What is said to whoever asks for what is no revision; nothing where it is answered."""
    try:
        ask(ref)
    except (NotFoundError, UsageError) as error:
        return error.hint
    except Exception as error:
        error.add_note(f"asked for {ref!r}")
        raise
    return ""


def test_names_that_mean_nothing_or_harm(repo, db):
    grow(repo, 2)
    view = read(db, repo.root)
    for ref in NAMES:
        assert hint_of(view.revisions.resolve, ref), ref
        assert hint_of(lambda name: view.files(name, ""), ref), ref
        assert hint_of(lambda name: view.changes(name, "HEAD", 9), ref), ref
        assert not list(repo.root.parent.rglob("pwned")), ref
        assert view.files("HEAD", "").total == 2, ref


def test_a_name_that_is_branch_and_tag_is_what_git_takes_it_for(repo, db):
    made = grow(repo, 3)
    repo.git("branch", "twice", made[0])
    repo.git("tag", "twice", made[1])
    view = read(db, repo.root)
    assert view.revisions.resolve("twice").sha == repo.git("rev-parse", "twice") == made[1]
    assert view.revisions.resolve("heads/twice").sha == made[0]


def test_the_branch_before_this_one(repo, db):
    made = grow(repo, 2)
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.git("checkout", "-q", "main")
    view = read(db, repo.root)
    assert view.revisions.resolve("@{-1}").sha == made[0]


def object_file(repo: Repo, oid: str) -> Path:
    file = repo.root / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    return file


@pytest.mark.parametrize("damage", [b"", b"no zlib at all", b"x\x9c\x4b\xca\xc9"], ids=["empty", "garbage", "cut"])
@pytest.mark.few(2)
@pytest.mark.parametrize("what", ["HEAD~3^{tree}", "HEAD~3:f1.py", "HEAD~3"], ids=["tree", "blob", "commit"])
def test_damaged_objects(repo, db, tmp_path, damage, what):
    grow(repo, 8)
    lost = repo.git("rev-parse", what)
    object_file(repo, lost).write_bytes(damage)
    view = read(db, repo.root)
    status = view.report.status()
    assert status.head.ordinal == status.length
    for ordinal in range(status.length - status.known + 1, status.length + 1):
        files = {file.path for file in view.files(f"#{ordinal}", "").rows}
        assert {"f0.py", "f2.py"} <= files or ordinal < 3
    compare_with_fresh(db, repo.root, status.length, tmp_path / "head")
    if what == "HEAD~3":
        assert status.length == 3
        for name in ("HEAD~3", "HEAD~5", "HEAD^^^", lost, lost[:9]):
            with pytest.raises(NotFoundError):
                view.revisions.resolve(name)
        assert view.revisions.resolve("HEAD~2").moment.ordinal == 1
        assert any("The mainline ends at #1" in note and lost[:10] in note for note in status.notes)
        assert "where this clone ends, 3 of 3 commits" in status.text
        assert "backfill" not in view.report.hint()
    elif what.endswith("{tree}"):
        assert (status.known, status.complete) == (3, False)
        assert any("cannot be read" in note for note in status.notes)
        with pytest.raises(NotFoundError):
            view.files("#5", "")
    else:
        assert (status.known, status.missing, status.complete) == (8, 1, False)
        assert any("not in this clone" in note for note in status.notes)


def test_head_itself_cut_off_is_said(repo, db):
    grow(repo, 3)
    object_file(repo, repo.git("rev-parse", "HEAD")).write_bytes(b"x\x9c\x4b\xca\xc9")
    with pytest.raises(CmError, match="cannot be listed"):
        index(db, repo.root)


def test_head_itself_written_by_another_tool_is_indexed_and_followed(repo, db, tmp_path):
    grow(repo, 3)
    repo.write("f0.py", "def late():\n    return 1\n")
    repo.git("add", "-A")
    tree, head = repo.git("write-tree"), repo.git("rev-parse", "HEAD")
    raw = f"tree {tree}\nparent {head}\nauthor nobody\ncommitter nobody\n\nodd\n".encode()
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=repo.root, input=raw, capture_output=True, check=True,
    )  # fmt: skip
    repo.git("update-ref", "refs/heads/main", done.stdout.decode().strip())
    repo.write("f9.py", "x = 1\n")
    view = read(db, repo.root)
    assert view.report.status().complete
    assert db.rows("SELECT path FROM worktree") == [("f9.py",)]
    for name in ("HEAD", "main", "@", done.stdout.decode().strip(), "HEAD~0"):
        assert view.revisions.resolve(name).moment.subject == "odd"
    assert view.revisions.resolve("HEAD~1").sha == head
    assert view.revisions.resolve("HEAD^").sha == head


@pytest.mark.parametrize("what", ["HEAD~3", "HEAD~3^{tree}"], ids=["commit", "tree"])
def test_what_was_lost_and_comes_back_is_read_by_itself(repo, db, tmp_path, what):
    grow(repo, 8)
    file = object_file(repo, repo.git("rev-parse", what))
    whole = file.read_bytes()
    file.write_bytes(b"damaged")
    view = read(db, repo.root)
    assert not view.report.status().complete
    assert view.goal() is None
    file.write_bytes(whole)
    assert view.goal() == 1
    for _ in view.catch_up(Cancel()):
        pass
    status = view.report.status()
    assert (status.length, status.known, status.complete, status.notes) == (8, 8, True, ())
    compare_with_fresh(db, repo.root, 2, tmp_path / "fresh")


def test_a_line_that_lost_its_middle_after_it_was_read_still_answers(repo, db, tmp_path):
    grow(repo, 8)
    read(db, repo.root)
    compare_with_fresh(db, repo.root, 2, tmp_path / "before")
    for what in ("HEAD~3", "HEAD"):
        object_file(repo, repo.git("rev-parse", what)).unlink()
        view = view_of(db, repo.root)
        assert (view.report.status().length, view.report.status().known) == (8, 8)
        assert {file.path for file in view.files("#2", "").rows} == {"f0.py", "f1.py"}


STRANGE = {
    "negative": b"A <a@b> -1000 +0000",
    "before the year 1": b"A <a@b> -99999999999999 +0000",
    "after the year 9999": b"A <a@b> 999999999999 +0000",
    "beyond all numbers": b"A <a@b> 99999999999999999999999 +0000",
    "zone that is none": b"A <a@b> 1700000000 +9999",
    "zone of words": b"A <a@b> 1700000000 noon",
    "no time": b"A <a@b>",
    "no name": b"<> 1700000000 -2500",
    "no address": b"nobody at all",
    "half an address": b"A <a@b 1700000000 +0000",
    "nothing": b"",
    "odd bytes": b"\xff\xfe\x1b[31m <a@b> 1700000000 +0000",
}


@pytest.mark.few(5)
@pytest.mark.parametrize("who", STRANGE.values(), ids=STRANGE)
def test_commits_with_strange_dates_and_authors(repo, db, tmp_path, who):
    first = grow(repo, 1)[0]
    repo.write("f0.py", "def late():\n    return 1\n")
    repo.git("add", "-A")
    tree = repo.git("write-tree")
    raw = b"tree %b\nparent %b\nauthor %b\ncommitter %b\n\nstrange\n" % (tree.encode(), first.encode(), who, who)
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=repo.root, input=raw, capture_output=True, check=True,
    )  # fmt: skip
    repo.git("update-ref", "refs/heads/main", done.stdout.decode().strip())
    repo.write("f1.py", "def after():\n    return 2\n")
    repo.commit("after")
    view = read(db, repo.root)
    assert view.report.status().complete
    assert [moment.ordinal for moment in view.commits.mainline("", None, 9).rows] == [3, 2, 1]
    assert view.commits.mainline("strange", None, 9).rows[0].subject == "strange"
    assert {symbol.name for symbol in view.graph_at(2).symbols().rows} == {"late"}
    assert view.symbol_histories("late", 9, callers=False).rows[0].first_seen.ordinal == 2
    view.revisions.resolve("2020-01-01")
    assert view.revisions.resolve("HEAD~1").sha == view.revisions.resolve(done.stdout.decode().strip()).sha
    view.prune(before=None, older_than="30d", everything=False, dry_run=True)
