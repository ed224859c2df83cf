"""Commits off the mainline: answered from their own files, read once, for what differs, and kept within bounds."""

from __future__ import annotations

import signal
import threading
from contextlib import closing

import pytest

from cm_tui.config import Config
from cm_tui.engine.code.history import side_reader
from cm_tui.engine.code.history.time_travel import HistoricalView
from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.code.mainline import coverage, side_commits
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError
from cm_tui.model import Cancel
from tests.engine.history.conftest import compare_any_with_fresh, compare_with_fresh, read, view_of
from tests.engine.history.test_missing_blobs import Lost
from tests.forked import Python
from tests.gitrepo import Repo
from tests.indexing import configured, index


@pytest.fixture
def released(repo: Repo) -> Repo:
    """A line of 8 commits; tags v1 and v2 on a branch that left it at #3, v2 two commits after v1."""
    repo.commits((f"main {n}", {f"m{n}.py": f"def m{n}():\n    return {n}\n"}) for n in range(1, 4))
    repo.git("checkout", "-q", "-b", "release")
    repo.write("core.py", "def core():\n    return m1()\n")
    repo.write("app.py", "from core import core\n\n\ndef app():\n    return core()\n")
    repo.write("start.py", "from app import app\n\n\ndef start():\n    return app()\n")
    (repo.root / "m2.py").unlink()
    repo.commit("release 1")
    repo.git("tag", "v1")
    repo.write("m3.py", "def m3():\n    return 'released'")
    repo.commit("fix")
    repo.write("extra.py", "def extra():\n    return 1\n")
    repo.commit("release 2")
    repo.git("tag", "-a", "v2", "-m", "second")
    repo.git("checkout", "-q", "main")
    repo.commits((f"main {n}", {f"m{n}.py": f"def m{n}():\n    return {n}\n"}) for n in range(4, 9))
    return repo


def names(view: HistoricalView, ref: str) -> list[str]:
    return [row.name for row in view.ask(ref, lambda graph: graph.symbols()).rows]


def test_a_release_tag_answers_for_its_own_tree(released, db):
    view = read(db, released.root)
    assert names(view, "v1") == ["app", "core", "m1", "m3", "start"]
    page = view.files("v2", "")
    assert [row.path for row in page.rows] == ["app.py", "core.py", "extra.py", "m1.py", "m3.py", "start.py"]
    sha = released.git("rev-parse", "v2^{commit}")
    assert page.note.startswith(f"v2 ({sha[:10]}, ")
    assert page.note.endswith("is off the mainline, 3 commits after #3")
    assert view.source("v2", "m3.py", 1, None).text == "def m3():\n    return 'released'"
    callers = view.ask("v1", lambda graph: graph.callers("core", depth=2)).rows
    assert [(edge.qualname, edge.depth) for edge in callers] == [("app", 1), ("start", 2)]
    assert view.ask("v1", lambda graph: graph.definitions("core")).rows[0].path == "core.py"
    with pytest.raises(NotFoundError, match=r"m2\.py did not exist"):
        view.source("v1", "m2.py", 1, None)
    with pytest.raises(NotFoundError, match=f"At {released.git('rev-parse', 'v1')[:10]} "):
        view.ask("v1", lambda graph: graph.definitions("extra"))


@pytest.mark.parametrize("changed", [None, "def gone():\n    return 2\n"])
def test_a_name_that_is_not_utf8_differs_and_is_left_out(repo, db, changed):
    """Such a file of the nearest known commit is nothing that has to be taken back."""
    repo.write("bad\udcff.py", "def gone():\n    return 1\n")
    repo.write("good.py", "def good():\n    return 1\n")
    repo.commit("one")
    repo.write("good.py", "def good():\n    return 2\n")
    repo.commit("two")
    repo.git("checkout", "-q", "-b", "beside", "HEAD~1")
    (repo.root / "bad\udcff.py").unlink()
    if changed:
        repo.write("bad\udcff.py", changed)
    repo.write("more.py", "def more():\n    return 1\n")
    repo.commit("beside")
    repo.git("checkout", "-q", "main")
    assert names(read(db, repo.root), "beside") == ["good", "more"]


def test_changes_between_any_two_revisions(released, db):
    view = read(db, released.root)

    def told(before, after):
        return [(change.change, change.symbol.name) for change in view.changes(before, after, 99).rows]

    assert told("v1", "v2") == [("added", "extra"), ("changed", "m3")]
    assert told("v2~1", "v2") == [("added", "extra")]
    assert told("v2", "v1") == [("removed", "extra"), ("changed", "m3")]
    assert told("#3", "v1") == [("added", "app"), ("added", "core"), ("removed", "m2"), ("added", "start")]
    assert ("removed", "core") in told("v1", "HEAD")
    released.git("checkout", "-q", "--orphan", "pages")
    released.commit("pages")
    released.git("checkout", "-q", "main")
    assert {what for what, _ in told("pages~1", "pages")} == {"added"}
    assert len(told("pages~1", "pages")) == 8


def test_only_what_differs_is_read_and_only_once(released, db, monkeypatch):
    view = read(db, released.root)
    looked: list[str] = []
    blob_of = side_reader.TreeReader.blob_of

    def look(self, tree, path, entry):
        looked.append(path)
        return blob_of(self, tree, path, entry)

    monkeypatch.setattr(side_reader.TreeReader, "blob_of", look)
    names(view, "v1")
    assert sorted(looked) == ["app.py", "core.py", "m2.py", "start.py"]
    assert view.side.parsed == 3
    names(view, "v2")
    assert view.side.parsed == 5
    looked.clear()
    again = view_of(db, released.root)
    assert names(again, "v2") == ["app", "core", "extra", "m1", "m3", "start"]
    assert again.revisions.resolve("v1").known
    assert not looked
    # The same content on another commit is known.
    released.git("checkout", "-q", "v2")
    released.git("commit", "-q", "--allow-empty", "-m", "nothing new")
    other = released.git("rev-parse", "HEAD")
    released.git("checkout", "-q", "main")
    names(again, other)
    assert again.side.parsed == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("how", ["not read", "a part", "other rules", "pruned"])
def test_whatever_is_known_of_the_mainline(released, db, tmp_path, how):
    index(db, released.root)
    config = configured(exclude=["m1.py"]) if how == "other rules" else configured()
    if how != "not read":
        read(db, released.root, depth=3 if how == "a part" else None)
    if how == "pruned":
        view_of(db, released.root).prune(before="#6", older_than=None, everything=False, dry_run=False)
    for number, ref in enumerate(("v1", "v2", "v2~1")):
        sha = released.git("rev-parse", f"{ref}^{{commit}}")
        compare_any_with_fresh(db, released.root, sha, tmp_path / str(number), config)


@pytest.mark.parametrize("what", ["tree", "blob"])
def test_what_the_clone_lacks_is_said_and_read_once_it_is_back(released, db, tmp_path, what):
    view = read(db, released.root)
    if what == "blob":
        lost = Lost(released, "extra.py", "v2")
        page = view.files("v2", "")
        assert "the content of 1 file of that revision is not in this clone" in page.note
        assert "extra" not in names(view, "v2")
        assert view.goal() is None or not view.goal()
    else:
        oid = released.git("rev-parse", "v2^{tree}")
        file = released.root / ".git/objects" / oid[:2] / oid[2:]
        data = file.read_bytes()
        file.unlink()
        view = view_of(db, released.root)
        with pytest.raises(NotFoundError, match=f"{oid} is not in this clone"):
            view.files("v2", "")
    if what == "blob":
        lost.put_back()
    else:
        file.write_bytes(data)
    compare_any_with_fresh(db, released.root, released.git("rev-parse", "v2^{commit}"), tmp_path / "back")


def test_files_of_credentials_are_left_out(released, db):
    secret = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    released.git("checkout", "-q", "release")
    released.write(".env", f"TOKEN={secret}\n")
    released.write("key.pem", "-----BEGIN " + f"RSA PRIVATE KEY-----\n{secret}\n")
    released.write("plain.py", "def plain():\n    return 1\n")
    released.commit("release 3")
    released.git("checkout", "-q", "main")
    view = read(db, released.root)
    paths = [row.path for row in view.files("release", "").rows]
    assert "plain.py" in paths
    assert not {".env", "key.pem"} & set(paths)
    assert not db.value("SELECT count(*) FROM symbol WHERE contains(signature || doc, ?)", [secret])
    with pytest.raises(NotFoundError):
        view.source("release", ".env", 1, None)


def test_other_rules_drop_what_was_read_by_those_of_before(released, db):
    names(read(db, released.root), "v2")
    assert db.value("SELECT count(*) FROM side_commit") == 1
    index(db, released.root, configured(exclude=["extra.py"]))
    assert db.value("SELECT count(*) FROM side_commit") == 0
    assert db.value("SELECT count(*) FROM side_file") == 0
    view = view_of(db, released.root, configured(exclude=["extra.py"]))
    assert "extra" not in names(view, "v2")


def test_what_was_used_longest_ago_goes_first(released, db, monkeypatch):
    monkeypatch.setattr(side_commits, "_MOST_COMMITS", 2)
    view = read(db, released.root)
    before = db.value("SELECT count(*) FROM blob")
    names(view, "v2")
    names(view, "v1")
    names(view, "v2")
    names(view, "v2~1")
    shas = {released.git("rev-parse", f"{ref}^{{commit}}") for ref in ("v2", "v2~1")}
    assert {row[0] for row in db.rows("SELECT sha FROM side_commit")} == shas
    monkeypatch.setattr(side_commits, "_MOST_FILES", 0)
    names(view, "v1")
    assert db.value("SELECT count(*) FROM side_commit") == 1
    # `extra` and the third `m3` of v2 went with it.
    assert db.value("SELECT count(*) FROM blob") == before + 3


def test_one_question_does_not_read_for_ever_and_the_next_goes_on(released, db, tmp_path, monkeypatch):
    monkeypatch.setattr(side_reader, "_BATCH_SECONDS", 0.0)
    monkeypatch.setattr(side_reader, "LONGEST_SECONDS", 0.0)

    def one_a_batch(self):
        monkeypatch.setattr(side_reader, "_BATCH_SECONDS", 60.0)
        todo, self._todo = self._todo[:-1], self._todo[-1:]
        batch(self)
        self._todo = todo

    batch = side_reader._Reading._batch
    monkeypatch.setattr(side_reader._Reading, "_batch", one_a_batch)
    view = read(db, released.root)
    with pytest.raises(NotFoundError, match="1 of 6 differing files done"):
        view.files("v2", "")
    monkeypatch.setattr(side_reader, "LONGEST_SECONDS", 60.0)
    assert len(view.files("v2", "").rows) == 6
    assert view.side.parsed == 5
    assert db.rows("SELECT count(*), bool_and(whole) FROM side_commit") == [(1, True)]
    compare_any_with_fresh(db, released.root, released.git("rev-parse", "v2^{commit}"), tmp_path / "v2")


KILLED = """
import sys, time
from pathlib import Path
from cm_tui.engine.code.history import side_reader
from cm_tui.engine.platform.store.database import Database
from tests.engine.history.conftest import view_of
add, flush = side_reader.side_commits.add, side_reader.TreeReader.flush
def told(word):
    print(word, flush=True)
    time.sleep(0.1)
def slow_add(*words):
    told("before the rows")
    add(*words)
    told("in the transaction of the rows")
def slow_flush(self):
    flush(self)
    told("after the contents")
side_reader.side_commits.add, side_reader.TreeReader.flush = slow_add, slow_flush
batch = side_reader._Reading._batch
def one(self):
    todo, self._todo = self._todo[:-1], self._todo[-1:]
    batch(self)
    self._todo = todo
side_reader._Reading._batch = one
view_of(Database(Path(sys.argv[1])), Path(sys.argv[2])).files("v2", "")
"""


@pytest.mark.parametrize("steps", [1, 3, 15, *(pytest.param(steps, marks=pytest.mark.deep) for steps in (2, 8))])
def test_kill_9_leaves_a_store_whose_next_run_equals_a_fresh_one(released, tmp_path, steps):
    store = tmp_path / "store"
    with closing(Database(store)) as db:
        read(db, released.root)
    process = Python(KILLED, str(store), str(released.root))
    assert len(process.lines(steps)) >= steps
    assert process.kill().returncode == -signal.SIGKILL
    with closing(Database(store)) as db:
        index(db, released.root)
        compare_with_fresh(db, released.root, 8, tmp_path / "head")
        compare_any_with_fresh(db, released.root, released.git("rev-parse", "v2^{commit}"), tmp_path / "v2")
        assert db.rows("SELECT count(*), bool_and(whole) FROM side_commit") == [(1, True)]
        view_of(db, released.root).prune(before=None, older_than=None, everything=True, dry_run=False)
        assert db.value("SELECT count(*) FROM blob") == db.value("SELECT count(DISTINCT blob) FROM head_file")


def test_asked_by_several_at_once_it_is_read_once(released, db):
    view = read(db, released.root)
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(names(view, "v2"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["app", "core", "extra", "m1", "m3", "start"]] * 6
    assert view.side.parsed == 5
    assert db.value("SELECT count(*) FROM side_commit") == 1


def test_it_waits_for_no_vectors(released, db):
    """An index run that has stored its files goes on with what takes long: a question does not wait for that."""
    read(db, released.root)
    released.write("new.py", "def new():\n    return 1\n")
    run = Indexer(db, released.root, Config(index=configured().index)).run()
    for step in run:
        if step.stage == "store" and step.done:
            break
    view = view_of(db, released.root)
    assert names(view, "v2") == ["app", "core", "extra", "m1", "m3", "start"]
    list(run)
    assert db.value("SELECT count(*) FROM now_file WHERE path = 'new.py'") == 1
    assert list(view.backfill(depth=None, since=None, cancel=Cancel()))


def test_the_mainline_changes_under_a_question(released, db, monkeypatch):
    """What is read of a mainline that is another one by now is asked again."""
    view = read(db, released.root)
    released.git("checkout", "-q", "-b", "other", "main~6")
    released.commit("other")
    stored = view.side.stored
    switched: list[bool] = []

    def switch(sha):
        answer = stored(sha)
        if not switched and answer is not None:
            switched.append(True)
            index(db, released.root)
        return answer

    names(view, "v2")
    monkeypatch.setattr(view.side, "stored", switch)
    assert names(view, "v2") == ["app", "core", "extra", "m1", "m3", "start"]
    assert coverage.load(db).to_ord < 8


def test_a_name_of_a_side_commit_in_any_form(released, db):
    view = read(db, released.root)
    sha = released.git("rev-parse", "v2^{commit}")
    for name in ("v2", "release", sha, sha[:9], "v2^{commit}", "release~0"):
        assert view.revisions.resolve(name).sha == sha
    assert view.revisions.resolve("v2~2").moment.ahead == 1
    assert view.revisions.resolve("v2~3").moment.place == "#3"
