"""Reading the mainline: going on after a kill, taking turns, and what is not there to be read."""

from __future__ import annotations

import signal
import subprocess
from contextlib import closing

import pytest

from cm_tui.engine.code.history import backfill as room
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CancelledError, NotFoundError, UsageError
from cm_tui.model import Cancel
from tests.engine.history.conftest import compare_each_with_fresh, compare_with_fresh, read, view_of
from tests.forked import Python
from tests.gitrepo import Repo
from tests.indexing import configured, index


def grow(repo: Repo, count: int, start: int = 0) -> None:
    changes: list[tuple[str, dict[str, str | None]]] = []
    for number in range(start, start + count):
        files: dict[str, str | None] = {f"f{number % 7}.py": f"def f{number}():\n    return g{number}()\n"}
        if number % 3 == 2:
            files[f"f{(number + 3) % 7}.py"] = None
        changes.append((f"number {number}", files))
    repo.commits(changes)


def drain(view, **how):
    return list(view.backfill(depth=how.get("depth"), since=how.get("since"), cancel=how.get("cancel", Cancel())))


def test_depth_and_since_and_going_on(repo, db, tmp_path):
    grow(repo, 12)
    view = read(db, repo.root, depth=4)
    assert (view.report.status().known, view.report.status().complete) == (4, False)
    assert "4 of 12 commits" in view.report.status().text
    assert not view.revisions.resolve("#8").known
    with pytest.raises(NotFoundError, match="known back to"):
        view.snapshots.require("#8")
    compare_with_fresh(db, repo.root, 9, tmp_path / "a")
    drain(view, since="#6")
    assert view.report.status().known == 7
    drain(view, depth=2)
    assert view.report.status().known == 7
    steps = drain(view)
    assert steps[-1].done == steps[-1].total == 12
    assert view.report.status().complete
    compare_with_fresh(db, repo.root, 3, tmp_path / "b")
    for bad in ({"depth": 0}, {"depth": 1, "since": "HEAD"}):
        with pytest.raises(UsageError):
            drain(view, **bad)


def test_a_reading_has_one_total_wherever_it_is_shown(repo, db):
    grow(repo, 12)
    view = read(db, repo.root, depth=2)
    steps = view.backfill(depth=5, since=None, cancel=Cancel())
    first, status = next(steps), view.report.status()
    assert (first.done, first.total) == (status.known, status.wanted) == (2, 5)
    assert first.message == "2 of 5 commits read"
    steps.close()
    assert view.report.status().wanted == 0


def test_each_content_is_parsed_once(repo, db):
    grow(repo, 6)
    for _ in range(3):
        repo.git("revert", "--no-edit", "HEAD")
        repo.git("revert", "--no-edit", "HEAD")
    read(db, repo.root)
    twice = "SELECT count(*) FROM (SELECT oid, language FROM blob GROUP BY ALL HAVING count(*) > 1)"
    assert db.value(twice) == 0
    before = db.value("SELECT count(*) FROM blob")
    index(db, repo.root, full=True)
    assert db.value(twice) == 0
    assert db.value("SELECT count(*) FROM blob") == before


def test_what_the_store_holds_is_read_once_not_before_each_batch(repo, db, monkeypatch):
    monkeypatch.setattr(room, "_BATCH_COMMITS", 2)
    grow(repo, 12)
    index(db, repo.root)
    asked: list[str] = []
    rows = db.rows
    monkeypatch.setattr(db, "rows", lambda sql, *more: (asked.append(sql), rows(sql, *more))[1])
    reading = room.Backfill(db, Repository(repo.root, db.folder / "shadow"), configured(), 1)

    def times() -> int:
        return sum(sql.startswith("SELECT oid, language, id FROM blob") for sql in asked)

    steps = reading.steps(Cancel())
    with closing(steps):
        for _ in range(4):
            next(steps)
        assert times() == 1
        # What another run has added or dropped is noticed.
        db.execute("INSERT INTO blob SELECT * REPLACE (id + 1000 AS id, 'gone' AS oid) FROM blob LIMIT 1")
        next(steps)
        assert times() == 2
        db.execute("DELETE FROM blob WHERE oid = 'gone'")
        next(steps)
        assert times() == 3


def test_a_branch_switch_replays_only_what_differs(repo, db, tmp_path, monkeypatch):
    grow(repo, 20)
    repo.git("checkout", "-q", "-b", "side", "HEAD~3")
    grow(repo, 2, start=50)
    repo.git("checkout", "-q", "main")
    view = read(db, repo.root)
    seen: list[tuple[int, int]] = []
    changes = room.Backfill._changes
    monkeypatch.setattr(room.Backfill, "_changes", lambda self, a, b: (seen.append((a, b)), changes(self, a, b))[1])
    repo.git("checkout", "-q", "side")
    index(db, repo.root)
    assert coverage.load(db).to_ord == 17
    assert view_of(db, repo.root).report.status().known == 17
    drain(view_of(db, repo.root))
    assert seen == [(17, 18), (18, 19)]
    assert view.report.status().complete
    compare_each_with_fresh(db, repo.root, (19, 18, 10), tmp_path)


@pytest.mark.parametrize("depth", [None, 2])
def test_a_branch_and_back_parses_nothing_again(repo, db, depth):
    grow(repo, 12)
    read(db, repo.root, depth=depth)
    for fresh in (True, False):
        repo.git("checkout", "-q", "--detach", "main~4")
        went = index(db, repo.root).blobs
        drain(view_of(db, repo.root), depth=depth)
        repo.git("checkout", "-q", "main")
        assert index(db, repo.root).blobs == 0
        drain(view_of(db, repo.root), depth=depth)
        assert went == 0 or (fresh and depth)
    view_of(db, repo.root).prune(before=None, older_than=None, everything=True, dry_run=False)
    index(db, repo.root)
    assert db.value("SELECT count(*) FROM blob") == db.value("SELECT count(DISTINCT blob) FROM head_file")


def test_cancelling_keeps_what_was_read(repo, db, monkeypatch):
    monkeypatch.setattr(room, "_BATCH_COMMITS", 2)
    grow(repo, 12)
    index(db, repo.root)
    view, cancel = view_of(db, repo.root), Cancel()

    def stop_soon() -> None:
        for step in view.backfill(depth=None, since=None, cancel=cancel):
            if step.done >= 5:
                cancel.set()

    with pytest.raises(CancelledError):
        stop_soon()
    known = view.report.status().known
    assert 5 <= known < 12
    assert not view.report.status().running
    drain(view)
    assert view.report.status().complete


KILLED = """
import sys, time
from pathlib import Path
from cm_tui.engine.code.history import backfill
from cm_tui.engine.platform.store.database import Database
from tests.engine.history.conftest import view_of
from cm_tui.model import Cancel
backfill._BATCH_COMMITS = 3
with_db = Database(Path(sys.argv[1]))
store = backfill.Backfill._store
def slow(self, *args):
    known = store(self, *args)
    print(known.from_ord, flush=True)
    time.sleep(0.05)
    return known
backfill.Backfill._store = slow
for step in view_of(with_db, Path(sys.argv[2])).backfill(depth=None, since=None, cancel=Cancel()):
    pass
"""


@pytest.mark.parametrize("batches", [1, pytest.param(3, marks=pytest.mark.deep), 5])
def test_kill_9_costs_a_batch_at_most(repo, tmp_path, batches):
    grow(repo, 30)
    store = tmp_path / "store"
    with closing(Database(store)) as db:
        index(db, repo.root)
    process = Python(KILLED, str(store), str(repo.root))
    reached = int(process.lines(batches)[batches - 1])
    assert process.kill().returncode == -signal.SIGKILL
    with closing(Database(store)) as db:
        view = view_of(db, repo.root)
        assert 1 <= coverage.load(db).from_ord <= reached
        compare_with_fresh(db, repo.root, 30, tmp_path / "a")
        index(db, repo.root)
        drain(view)
        assert view.report.status().complete
        compare_each_with_fresh(db, repo.root, (1, 14, 29), tmp_path / "b")


def test_a_commit_made_while_history_is_read_is_read_too(repo, db, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_BATCH_COMMITS", 2)
    grow(repo, 10)
    index(db, repo.root)
    view = view_of(db, repo.root)
    steps = view.backfill(depth=None, since=None, cancel=Cancel())
    for step in steps:
        if step.done >= 4:
            break
    grow(repo, 2, start=30)
    index(db, repo.root)
    for _ in steps:
        pass
    assert view.report.status().complete
    assert view.report.status().length == 12
    compare_each_with_fresh(db, repo.root, (2, 11), tmp_path)


def test_submodules_and_links_are_no_files(repo, db, tmp_path):
    other = Repo(tmp_path / "other")
    other.write("m.py", "def m():\n    return 1\n")
    other.commit("module")
    repo.write("a.py", "x = 1\n")
    repo.commit("one")
    repo.git("submodule", "add", "-q", str(other.root), "sub")
    (repo.root / "link.py").symlink_to("a.py")
    repo.commit("module and link")
    repo.git("rm", "-q", "-f", "sub")
    repo.commit("away")
    view = read(db, repo.root)
    assert {file.path for file in view.files("#2", "").rows} == {"a.py", ".gitmodules"}


def test_other_rules_read_the_past_again(repo, db, tmp_path):
    grow(repo, 5)
    read(db, repo.root)
    other = configured(exclude=("f1.py",))
    index(db, repo.root, other)
    assert coverage.load(db).to_ord == 0
    read(db, repo.root, other)
    compare_each_with_fresh(db, repo.root, (2, 4), tmp_path, other)


def made_tree(repo: Repo, *entries: str) -> str:
    """A tree that git makes of lines such as `ls-tree` writes them."""
    done = subprocess.run(
        ["git", "mktree"], cwd=repo.root, input="\n".join(entries), text=True, capture_output=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("count", [20_000, pytest.param(100_000, marks=pytest.mark.deep)])
def test_a_tree_of_very_many_entries(repo, db, count):
    repo.write("x", "")
    entry = f"100644 blob {repo.git('hash-object', '-w', 'x')}\tempty"
    many = made_tree(repo, *(f"{entry}{number:06}.bin" for number in range(count)))
    sha = ""
    for tree in (made_tree(repo), many, made_tree(repo, f"{entry}.py")):
        sha = repo.git("commit-tree", tree, "-m", "tree", *(["-p", sha] if sha else []))
    repo.git("update-ref", "refs/heads/main", sha)
    repo.git("reset", "-q", "--hard")
    view = read(db, repo.root)
    assert view.report.status().complete
    assert [file.path for file in view.files("#3", "").rows] == ["empty.py"]
    assert view.files("#2", "").total == 0
