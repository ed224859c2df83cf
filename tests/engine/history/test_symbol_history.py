"""Histories of symbols, changes, drift and pruning on a small history that is told step by step."""

from __future__ import annotations

from contextlib import closing

import pytest

from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Cancel, SymbolKey
from tests.engine.history.conftest import read, view_of
from tests.gitrepo import Repo
from tests.indexing import configured, index

F = "def f(a):\n    return g(a)\n"
G = "\n\ndef g(a):\n    return a\n"


STORY = (
    ("come", {"a.py": F + G}),
    ("change", {"a.py": F.replace("g(a)", "g(a) + 1") + G}),
    ("unrelated", {"b.py": "from a import f\n\n\ndef user():\n    return f(1)\n"}),
    ("signature", {"a.py": F.replace("(a):", "(a, b=2):") + G}),
    ("leave", {"a.py": G, "b.py": None}),
    ("return", {"a.py": F + G}),
    ("move", {"a.py": G, "pkg/c.py": "import os\n\n\n" + F}),
    ("end", {"a.py": G + "\n\ndef h():\n    return 1\n"}),
)
"""`f` comes, changes, changes its signature, leaves, returns and moves; `g` stays."""


@pytest.fixture
def story(repo):
    repo.commits(STORY)
    return repo


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The story as it is once all of it was read, for tests that only ask."""
    folder = tmp_path_factory.mktemp("story")
    repo = Repo(folder / "app")
    repo.commits(STORY)
    with closing(Database(folder / "store")) as db:
        yield read(db, repo.root)


def test_a_life_is_told_whole(whole):
    page = whole.symbol_histories("f", 20, callers=False)
    assert page.total == 1
    history = page.rows[0]
    assert history.key == SymbolKey("pkg/c.py", "f", "function", 0)
    assert history.alive
    told = [(event.what, event.moment.ordinal, event.path) for event in history.events]
    assert told == [
        ("came", 1, "a.py"), ("changed", 2, "a.py"), ("signature", 4, "a.py"), ("left", 5, "a.py"),
        ("returned", 6, "a.py"), ("moved", 7, "pkg/c.py"),
    ]  # fmt: skip
    assert history.events[-1].other == SymbolKey("a.py", "f", "function", 0)
    assert history.events[2].signature == "def f(a, b=2)"
    assert [(span.from_ord, span.to_ord, span.path) for span in history.spans] == [
        (1, 5, "a.py"), (6, 7, "a.py"), (7, None, "pkg/c.py"),
    ]  # fmt: skip
    assert (history.first_seen.ordinal, history.last_seen.ordinal, history.invalid) == (1, 8, None)


def test_what_is_gone_has_a_life_and_callers(whole):
    history = whole.symbol_histories("user", 20, callers=True).rows[0]
    assert not history.alive
    assert (history.first_seen.ordinal, history.last_seen.ordinal, history.invalid.ordinal) == (3, 4, 5)
    assert history.invalid.sha == whole.revisions.resolve("HEAD~3").sha
    assert history.callers_before.total == 0
    gone = whole.symbol_histories(SymbolKey("a.py", "f", "function", 0), 20, callers=True).rows[0]
    assert gone.events[-1].what == "left"
    assert gone.invalid.ordinal == 7
    callers = whole.graph_at(4).callers("f")
    assert [(edge.qualname, edge.line, edge.text) for edge in callers.rows] == [("user", 5, "return f(1)")]
    with pytest.raises(NotFoundError, match="No known commit defines"):
        whole.symbol_histories("never", 20, callers=False)
    with pytest.raises(NotFoundError) as mistyped:
        whole.symbol_histories("usser", 20, callers=False)
    assert mistyped.value.hint.endswith("Did you mean user?")


def test_a_life_of_which_only_the_end_is_known(story, db):
    index(db, story.root)
    assert view_of(db, story.root).symbol_histories("g", 20, callers=False).rows[0].notes == (
        "history has not been read yet",
    )
    history = read(db, story.root, depth=2).symbol_histories("g", 20, callers=False).rows[0]
    assert history.first_seen is None
    assert "#7" in history.notes[0]
    assert read(db, story.root).symbol_histories("g", 20, callers=False).rows[0].first_seen.ordinal == 1


def test_changes_between_two_revisions(whole):
    def between(one, other):
        found = whole.changes(one, other, 100).rows
        return [(change.change, change.symbol.path, change.symbol.name) for change in found]

    assert between("#1", "#2") == [("changed", "a.py", "f")]
    assert between("#3", "#4") == [("signature", "a.py", "f")]
    assert between("#4", "#5") == [("removed", "a.py", "f"), ("removed", "b.py", "user")]
    assert between("#6", "#7") == [("moved", "pkg/c.py", "f")]
    assert whole.changes("#6", "#7", 9).rows[0].before.path == "a.py"
    assert between("#7", "#6") == [("moved", "a.py", "f")]
    assert between("#7", "HEAD") == [("added", "a.py", "h")]
    assert between("#1", "#1") == []
    cut = whole.changes("#1", "#8", 1)
    assert (len(cut.rows), cut.total > 1) == (1, True)


def test_before_the_first_commit_there_was_nothing(whole):
    found = whole.changes("#0", "#1", 100)
    assert [(change.change, change.symbol.name) for change in found.rows] == [("added", "f"), ("added", "g")]
    assert found.note == "2 added"
    assert {change.symbol.name for change in whole.changes("#0", "HEAD", 100).rows} == {"f", "g", "h"}
    with pytest.raises(NotFoundError):
        whole.changes("#1", "#0", 100)


def test_what_a_shallow_clone_cannot_compare_counts_as_added_and_is_said(story, db, tmp_path):
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--depth", "2", f"file://{story.root}", ".")
    found = read(db, clone.root).changes("#0", "#1", 100)
    assert {change.change for change in found.rows} == {"added"}
    assert "parents that are not in this clone" in found.note


def test_sections_of_a_document_have_lives_by_key_and_by_name(repo, db):
    text = "# Top\n\nText.\n\n## From the shell\n\nUse it.\n\n### A. b/c: d\n\nMore.\n"
    repo.write("doc.md", text)
    repo.commit("come")
    repo.write("doc.md", text.replace("Use it", "Use it well"))
    repo.commit("change")
    repo.write("doc.md", text.partition("## From")[0])
    repo.commit("leave")
    view = read(db, repo.root)
    key = SymbolKey("doc.md", "Top > From the shell", "section", 0)
    deep = SymbolKey("doc.md", "Top > From the shell > A. b/c: d", "section", 0)
    for name in (key, "From the shell", "Top > From the shell"):
        assert [symbol.key for symbol in view.graph_at(1).definitions(name).rows] == [key]
        history = view.symbol_histories(name, 9, callers=True).rows[0]
        assert (history.key, history.name) == (key, "From the shell")
        assert [event.what for event in history.events] == ["came", "changed", "left"]
    for name in (deep, "A. b/c: d", "From the shell > A. b/c: d", deep.qualname):
        assert [symbol.key for symbol in view.graph_at(2).definitions(name).rows] == [deep]
        assert view.symbol_histories(name, 9, callers=False).rows[0].key == deep
    with pytest.raises(NotFoundError):
        view.graph_at(3).definitions("Top > From the shell")


def drift_of(db, root, since=None, *, looked=False, limit=100):
    plan = Indexer(db, root, configured()).plan()
    return view_of(db, root).drift(plan, since, limit, looked=looked)


def test_drift_names_each_symbol_that_differs(story, db):
    read(db, story.root)
    assert drift_of(db, story.root).current
    story.write("a.py", "def g(a, c):\n    return a\n\n\ndef new():\n    return 2\n")
    (story.root / "pkg/c.py").unlink()
    found = drift_of(db, story.root)
    assert not found.current
    assert {(row.path, row.symbol, row.state) for row in found.rows} == {
        ("a.py", "g", "drifted"), ("a.py", "h", "tombstoned"), ("a.py", "new", "unindexed"), ("pkg/c.py", "f", "tombstoned"),
    }  # fmt: skip
    assert {row.mend for row in found.rows} == {"cm index a.py", "cm index pkg/c.py"}
    assert drift_of(db, story.root, limit=1).total == found.total
    index(db, story.root)
    assert drift_of(db, story.root).current


def test_a_file_that_only_moved_or_changed_outside_its_symbols(story, db):
    read(db, story.root)
    story.write("a.py", "# a remark\n" + (story.root / "a.py").read_text())
    (story.root / "pkg/c.py").rename(story.root / "moved.py")
    rows = {(row.path, row.symbol, row.state, row.why) for row in drift_of(db, story.root).rows}
    assert ("a.py", "", "drifted", "lines outside its symbols changed") in rows
    assert ("pkg/c.py", "f", "tombstoned", "its file moved to moved.py") in rows
    assert ("moved.py", "f", "unindexed", "new since it was indexed") in rows


def test_where_someone_last_looked_is_remembered(story, db):
    read(db, story.root)
    assert "No earlier visit" in drift_of(db, story.root, "last", looked=True).notes[-1]
    story.write("late.py", "def late():\n    return 1\n")
    story.commit("late")
    read(db, story.root)
    found = drift_of(db, story.root, "last")
    assert found.looked.ordinal == 8
    assert [change.symbol.name for change in found.changes.rows] == ["late"]
    assert drift_of(db, story.root, "#6").changes.total == 3


def test_pruning_by_age(whole):
    assert whole.prune(before=None, older_than="30d", everything=False, dry_run=True).spans == 0
    for words in (("soon", None, False), ("", None, False), ("30d", "HEAD", False), (None, None, False)):
        with pytest.raises(UsageError):
            whole.prune(older_than=words[0], before=words[1], everything=words[2], dry_run=True)


def test_source_and_files_of_the_past(whole):
    assert whole.source("#1", "a.py", 1, 2).text == F.rstrip()
    assert {file.path for file in whole.files("#4", "").rows} == {"a.py", "b.py"}
    assert [file.path for file in whole.files("HEAD", "pkg").rows] == ["pkg/c.py"]
    with pytest.raises(NotFoundError, match="did not exist"):
        whole.source("#1", "b.py", 1, None)


def grown(repo, *states):
    """A commit for each state: contents by path; None deletes."""
    repo.commits((f"state {number}", files) for number, files in enumerate(states, 1))


def events(history):
    return [(e.what, e.moment.ordinal, e.path, e.other.path if e.other else None) for e in history.events]


def test_what_is_split_has_one_origin_in_lives_as_in_changes(repo, db):
    grown(repo, {"a.py": F}, {"a.py": None, "e.py": F, "d.py": F})
    view = read(db, repo.root)
    changes = [(c.change, c.symbol.path) for c in view.changes("#1", "#2", 9).rows]
    assert changes == [("moved", "d.py"), ("added", "e.py")]
    histories = {history.key.path: events(history) for history in view.symbol_histories("f", 9, callers=False).rows}
    assert histories == {
        "d.py": [("came", 1, "a.py", None), ("moved", 2, "d.py", "a.py")],
        "e.py": [("came", 2, "e.py", None)],
    }


def test_a_move_back_is_followed_and_what_left_says_where_to(repo, db):
    grown(repo, {"a.py": F}, {"a.py": None, "c.py": F}, {"c.py": None, "a.py": F})
    view = read(db, repo.root)
    page = view.symbol_histories("f", 9, callers=False)
    assert [events(history) for history in page.rows] == [
        [("came", 1, "a.py", None), ("moved", 2, "c.py", "a.py"), ("moved", 3, "a.py", "c.py")]
    ]
    assert [(stay.from_ord, stay.to_ord, stay.path) for stay in page.rows[0].spans] == [
        (1, 2, "a.py"), (2, 3, "c.py"), (3, None, "a.py"),
    ]  # fmt: skip
    between = view.symbol_histories(SymbolKey("c.py", "f", "function", 0), 9, callers=False).rows[0]
    assert events(between)[-1] == ("left", 3, "c.py", "a.py")
    assert [c.change for c in view.changes("#2", "#3", 9).rows] == ["moved"]


def test_the_same_body_under_another_name_has_moved(repo, db):
    loop = "def {0}(a):\n    if a:\n        return {0}(a - 1)\n    return 0\n"
    grown(repo, {"a.py": loop.format("f")}, {"a.py": loop.format("ff")}, {"a.py": loop.format("g")})
    view = read(db, repo.root)
    change = view.changes("#1", "#2", 9).rows[0]
    assert (change.change, change.symbol.name, change.before.name) == ("moved", "ff", "f")
    told = [
        (e.what, e.qualname, e.other and e.other.qualname)
        for e in view.symbol_histories("g", 9, callers=False).rows[0].events
    ]
    assert told == [("came", "f", None), ("moved", "ff", "f"), ("moved", "g", "ff")]
    left = view.symbol_histories("f", 9, callers=False).rows[0].events[-1]
    assert (left.what, left.other.qualname) == ("left", "ff")


def test_what_only_looks_alike_in_one_line_has_not_moved(repo, db):
    grown(repo, {"a.py": "ONE = 1\n"}, {"a.py": "TWO = 1\n"})
    assert {c.change for c in read(db, repo.root).changes("#1", "#2", 9).rows} == {"added", "removed"}


def test_lives_say_that_history_was_removed(story, db):
    view = read(db, story.root)
    view.prune(before="#6", older_than=None, everything=False, dry_run=False)
    with pytest.raises(NotFoundError) as found:
        view.symbol_histories("user", 9, callers=False)
    assert "was removed" in found.value.hint
    assert "reads it again" in found.value.hint
    page = view.symbol_histories("g", 9, callers=False)
    assert "was removed" in page.note
    assert "was removed" in page.rows[0].notes[0]
    assert "#6" in page.rows[0].notes[0]
    view.prune(before=None, older_than=None, everything=True, dry_run=False)
    assert "was removed" in view.symbol_histories("g", 9, callers=False).rows[0].notes[0]


def test_hints_do_not_contradict_what_is_known(story, db, tmp_path):
    with pytest.raises(NotFoundError) as found:
        read(db, story.root, depth=2).symbol_histories("never", 9, callers=False)
    assert "reads further back" in found.value.hint
    with pytest.raises(NotFoundError) as found:
        read(db, story.root).symbol_histories("never", 9, callers=False)
    assert found.value.hint.startswith("the whole history has been read")
    assert "backfill" not in found.value.hint
    for nothing in ("", "  "):
        with pytest.raises(UsageError, match="No symbol"):
            view_of(db, story.root).symbol_histories(nothing, 9, callers=False)


def test_without_git_no_hint_leads_to_history(tmp_path, db):
    folder = Repo(tmp_path / "plain", init=False)
    folder.write("a.py", F)
    with pytest.raises(NotFoundError) as found:
        read(db, folder.root).symbol_histories("never", 9, callers=False)
    assert "no git" in found.value.hint
    assert "backfill" not in found.value.hint


def test_reading_back_a_part_of_what_was_removed_keeps_the_rest_removed(story, db):
    view = read(db, story.root)
    view.prune(before="#6", older_than=None, everything=False, dry_run=False)
    for _ in view.backfill(depth=None, since="#3", cancel=Cancel()):
        pass
    assert (coverage.load(db).from_ord, coverage.load(db).floor) == (3, 3)
    assert view.goal() is None
    with pytest.raises(NotFoundError, match="was removed"):
        view.snapshots.require("#2")
    db.execute("DELETE FROM file_span")
    db.execute("DELETE FROM meta WHERE key = 'history'")
    coverage.restore_floor(db)
    assert coverage.load(db).floor == 3


def test_pruning_before_what_is_off_the_line_says_so(story, db):
    story.git("branch", "side", "HEAD~5")
    story.git("checkout", "-q", "side")
    story.commit("aside")
    story.git("checkout", "-q", "main")
    note = read(db, story.root).prune(before="side", older_than=None, everything=False, dry_run=True).note
    assert "side" in note
    assert "is off the mainline, 1 commit after #3" in note
    assert "would be removed" in note


def test_a_question_about_a_revision_names_it_when_nothing_is_found(whole):
    with pytest.raises(NotFoundError, match=r"^At #5 ") as found:
        whole.ask("#5", lambda graph: graph.definitions("zzzzz"))
    assert "cm symbols" not in found.value.hint
    assert "`cm at '#5' --match`" in found.value.hint


def test_what_changed_since_before_the_first_commit_is_everything(story, db):
    read(db, story.root)
    found = drift_of(db, story.root, "1990-01-01")
    assert {change.change for change in found.changes.rows} == {"added"}
    assert found.changes.total == 3
