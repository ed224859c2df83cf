"""Names of revisions: what they mean, and what is refused."""

from __future__ import annotations

import os
import subprocess

import pytest

from cm_tui.errors import NotFoundError, NotIndexedError, UsageError
from cm_tui.model import Cancel
from tests.engine.history.conftest import compare_each_with_fresh, compare_with_fresh, read, view_of
from tests.gitrepo import Repo
from tests.indexing import index


def commits(repo: Repo, count: int) -> list[str]:
    return repo.commits(
        (f"Change number {number}", {"a.py": f"def f{number}():\n    return {number}\n"}) for number in range(count)
    )


def dated(repo: Repo, when: str, subject: str = "dated") -> None:
    """A commit made at a time that git takes as it is."""
    repo.git("add", "-A")
    tree = repo.git("write-tree")
    parents = ["-p", "HEAD"] if (repo.root / ".git/refs/heads/main").exists() else []
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit-tree", tree, *parents, "-m", subject],
        cwd=repo.root, check=True, capture_output=True, text=True,
        env={"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "PATH": "/usr/bin:/bin:/usr/local/bin"},
    )  # fmt: skip
    repo.git("update-ref", "refs/heads/main", done.stdout.strip())


def test_the_line_is_paged_newest_first_and_searched(repo, db):
    made = commits(repo, 7)
    index(db, repo.root)
    mainline = view_of(db, repo.root).commits.mainline
    first = mainline("", None, 3)
    assert [commit.ordinal for commit in first.rows] == [7, 6, 5]
    assert first.total == 7
    assert [commit.sha for commit in mainline("", 5, 10).rows] == made[:4][::-1]
    assert [commit.ordinal for commit in mainline("number 3", None, 10).rows] == [4]
    assert [commit.ordinal for commit in mainline(made[2][:12], None, 10).rows] == [3]
    assert mainline("change a", None, 2).total == 7
    assert mainline("'; DROP TABLE line_commit; --", None, 2).rows == ()
    assert mainline("", None, 0).rows == ()


def test_names_on_the_line(repo, db):
    made = commits(repo, 4)
    repo.git("tag", "-a", "v1", "HEAD~2", "-m", "one")
    index(db, repo.root)
    revisions = view_of(db, repo.root).revisions
    for name, ordinal in (
        ("HEAD", 4),
        ("main", 4),
        ("HEAD~1", 3),
        ("v1", 2),
        (made[0], 1),
        (made[0][:10], 1),
        ("#3", 3),
    ):
        place = revisions.resolve(name)
        assert (place.moment.ordinal, place.exact, place.asked) == (ordinal, True, name)
        assert place.sha == made[ordinal - 1]


def test_a_commit_off_the_line_is_itself_and_says_where_it_lies(repo, db):
    commits(repo, 3)
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.write("side.py", "s = 1\n")
    repo.commit("on the side")
    side = repo.commit("more of it")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "--no-edit", "side")
    index(db, repo.root)
    place = view_of(db, repo.root).revisions.resolve("side")
    assert (place.moment.sha, place.exact, place.sha, place.known) == (side, True, side, False)
    assert (place.moment.ordinal, place.moment.ahead, place.moment.subject) == (2, 2, "more of it")
    assert place.moment.place == "off the mainline, 2 commits after #2"
    assert place.said.startswith(f"side ({side[:10]}, ")
    assert view_of(db, repo.root).revisions.resolve("HEAD").moment.ordinal == 4


def test_the_nearest_ancestor_is_the_highest_of_all_ways(repo, db):
    commits(repo, 5)
    repo.git("checkout", "-q", "-b", "old", "HEAD~4")
    repo.commit("from the first")
    repo.git("checkout", "-q", "-b", "young", "main~1")
    repo.commit("from the fourth")
    repo.git("merge", "-q", "--no-ff", "--no-edit", "old")
    repo.git("checkout", "-q", "main")
    index(db, repo.root)
    assert view_of(db, repo.root).revisions.resolve("young").moment.ordinal == 4


def test_unrelated_history_has_no_place_on_the_line(repo, db):
    commits(repo, 2)
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("elsewhere")
    repo.git("checkout", "-q", "main")
    index(db, repo.root)
    view = view_of(db, repo.root)
    assert view.revisions.resolve("other").moment.place == "off the mainline, with no ancestor on it"
    for ask in (lambda: list(view.backfill(depth=None, since="other", cancel=Cancel())), lambda: prune(view, "other")):
        with pytest.raises(NotFoundError, match="shares no commit"):
            ask()


def prune(view, before):
    return view.prune(before=before, older_than=None, everything=False, dry_run=True)


ODD = (
    "", "  ", "--upload-pack=touch /tmp/x", "-x", ":/Change", ":a.py", "HEAD^{/Change}", "a\0b", "a\nb", "x" * 2000,
    "\udcff", "\u202ex",
)  # fmt: skip
UNKNOWN = ("nope", "HEAD~9", "a..b", "../x", "#0", "#9", "f" * 40, "HEAD:a.py", "@{u}")


def test_odd_names_are_refused_and_unknown_ones_not_found(repo, db):
    commits(repo, 1)
    index(db, repo.root)
    resolve = view_of(db, repo.root).revisions.resolve
    for error, names in ((UsageError, ODD), (NotFoundError, UNKNOWN)):
        for name in names:
            with pytest.raises(error):
                resolve(name)
    with pytest.raises(UsageError, match="too short"):
        resolve("ab")


def test_dates_mean_the_state_before_them(repo, db):
    for day in ("2020-01-01", "2021-06-15", "2023-03-03"):
        repo.write("a.py", f"x = '{day}'\n")
        dated(repo, f"{day}T12:00:00+0000")
    repo.git("reset", "-q", "--hard")
    index(db, repo.root)
    revisions = view_of(db, repo.root).revisions
    for text, ordinal in (("2021-06-15", 1), ("2021-06-16", 2), ("2021-06-15T13:00", 2), ("2030-01-01", 3)):
        assert revisions.resolve(text).moment.ordinal == ordinal
    before_all = revisions.resolve("2019-01-01")
    assert (before_all.sha, before_all.exact, before_all.moment.ordinal) == ("", False, 1)
    assert "no commit before" in before_all.note
    view = read(db, repo.root)
    with pytest.raises(NotFoundError, match="Nothing existed yet"):
        view.files("2019-01-01", "")
    with pytest.raises(UsageError, match="not a date"):
        revisions.resolve("2021-99-99")


def test_absurd_times_do_not_decide_on_dates(repo, db):
    for number, when in enumerate(
        ("@1577880000 +0000", "@99999999999 +0000", "@1609502400 +0000", "@1641038400 +0000")
    ):
        repo.write("a.py", f"x = {number}\n")
        dated(repo, when)
    old = repo.git("rev-parse", "HEAD")
    tree = repo.git("rev-parse", "HEAD^{tree}")
    text = f"tree {tree}\nparent {old}\nauthor A <a@x> -6000000000 +0000\ncommitter A <a@x> -6000000000 +0000\n\nlong ago\n"
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
        cwd=repo.root, input=text.encode(), check=True, capture_output=True,
    ).stdout.decode().strip()  # fmt: skip
    repo.git("update-ref", "refs/heads/main", made)
    repo.git("reset", "-q", "--hard")
    index(db, repo.root)
    revisions = view_of(db, repo.root).revisions
    for text, ordinal in (("2021-01-01", 2), ("2021-06-01", 3), ("2030-01-01", 5)):
        assert revisions.resolve(text).moment.ordinal == ordinal
    for day in ("1700-01-01", "1800-01-01", "1960-01-01"):
        assert revisions.resolve(day).sha == ""


def test_no_git(tmp_path, db):
    folder = Repo(tmp_path / "plain", init=False)
    folder.write("a.py", "x = 1\n")
    view = read(db, folder.root)
    assert view.commits.mainline("", None, 9).rows == ()
    assert "no git" in view.report.status().text
    with pytest.raises(UsageError, match="no git"):
        view.revisions.resolve("HEAD")


def test_before_the_first_commit(repo, db):
    repo.write("a.py", "x = 1\n")
    view = read(db, repo.root)
    assert view.report.status().text == "no history: no commits yet"
    with pytest.raises(NotFoundError):
        view.revisions.resolve("HEAD")
    repo.commit("now there is one")
    assert read(db, repo.root).report.status().complete


def test_not_indexed(repo, db):
    repo.commit("one")
    with pytest.raises(NotIndexedError):
        view_of(db, repo.root).revisions.resolve("HEAD")


def test_a_detached_head_has_a_line(repo, db, tmp_path):
    commits(repo, 4)
    repo.git("checkout", "-q", "--detach", "HEAD~1")
    view = read(db, repo.root)
    assert view.report.status().length == 3
    compare_with_fresh(db, repo.root, 2, tmp_path / "fresh")


def test_a_shallow_clone_says_so_and_grows_when_it_is_deepened(repo, db, tmp_path):
    commits(repo, 6)
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--depth", "3", f"file://{repo.root}", ".")
    view = read(db, clone.root)
    status = view.report.status()
    assert (status.length, status.known, status.complete) == (3, 3, False)
    assert any("shallow" in note for note in status.notes)
    clone.git("fetch", "-q", "--deepen", "2")
    view = read(db, clone.root)
    assert (view.report.status().length, view.report.status().known) == (5, 5)
    compare_with_fresh(db, clone.root, 4, tmp_path / "fresh4")
    clone.git("fetch", "-q", "--unshallow")
    view = read(db, clone.root)
    assert view.report.status().complete
    assert view.report.status().length == 6
    compare_each_with_fresh(db, clone.root, (5, 1), tmp_path)


def test_a_line_cut_off_above_all_that_was_known_is_read_anew(repo, db, tmp_path):
    commits(repo, 4)
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", f"file://{repo.root}", ".")
    read(db, clone.root)
    commits(repo, 9)
    clone.git("pull", "-q")
    index(db, clone.root)
    clone.git("fetch", "-q", "--depth", "3")
    index(db, clone.root)
    assert (view_of(db, clone.root).report.status().known, db.value("SELECT count(*) FROM file_span")) == (0, 0)
    assert read(db, clone.root).report.status().known == 3


def test_a_deepened_clone_is_noticed_by_whoever_has_it_open(repo, db, tmp_path):
    made = commits(repo, 9)
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--depth", "3", f"file://{repo.root}", ".")
    view = read(db, clone.root)
    with pytest.raises(NotFoundError):
        view.revisions.resolve("HEAD~4")
    clone.git("fetch", "-q", "--deepen", "3")
    assert view.revisions.resolve("HEAD~4").sha == made[-5]
    status = view.report.status()
    assert (status.length, status.known) == (6, 3)
    assert view.goal() == 1
    clone.git("fetch", "-q", "--unshallow")
    for _ in view.backfill(depth=None, since=None, cancel=Cancel()):
        pass
    assert (view.report.status().length, view.report.status().complete) == (9, True)
    assert not any("shallow" in note for note in view.report.status().notes)
    compare_with_fresh(db, clone.root, 2, tmp_path / "fresh")


def test_a_date_is_found_by_its_beginning(repo, db):
    for when in ("2012-02-29", "2012-03-01", "2012-03-31", "2012-10-05", "2013-01-01"):
        repo.write("a.py", when)
        repo.git("add", "-A")
        env = {**os.environ, "GIT_COMMITTER_DATE": f"{when}T12:00:00Z", "GIT_AUTHOR_DATE": f"{when}T12:00:00Z"}
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, "commit", "-qm", "change"], cwd=repo.root, env=env, check=True)
    index(db, repo.root)
    mainline = view_of(db, repo.root).commits.mainline

    def found(word: str) -> list[int]:
        return [row.ordinal for row in mainline(word, None, 9).rows]

    for word, ordinals in {
        "2012": [4, 3, 2, 1], "2012-": [4, 3, 2, 1], "2012-0": [3, 2, 1], "2012-1": [4], "2012-03": [3, 2], "2012-03-": [3, 2],
        "2012-03-0": [2], "2012-03-3": [3], "2012-02-29": [1], "2012-02-30": [], "2012-13": [], "2012-2": [], "0000": [],
        "2012-03-1": [], "9999-12-31": [], "201": [],
    }.items():  # fmt: skip
        assert found(word) == ordinals, word
    page = mainline("2012 change", 4, 2)
    assert ([row.ordinal for row in page.rows], page.total) == ([3, 2], 4)
    assert (mainline("change", None, 0).rows, mainline("", 3, 1).rows[0].ordinal) == ((), 2)
