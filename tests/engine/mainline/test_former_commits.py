"""Commits that leave the mainline and come back: known by what they are, within a bound."""

from __future__ import annotations

import pytest

from cm_tui.engine.code.mainline import coverage, former_commits
from cm_tui.engine.platform.git.commits import Commits
from cm_tui.model import Cancel
from tests.engine.history.conftest import compare_each_with_fresh, view_of
from tests.engine.history.test_backfill import grow
from tests.engine.history.test_missing_blobs import Lost
from tests.gitrepo import Repo
from tests.indexing import configured, index


@pytest.fixture
def branched(repo: Repo) -> Repo:
    """30 commits on main; `side` left it at #10 and has 20 of its own."""
    grow(repo, 30)
    repo.git("checkout", "-q", "-b", "side", "HEAD~20")
    grow(repo, 20, start=100)
    repo.git("checkout", "-q", "main")
    return repo


def switch(db, repo: Repo, *words: str, config=None) -> int:
    """Check a branch out, index it and read its history; return how many commits were compared with their parents."""
    repo.git("checkout", "-q", *words)
    index(db, repo.root, config)
    view = view_of(db, repo.root, config)
    for _ in view.backfill(depth=None, since=None, cancel=Cancel()):
        pass
    assert view.report.status().complete
    return view.compared


def check(db, repo: Repo, folder, *ordinals: int) -> None:
    compare_each_with_fresh(db, repo.root, ordinals, folder / "at")


@pytest.mark.deep
def test_a_switch_and_back_reads_no_commit_twice(branched, db, tmp_path, monkeypatch):
    read: list[str] = []
    get = Commits.get
    monkeypatch.setattr(Commits, "get", lambda self, sha: (read.append(sha), get(self, sha))[1])
    # Without a remote the project's first commit would be looked for, which reads commits as well.
    branched.git("remote", "add", "origin", "https://example.org/some/project.git")
    # HEAD's own tree begins it.
    assert switch(db, branched, "main") == 30
    assert switch(db, branched, "side") == 20
    fork = branched.git("rev-parse", "main~20")
    for there in ("main", "side", "main"):
        read.clear()
        assert switch(db, branched, there) == 0
        assert set(read) <= {branched.git("rev-parse", "HEAD"), fork, branched.git("rev-parse", "main~29")}
    check(db, branched, tmp_path / "main", 1, 10, 11, 29, 30)
    switch(db, branched, "side")
    check(db, branched, tmp_path / "side", 10, 11, 25, 30)


def test_only_what_is_new_is_read(branched, db, tmp_path):
    switch(db, branched, "main")
    switch(db, branched, "side")
    branched.git("checkout", "-q", "main")
    grow(branched, 3, start=300)
    assert switch(db, branched, "main") == 3
    assert switch(db, branched, "-b", "third", "main~5") == 0
    grow(branched, 2, start=400)
    assert switch(db, branched, "third") == 2
    assert switch(db, branched, "main") == 0
    check(db, branched, tmp_path, 9, 28, 30, 33)


def test_what_was_known_in_part_stays_known_in_part(branched, db, tmp_path):
    index(db, branched.root)
    for _ in view_of(db, branched.root).backfill(depth=8, since=None, cancel=Cancel()):
        pass
    # The fork lies below what is known: all spans go, and the newest commit's tree begins them again.
    assert switch(db, branched, "side") == 30
    assert switch(db, branched, "main") == 13
    check(db, branched, tmp_path, 5, 15, 24, 30)


def test_a_bound_on_what_is_kept(branched, db, tmp_path, monkeypatch):
    switch(db, branched, "main")
    monkeypatch.setattr(former_commits, "_MOST", 12)
    switch(db, branched, "side")
    kept = "SELECT (SELECT count(*) FROM former_commit) + (SELECT count(*) FROM former_change)"
    assert 0 < db.value(kept) <= 12
    read = switch(db, branched, "main")
    assert 10 < read < 20
    assert db.value(kept) <= 12
    check(db, branched, tmp_path, 11, 20, 30)


def test_other_rules_forget_it(branched, db):
    switch(db, branched, "main")
    switch(db, branched, "side")
    config = configured(exclude=["f3.py"])
    assert switch(db, branched, "main", config=config) == 30
    assert not db.value("SELECT count(*) FROM former_change")
    assert not db.value("SELECT count(*) FROM file_span WHERE path = 'f3.py'")


def test_pruning_forgets_it(branched, db):
    switch(db, branched, "main")
    switch(db, branched, "side")
    view = view_of(db, branched.root)
    view.prune(before="#5", older_than=None, everything=False, dry_run=False)
    assert not db.value("SELECT count(*) FROM former_commit")
    assert coverage.load(db).from_ord == 5
    view.prune(before=None, older_than=None, everything=True, dry_run=False)
    assert db.value("SELECT count(*) FROM blob") == db.value("SELECT count(DISTINCT blob) FROM head_file")


def test_a_file_whose_content_was_missing_is_looked_at_again(branched, db, tmp_path):
    branched.write("lost.py", "def lost():\n    return 1\n")
    branched.commit("lost")
    branched.write("lost.py", "def lost():\n    return 2\n")
    branched.commit("found")
    gone = Lost(branched, "lost.py", "HEAD~1")
    index(db, branched.root)
    for _ in view_of(db, branched.root).backfill(depth=None, since=None, cancel=Cancel()):
        pass
    assert view_of(db, branched.root).report.status().missing == 1
    switch(db, branched, "side")
    gone.put_back()
    assert switch(db, branched, "main") == 2
    check(db, branched, tmp_path, 30, 31, 32)


def test_a_full_run_between(branched, db, tmp_path):
    switch(db, branched, "main")
    switch(db, branched, "side")
    index(db, branched.root, full=True)
    twice = "SELECT count(*) FROM (SELECT oid, language FROM blob GROUP BY ALL HAVING count(*) > 1)"
    assert db.value(twice) == 0
    assert switch(db, branched, "main") == 0
    check(db, branched, tmp_path, 12, 30)
