"""File versions that are not in this clone: nothing wrong is told of them, and they are read once they are back."""

from __future__ import annotations

import pytest

from cm_tui.engine.code.history import tree_reader
from cm_tui.engine.code.history.time_travel import HistoricalView
from cm_tui.errors import NotFoundError
from cm_tui.model import Cancel
from tests.engine.history.conftest import compare_each_with_fresh, compare_with_fresh, read, view_of
from tests.gitrepo import Repo
from tests.indexing import index


def text(number: int, *, calls: str = "str") -> str:
    return f"def f():\n    return {calls}({number})\n"


class Lost:
    """A committed file whose content is taken out of the repository, and can be put back."""

    def __init__(self, repo: Repo, path: str, ref: str = "HEAD") -> None:
        oid = repo.git("rev-parse", f"{ref}:{path}")
        self.file = repo.root / ".git/objects" / oid[:2] / oid[2:]
        self.data = self.file.read_bytes()
        self.file.unlink()

    def put_back(self) -> None:
        self.file.write_bytes(self.data)


@pytest.fixture
def story(repo):
    """`f` in a.py at #1, #2 (lost), #3 and on; b.py calls it from #1 on."""
    repo.write("b.py", "from a import f\n\n\ndef user():\n    return f()\n")
    for number in (1, 2, 3):
        repo.write("a.py", text(number))
        repo.commit(f"number {number}")
    repo.write("c.py", "x = 1\n")
    repo.commit("four")
    return repo


def told(view: HistoricalView, name: str = "f") -> list[tuple[str, int]]:
    return [
        (event.what, event.moment.ordinal) for event in view.symbol_histories(name, 9, callers=False).rows[0].events
    ]


def test_a_version_that_is_not_here_is_no_deletion(story, db, tmp_path):
    lost = Lost(story, "a.py", "HEAD~2")
    view = read(db, story.root)
    status = view.report.status()
    assert (status.complete, status.missing, status.known) == (False, 1, 4)
    assert "without 1 file version not in this clone" in status.text
    assert "whole history has been read" not in status.text
    assert any("1 file version is not in this clone" in note for note in status.notes)
    history = view.symbol_histories("f", 9, callers=False).rows[0]
    assert told(view) == [("came", 1), ("unknown", 2), ("unknown", 3)]
    assert history.alive
    assert history.notes == ("the version of a.py at #2 is not in this clone, so its content is unknown",)
    files = view.files("#2", "")
    assert {file.path: file.error for file in files.rows} == {"a.py": tree_reader.ERROR, "b.py": None}
    assert "a.py" in files.note
    assert "not in this clone" in view.ask("#2", lambda graph: graph.callers("user")).note
    with pytest.raises(NotFoundError, match="At #2") as found:
        view.ask("#2", lambda graph: graph.definitions("f"))
    assert "a.py" in found.value.hint
    assert view.files("#1", "").note == ""
    compare_each_with_fresh(db, story.root, (1, 3), tmp_path)
    assert view.changes("#1", "#2", 9).rows == view.changes("#2", "#3", 9).rows == ()
    assert "a.py" in view.changes("#1", "#2", 9).note
    assert [change.change for change in view.changes("#1", "#3", 9).rows] == ["changed"]
    assert view.goal() is None
    lost.put_back()
    assert view.goal() is not None
    for _ in view.catch_up(Cancel()):
        pass
    assert told(view) == [("came", 1), ("changed", 2), ("changed", 3)]
    assert view.report.status().complete
    assert view.symbol_histories("f", 9, callers=False).rows[0].notes == ()
    assert [edge.qualname for edge in view.ask("#2", lambda graph: graph.callers("f")).rows] == ["user"]
    assert view.goal() is None
    compare_with_fresh(db, story.root, 2, tmp_path / "two")


@pytest.mark.parametrize("how", ["backfill", "kept", "full"])
def test_what_is_back_is_read_whatever_happened_meanwhile(story, db, tmp_path, how):
    lost = Lost(story, "a.py", "HEAD~2")
    read(db, story.root)
    lost.put_back()
    if how == "full":
        index(db, story.root, full=True)
    if how == "kept":
        index(db, story.root)
    view = view_of(db, story.root)
    for _ in view.backfill(depth=1, since=None, cancel=Cancel()):
        pass
    assert told(view) == [("came", 1), ("changed", 2), ("changed", 3)]
    compare_with_fresh(db, story.root, 2, tmp_path / "two")


def test_what_is_back_but_is_no_source_is_left_out(repo, db):
    repo.write("a.py", "x = 1\n")
    repo.write("data.py", b"\0\1\2")
    repo.commit("one")
    lost = Lost(repo, "data.py")
    repo.git("rm", "-q", "data.py")
    repo.commit("two")
    view = read(db, repo.root)
    assert {file.path for file in view.files("#1", "").rows} == {"a.py", "data.py"}
    lost.put_back()
    view = read(db, repo.root)
    assert {file.path for file in view.files("#1", "").rows} == {"a.py"}
    assert view.report.status().complete


def test_a_damaged_version_is_not_read_again_and_again(story, db):
    lost = Lost(story, "a.py", "HEAD~2")
    read(db, story.root)
    lost.file.write_bytes(b"no object at all")
    view = view_of(db, story.root)
    assert view.goal() is None
    assert view.report.status().missing == 1


def test_a_symbol_that_left_while_nothing_could_be_seen(repo, db):
    for number, content in enumerate((text(1), text(2), "x = 3\n", text(4)), 1):
        repo.write("a.py", content)
        repo.commit(f"number {number}")
    Lost(repo, "a.py", "HEAD~2")
    view = read(db, repo.root)
    assert told(view) == [("came", 1), ("unknown", 2), ("returned", 4)]
    assert "#2" in view.symbol_histories("f", 9, callers=False).rows[0].notes[0]


def test_a_move_into_or_out_of_the_unseen_is_none(repo, db):
    repo.write("a.py", text(1))
    repo.commit("one")
    repo.write("a.py", "x = 2\n")
    repo.write("b.py", text(1))
    repo.commit("two")
    Lost(repo, "a.py")
    view = read(db, repo.root)
    histories = {history.key.path: history for history in view.symbol_histories("f", 9, callers=False).rows}
    assert [event.what for event in histories["b.py"].events] == ["came"]
    assert [event.what for event in histories["a.py"].events] == ["came", "unknown"]
    assert histories["a.py"].invalid is None


def test_a_clone_without_contents_claims_nothing(repo, db, tmp_path):
    for number in range(4):
        repo.write("a.py", text(number) if number != 2 else "x = 1\n")
        repo.write("old.py", "def old():\n    return 1\n")
        repo.commit(f"number {number}")
    repo.git("rm", "-q", "old.py")
    repo.commit("five")
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--filter=blob:none", f"file://{repo.root}", ".")
    view = read(db, clone.root)
    assert view.report.status().missing == 4
    with pytest.raises(NotFoundError) as found:
        view.symbol_histories("old", 9, callers=False)
    assert "4 file versions not in this clone" in found.value.hint
    assert "whole history has been read" not in found.value.hint
    history = view.symbol_histories("f", 9, callers=False).rows[0]
    assert [(event.what, event.moment.ordinal) for event in history.events] == [("unknown", 4)]
    assert history.notes == ("the version of a.py from #1 to #3 is not in this clone, so its content is unknown",)
    assert {file.path for file in view.files("#2", "").rows} == {"a.py", "old.py"}
    clone.git("fetch", "-q", "--refetch", "--no-filter")
    view = read(db, clone.root)
    assert view.report.status().complete
    assert told(view) == [("came", 1), ("changed", 2), ("left", 3), ("returned", 4)]
    assert view.symbol_histories("old", 9, callers=False).total == 1


def test_a_store_that_took_them_for_deleted_reads_again(story, db):
    Lost(story, "a.py", "HEAD~2")
    view = read(db, story.root)
    from dataclasses import replace

    from cm_tui.engine.code.mainline import coverage

    db.execute("DELETE FROM file_span WHERE path = 'a.py' AND from_ord = 2")
    coverage.save(db, replace(coverage.load(db), missing=1))
    view = read(db, story.root)
    assert told(view) == [("came", 1), ("unknown", 2), ("unknown", 3)]
