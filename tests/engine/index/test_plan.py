from contextlib import closing

import pytest

from cm_tui.engine.code.index import plan as planning
from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError
from tests.gitrepo import Repo
from tests.indexing import canonical, configured, index, now


@pytest.fixture
def repo(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.write("a.py", "a = 1\n")
    repo.write("b.py", "b = 1\n")
    repo.write("c.md", "# C\n")
    repo.write("yarn.lock", "x\n")
    repo.write("tool", "#!/usr/bin/env python3\nprint(1)\n")
    repo.commit()
    return repo


@pytest.fixture
def db(tmp_path):
    with closing(Database(tmp_path / "store")) as db:
        yield db


def plan(db, repo, **how):
    return Indexer(db, repo.root, configured()).plan(**how)


def test_a_first_plan_names_everything_and_writes_nothing(repo, db):
    before = canonical(db)
    planned = plan(db, repo)
    assert planned.full
    assert planned.files == 4
    assert planned.added == ("a.py", "b.py", "c.md", "tool")
    assert planned.bytes == sum(len((repo.root / name).read_bytes()) for name in planned.added)
    assert planned.languages == {"python": 3, "markdown": 1}
    assert planned.skipped == {"lock file": 1}
    assert planned.estimated_seconds > 0
    assert canonical(db) == before


def test_a_plan_says_what_a_run_then_does(repo, db):
    index(db, repo.root)
    nothing = plan(db, repo)
    assert (nothing.added, nothing.modified, nothing.removed, nothing.renamed, nothing.full) == ((), (), (), (), False)
    repo.write("a.py", "a = 2\n")
    repo.git("mv", "b.py", "b2.py")
    (repo.root / "c.md").unlink()
    repo.write("new.py", "n = 1\n")
    planned = plan(db, repo)
    assert planned.added == ("new.py",)
    assert planned.modified == ("a.py",)
    assert planned.removed == ("c.md",)
    assert planned.renamed == (("b.py", "b2.py"),)
    summary = index(db, repo.root)
    assert summary.changed == 5  # the rename is one path out and one in
    assert summary.files == planned.files == len(now(db))


def test_a_full_plan_counts_everything_as_work(repo, db):
    index(db, repo.root)
    assert plan(db, repo, full=True).full
    assert plan(db, repo, full=True).estimated_seconds > plan(db, repo).estimated_seconds


def test_since_compares_with_a_commit(repo, db):
    index(db, repo.root)
    repo.write("a.py", "a = 2\n")
    repo.commit()
    index(db, repo.root)
    assert plan(db, repo).modified == ()
    assert plan(db, repo, since="HEAD~1").modified == ("a.py",)
    assert plan(db, repo, since="HEAD").modified == ()
    with pytest.raises(NotFoundError):
        plan(db, repo, since="nowhere")


def test_content_that_is_known_to_be_left_out_is_not_planned(repo, db):
    repo.write("data", b"\0\1\2")
    assert "data" in plan(db, repo).added
    index(db, repo.root)
    assert plan(db, repo).added == ()
    assert plan(db, repo).skipped == {"binary": 1, "lock file": 1}


def test_a_first_plan_reads_no_more_than_names_ask_for(tmp_path, db, monkeypatch):
    plain = Repo(tmp_path / "plain", init=False)
    plain.write("a.py", "a = 1\n")
    plain.write("b.py", "b = 1\n")
    plain.write("tool", "#!/usr/bin/env python3\n")
    seen = []
    real = ContentReader.from_disk

    def from_disk(self, path):
        seen.append(path)
        return real(self, path)

    monkeypatch.setattr(ContentReader, "from_disk", from_disk)
    planned = plan(db, plain)
    assert seen == ["tool"]
    assert planned.languages == {"python": 3}
    assert planned.bytes == 12 + len("#!/usr/bin/env python3\n")
    assert planned.added == ("a.py", "b.py", "tool")


def edits(db, repo):
    return planning.find_edits(db, repo.root, configured().index)


def test_what_was_edited_since_a_run_is_found_and_nothing_after_the_next(repo, db):
    index(db, repo.root)
    assert edits(db, repo) == ((), 0)
    for name, text in {"a.py": "a = 2\n", "new.py": "n = 1\n", "picture.py": "\0" * 100}.items():
        repo.write(name, text)
    repo.write("yarn.lock", "y\n")
    (repo.root / "b.py").unlink()
    assert edits(db, repo) == (("a.py", "b.py", "new.py", "picture.py"), 112)
    index(db, repo.root)
    assert edits(db, repo) == ((), 0)
    # Also what was indexed and is as in HEAD again, or ignored since.
    repo.write("a.py", "a = 1\n")
    repo.write(".git/info/exclude", "new.py\n")
    assert edits(db, repo) == (("a.py", "new.py"), 6)


def test_a_folder_without_git_is_compared_by_content(tmp_path, db):
    folder = Repo(tmp_path / "plain", init=False)
    folder.write("a.py", "a = 1\n")
    folder.write("b.py", "b = 1\n")
    index(db, folder.root)
    assert edits(db, folder) == ((), 0)
    folder.write("b.py", "b = 2\n")
    assert edits(db, folder) == (("b.py",), 6)


def test_too_many_files_and_other_rules_are_not_compared_before_a_response(repo, db, monkeypatch):
    assert edits(db, repo) is None
    index(db, repo.root)
    for limit in ("MOST_FILES", "_MOST_DIFFERING"):
        repo.write("a.py", "a = 2\n")
        with monkeypatch.context() as patch:
            patch.setattr(planning, limit, 0)
            assert edits(db, repo) is None, limit
    db.set_meta("rules", "of another version")
    assert edits(db, repo) is None
