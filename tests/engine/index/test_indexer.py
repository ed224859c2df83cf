import json
import os
import sys
from contextlib import closing
from pathlib import Path

import pygit2
import pytest

from cm_tui.config import Config
from cm_tui.engine.code.index import index_run
from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.code.parse import pool as pools
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.doctor.project_store import examine_repository
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CancelledError, CmError, NotFoundError, NotIndexedError, RefusedError
from cm_tui.model import Cancel
from tests.forked import run_python
from tests.gitrepo import Repo
from tests.indexing import canonical, configured, fresh, index, now, skipped

CODE = "def greet(name):\n    return shout(name)\n\n\nclass A:\n    def m(self):\n        return greet('x')\n"


@pytest.fixture
def repo(tmp_path) -> Repo:
    repo = Repo(tmp_path / "app")
    repo.write("src/a.py", CODE)
    repo.write("src/b.py", "from src.a import greet\n\nprint(greet('b'))\n")
    repo.write("README.md", "# App\n\nText.\n")
    repo.commit()
    return repo


@pytest.fixture
def db(tmp_path):
    with closing(Database(tmp_path / "store")) as db:
        yield db


def same_as_fresh(db, repo, tmp_path, config=None) -> None:
    number = len(list(tmp_path.glob("fresh*")))
    assert canonical(db) == fresh(tmp_path / f"fresh{number}", repo.root, config)


def test_everything_of_a_small_project_is_there(repo, db):
    summary = index(db, repo.root)
    assert now(db) == {"src/a.py": "python", "src/b.py": "python", "README.md": "markdown"}
    assert summary.files == summary.blobs == summary.changed == 3
    assert summary.symbols == db.value("SELECT count(*) FROM symbol") >= 4
    assert summary.references >= 3
    assert summary.passages == db.value("SELECT count(*) FROM passage") >= 3
    assert summary.mode == "keyword"
    assert {"scan", "parse", "store", "keywords"} <= set(summary.seconds)
    names = [
        row[0]
        for row in db.rows(
            "SELECT qualname FROM symbol WHERE blob = (SELECT blob FROM now_file WHERE path = 'src/a.py') ORDER BY idx"
        )
    ]
    assert names[:3] == ["greet", "A", "A.m"]


def test_the_steps_of_a_run_come_in_order_and_say_when_search_answers(repo, db):
    steps = list(Indexer(db, repo.root, configured()).run())
    stages = [step.stage for step in steps]
    assert stages == sorted(stages, key=["scan", "parse", "store", "vectors", "done"].index)
    assert next(step.stage for step in steps if step.searchable) == "store"
    assert steps[-1].summary is not None
    assert all(step.summary is None for step in steps[:-1])


def test_a_second_run_does_nothing(repo, db):
    index(db, repo.root)
    before, generation = canonical(db), db.get_meta("generation")
    summary = index(db, repo.root)
    assert (summary.blobs, summary.changed) == (0, 0)
    assert canonical(db) == before
    assert db.get_meta("generation") == generation


def test_a_changed_line_moves_only_its_file(repo, db, tmp_path):
    index(db, repo.root)
    kept = db.rows("SELECT id, path FROM passage WHERE path <> 'src/a.py' ORDER BY id")
    repo.write("src/a.py", "# first\n" + CODE)
    summary = index(db, repo.root)
    assert (summary.blobs, summary.changed) == (1, 1)
    assert db.rows("SELECT id, path FROM passage WHERE path <> 'src/a.py' ORDER BY id") == kept
    same_as_fresh(db, repo, tmp_path)


def test_a_rename_parses_nothing(repo, db, tmp_path):
    index(db, repo.root)
    repo.git("mv", "src/a.py", "src/moved name é.py")
    summary = index(db, repo.root)
    assert summary.blobs == 0
    assert "src/moved name é.py" in now(db)
    same_as_fresh(db, repo, tmp_path)
    repo.commit()
    assert index(db, repo.root).blobs == 0
    same_as_fresh(db, repo, tmp_path)


def test_a_rename_of_only_the_case(repo, db, tmp_path):
    index(db, repo.root)
    repo.git("mv", "src/a.py", "src/A.py")
    repo.commit()
    index(db, repo.root)
    assert "src/A.py" in now(db)
    same_as_fresh(db, repo, tmp_path)


def test_a_new_suffix_is_a_new_language_for_the_same_content(repo, db, tmp_path):
    index(db, repo.root)
    repo.write("src/copy.txt", CODE)
    assert index(db, repo.root).blobs == 1
    assert now(db)["src/copy.txt"] == "text"
    same_as_fresh(db, repo, tmp_path)


def test_deleted_untracked_staged_and_ignored(repo, db, tmp_path):
    index(db, repo.root)
    (repo.root / "src/b.py").unlink()
    repo.write("new.py", "n = 1\n")
    repo.write("staged.py", "s = 1\n")
    repo.git("add", "staged.py")
    repo.write("ignored/x.py", "i = 1\n")
    repo.write("src/.gitignore", "local.py\n")
    repo.write("src/local.py", "l = 1\n")
    repo.write(".gitignore", "ignored/\n")
    index(db, repo.root)
    files = now(db)
    assert {"new.py", "staged.py"} <= set(files)
    assert not {"src/b.py", "ignored/x.py", "src/local.py"} & set(files)
    same_as_fresh(db, repo, tmp_path)
    (repo.root / ".gitignore").unlink()
    index(db, repo.root)
    assert "ignored/x.py" in now(db)
    same_as_fresh(db, repo, tmp_path)


def test_unborn_and_detached(tmp_path, db):
    repo = Repo(tmp_path / "new")
    index(db, repo.root)
    assert now(db) == {}
    repo.write("a.py", CODE)
    index(db, repo.root)
    assert now(db) == {"a.py": "python"}
    assert db.get_meta("indexed_head") == ""
    sha = repo.commit()
    index(db, repo.root)
    assert db.rows("SELECT count(*) FROM worktree") == [(0,)]
    repo.git("checkout", "-q", "--detach")
    index(db, repo.root)
    assert db.get_meta("indexed_head") == sha
    same_as_fresh(db, repo, tmp_path)


def test_a_folder_without_git(tmp_path, db):
    plain = Repo(tmp_path / "plain", init=False)
    plain.write("a.py", CODE)
    plain.write("sub/.gitignore", "*.tmp.py\n")
    plain.write("sub/b.tmp.py", "x = 1\n")
    plain.write("sub/c.py", "x = 1\n")
    assert index(db, plain.root).blobs >= 2
    assert {"a.py", "sub/c.py"} <= set(now(db))
    assert "sub/b.tmp.py" not in now(db)
    assert sorted(path.name for path in plain.root.iterdir()) == ["a.py", "sub"]
    assert index(db, plain.root).blobs == 0
    (plain.root / "a.py").rename(plain.root / "z.py")
    assert index(db, plain.root).blobs == 0
    same_as_fresh(db, plain, tmp_path)
    # The folder becomes a repository.
    repo = Repo(plain.root)
    repo.commit()
    assert index(db, plain.root).blobs == 0
    same_as_fresh(db, repo, tmp_path)


def test_links_are_never_followed(repo, db, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("TOKEN_OUTSIDE = 1\n")
    (repo.root / "link.py").symlink_to(outside / "secret.py")
    (repo.root / "folder").symlink_to(outside)
    (repo.root / "dangling").symlink_to("nowhere")
    (repo.root / "loop").symlink_to(".")
    repo.commit()
    (repo.root / "untracked.py").symlink_to(outside / "secret.py")
    index(db, repo.root)
    reasons = skipped(db)
    for name in ("link.py", "folder", "dangling", "loop", "untracked.py"):
        assert reasons[name] == "symbolic link"
    assert db.value("SELECT count(*) FROM passage WHERE text LIKE '%TOKEN_OUTSIDE%'") == 0


def test_submodules_and_nested_repositories_are_left_out(repo, db, tmp_path):
    library = Repo(tmp_path / "library")
    library.write("lib.py", "x = 1\n")
    library.commit()
    repo.git("submodule", "add", "-q", str(library.root), "vendored")
    repo.commit()
    nested = Repo(repo.root / "nested")
    nested.write("n.py", "x = 1\n")
    index(db, repo.root)
    assert skipped(db)["vendored"] == "submodule"
    assert skipped(db)["nested/"] == "nested repository"
    assert not any(path.startswith(("vendored/", "nested/")) for path in now(db))
    (repo.root / "vendored" / "lib.py").write_text("x = 2\n")
    index(db, repo.root)
    same_as_fresh(db, repo, tmp_path)


def test_odd_names(repo, db, tmp_path):
    names = [
        "sp ace.py",
        "new\nline.py",
        "quo\"te's.py",
        "é/ü 日本.py",
        "-dash.py",
        "[bold].py",
        "a;b.py",
        "%s.py",
        "tab\t.py",
    ]
    for name in names:
        repo.write(name, f"x = {name!r}\n")
    repo.commit()
    index(db, repo.root)
    assert set(names) <= set(now(db))
    repo.write(names[1], "y = 2\n")
    assert index(db, repo.root).changed == 1
    same_as_fresh(db, repo, tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are not UTF-8")
def test_names_that_are_not_utf_8_are_listed(repo, db, tmp_path):
    Path(os.fsdecode(os.fsencode(repo.root) + b"/bad\xff.py")).write_bytes(b"x = 1\n")
    repo.commit()
    Path(os.fsdecode(os.fsencode(repo.root) + b"/worse\xfe\xfd.py")).write_bytes(b"x = 1\n")
    index(db, repo.root)
    assert skipped(db) == {"bad\\xff.py": "name is not UTF-8", "worse\\xfe\\xfd.py": "name is not UTF-8"}
    same_as_fresh(db, repo, tmp_path)
    (check,) = examine_repository(
        repo.root.resolve(), db, lambda: Repository(repo.root, tmp_path / "shadow"), full=True
    )
    assert (check.name, check.state) == ("repository", "ok")


def test_binary_huge_and_invalid_content(repo, db, tmp_path):
    repo.write("blob", b"\x7fELF\0\0\0")
    repo.write("zero.py", b"")
    repo.write("latin.py", "name = 'é'\n".encode("latin-1"))
    repo.write("nul.py", b"x = 1\n\0\0")
    repo.write("huge.py", b"# note\n" * 40_000)
    repo.write("app.js", b"var a=1;" * 1000)
    repo.commit()
    repo.write("untracked.bin.py", b"\0\1")
    config = configured(max_file_bytes=100_000)
    summary = index(db, repo.root, config)
    assert skipped(db) == {
        "blob": "binary",
        "nul.py": "binary",
        "untracked.bin.py": "binary",
        "huge.py": "larger than 100 kB",
        "app.js": "minified",
    }
    assert summary.skipped == {"binary": 3, "larger than 100 kB": 1, "minified": 1}
    assert {"zero.py", "latin.py"} <= set(now(db))
    assert index(db, repo.root, config).changed == 0
    # The verdict follows the settings, and the content.
    index(db, repo.root, configured(max_file_bytes=1_000_000, include=("app.js",)))
    assert {"huge.py", "app.js"} <= set(now(db))
    index(db, repo.root, config)
    assert not {"huge.py", "app.js"} & set(now(db))
    repo.write("nul.py", b"x = 1\n")
    index(db, repo.root, config)
    assert "nul.py" in now(db)
    same_as_fresh(db, repo, tmp_path, config)


@pytest.mark.skipif(os.name == "nt", reason="needs pipes")
def test_pipes_are_not_opened(repo, db):
    os.mkfifo(repo.root / "pipe.py")
    (repo.root / "README.md").unlink()
    os.mkfifo(repo.root / "README.md")
    index(db, repo.root)
    assert set(now(db)) == {"src/a.py", "src/b.py"}


def test_a_file_that_cannot_be_read_is_listed(repo, db, monkeypatch):
    repo.write("locked.py", "x = 1\n")
    real = ContentReader.from_disk

    def from_disk(self, path):
        if path == "locked.py":
            raise PermissionError(13, "Permission denied")
        return real(self, path)

    monkeypatch.setattr(ContentReader, "from_disk", from_disk)
    index(db, repo.root)
    assert skipped(db) == {"locked.py": "unreadable: Permission denied"}


def test_files_that_vanish_during_the_walk_are_not_there(repo, db, tmp_path, monkeypatch):
    for number in range(4):
        repo.write(f"new{number}.py", f"n = {number}\n")
    real = ContentReader.from_disk

    def from_disk(self, path):
        if path in {"new0.py", "new2.py"}:
            (repo.root / path).unlink(missing_ok=True)
        return real(self, path)

    monkeypatch.setattr(ContentReader, "from_disk", from_disk)
    index(db, repo.root)
    assert {"new1.py", "new3.py"} <= set(now(db))
    assert not {"new0.py", "new2.py"} & set(now(db))
    monkeypatch.undo()
    same_as_fresh(db, repo, tmp_path)


@pytest.mark.parametrize("end", ["edited", "deleted", "linked", "binary"])
def test_a_file_that_changes_between_scan_and_storing_is_stored_as_what_was_read(repo, db, tmp_path, monkeypatch, end):
    repo.write("busy.py", "version = 1\n")
    # Nothing is kept in memory, so that everything is read again from disk.
    monkeypatch.setattr("cm_tui.engine.code.scan.content_reader._KEPT_BYTES", 0)
    file = repo.root / "busy.py"

    def change() -> None:
        file.unlink()
        if end == "edited":
            file.write_text("version = 2\n")
        elif end == "linked":
            file.symlink_to("/etc/passwd")
        elif end == "binary":
            file.write_bytes(b"\0")

    for step in Indexer(db, repo.root, configured()).run():
        if step.stage == "scan" and step.done:
            change()
    if end == "edited":
        assert db.value("SELECT text FROM passage WHERE path = 'busy.py'").strip() == "version = 2"
    else:
        assert "busy.py" not in now(db)
    monkeypatch.undo()
    index(db, repo.root)
    same_as_fresh(db, repo, tmp_path)


def test_a_file_that_changes_between_parsing_and_storing(repo, db, tmp_path, monkeypatch):
    repo.write("busy.py", "version = 1\n")
    monkeypatch.setattr("cm_tui.engine.code.scan.content_reader._KEPT_BYTES", 0)
    for step in Indexer(db, repo.root, configured()).run():
        if step.stage == "store" and not step.done:
            repo.write("busy.py", "version = 2\n")
    assert db.value("SELECT text FROM passage WHERE path = 'busy.py'").strip() == "version = 2"
    same_as_fresh(db, repo, tmp_path)


def test_a_run_that_is_cancelled_keeps_what_it_parsed(repo, db, tmp_path, monkeypatch):
    for number in range(60):
        repo.write(f"many/f{number}.py", f"def f{number}():\n" + "    call()\n" * 20)
    monkeypatch.setattr(index_run, "_ROWS_A_COMMIT", 10)
    monkeypatch.setattr(pools, "SMALL_BYTES", 1000)
    monkeypatch.setattr(pools, "BATCH_BYTES", 1000)
    cancel = Cancel()
    seen = []

    def run() -> None:
        for step in Indexer(db, repo.root, configured()).run(cancel=cancel):
            seen.append(step)
            if step.stage == "parse":
                cancel.set()

    with pytest.raises(CancelledError):
        run()
    parsed = db.value("SELECT count(*) FROM blob")
    assert 0 < parsed < 63
    assert now(db) == {}
    summary = index(db, repo.root)
    assert summary.blobs == 63 - parsed
    same_as_fresh(db, repo, tmp_path)


def test_cancelling_while_keywords_are_written_leaves_the_old_answers(repo, db, tmp_path):
    index(db, repo.root)
    before = canonical(db)["passage"]
    repo.write("src/a.py", "x = 1\n")
    cancel = Cancel()
    run = Indexer(db, repo.root, configured()).run(cancel=cancel)
    for step in run:
        if step.stage == "store":
            break
    cancel.set()
    with pytest.raises(CancelledError):
        next(run)
    assert canonical(db)["passage"] == before
    index(db, repo.root)
    same_as_fresh(db, repo, tmp_path)


def test_two_runs_at_once_are_one_too_many(repo, db):
    first = Indexer(db, repo.root, configured()).run()
    next(first)
    with pytest.raises(CmError, match="already"):
        index(db, repo.root)
    first.close()
    index(db, repo.root)


KILLED = """
import os, sys
from pathlib import Path
from cm_tui.engine.code.index import index_run, target_state
from cm_tui.engine.code.parse import pool
from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.platform.store.database import Database
from tests.indexing import configured

where, root, folder = sys.argv[1:]
index_run._ROWS_A_COMMIT = 10
pool.SMALL_BYTES = pool.BATCH_BYTES = 1000
if where == "writing":
    real = target_state.drop_unused
    def drop(db):
        real(db)
        os.kill(os.getpid(), 9)
    target_state.drop_unused = drop
db = Database(Path(folder))
count = 0
for step in Indexer(db, Path(root), configured()).run():
    count += step.stage == "parse"
    if where == step.stage or where == f"{step.stage} {count}":
        os.kill(os.getpid(), 9)
"""


@pytest.mark.few(3)
@pytest.mark.parametrize("where", ["scan", "parse 1", "parse 3", "writing", "store", "done"])
def test_kill_9_at_any_moment_then_a_run_equals_a_fresh_one(repo, tmp_path, where):
    for number in range(60):
        repo.write(f"many/f{number}.py", f"def f{number}():\n" + "    call()\n" * 20)
    folder = tmp_path / "killed"
    done = run_python(KILLED, where, str(repo.root), str(folder))
    assert done.returncode == -9, done.stderr
    with closing(Database(folder)) as db:
        parsed = db.value("SELECT count(*) FROM blob")
        summary = index(db, repo.root)
        assert summary.blobs == 63 - parsed
        if where == "parse 3":
            assert parsed > 0
        same_as_fresh(db, repo, tmp_path)


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import StoreError
from tests.indexing import configured

db = Database(Path(sys.argv[2]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    for step in Indexer(db, Path(sys.argv[1]), configured()).run():
        pass
except StoreError as error:
    print(error)
    sys.exit(7)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs resource limits")
@pytest.mark.parametrize("room", [20_000, 150_000])
def test_a_disk_that_fills_up_while_indexing(repo, tmp_path, room):
    for number in range(200):
        repo.write(f"many/f{number}.py", f"def f{number}():\n" + f"    call({number})\n" * 20)
    folder = tmp_path / "full"
    done = run_python(FULL_DISK, str(repo.root), str(folder), str(room))
    assert done.returncode == 7, done.stderr
    assert "Free some space" in done.stdout
    with closing(Database(folder)) as db:
        index(db, repo.root)
        same_as_fresh(db, repo, tmp_path)


def test_full_parses_everything_again_and_changes_nothing(repo, db, tmp_path):
    index(db, repo.root)
    before = canonical(db)
    summary = index(db, repo.root, full=True)
    assert (summary.blobs, summary.changed) == (3, 0)
    assert canonical(db) == before


def test_a_new_extractor_parses_again(repo, db, monkeypatch):
    index(db, repo.root)
    before = canonical(db)
    db.execute("UPDATE blob SET parsed_by = 'older'")
    assert index(db, repo.root).blobs == 3
    assert canonical(db) == before


def test_passages_made_in_another_way_are_made_again(repo, db):
    index(db, repo.root)
    before = canonical(db)
    db.set_meta("passage_version", "older")
    db.execute("UPDATE passage SET title = 'as it was'")
    summary = index(db, repo.root)
    assert (summary.blobs, summary.changed) == (0, 0)
    assert canonical(db) == before


def test_paths_move_only_what_they_name(repo, db, tmp_path):
    index(db, repo.root)
    repo.write("src/a.py", "x = 1\n")
    repo.write("src/b.py", "x = 2\n")
    repo.write("src/new.py", "x = 3\n")
    summary = index(db, repo.root, paths=["src/a.py"])
    assert summary.changed == 1
    assert "src/new.py" not in now(db)
    index(db, repo.root, paths=[str(repo.root / "src")])
    same_as_fresh(db, repo, tmp_path)
    (repo.root / "src/new.py").unlink()
    repo.git("checkout", "-q", "src/a.py")
    index(db, repo.root, paths=["src/new.py", "src/../src/a.py"])
    same_as_fresh(db, repo, tmp_path)


def test_paths_do_not_pretend_that_head_was_indexed(repo, db, tmp_path):
    index(db, repo.root)
    old = db.get_meta("indexed_head")
    repo.write("src/a.py", "x = 1\n")
    repo.write("src/b.py", "y = 1\n")
    repo.commit()
    index(db, repo.root, paths=["src/a.py"])
    assert db.get_meta("indexed_head") == old
    index(db, repo.root)
    same_as_fresh(db, repo, tmp_path)


def test_a_path_of_another_checkout_brings_the_whole_of_it(repo, db, tmp_path):
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", str(repo.root), ".")
    clone.write("src/a.py", "x = 1\n")
    clone.write("src/b.py", "y = 1\n")
    index(db, repo.root)
    index(db, clone.root, paths=["src/a.py"])
    same_as_fresh(db, clone, tmp_path)


def test_paths_outside_are_refused_and_unknown_ones_are_nothing(repo, db, tmp_path):
    index(db, repo.root)
    (repo.root / "out").symlink_to(tmp_path)
    for path in ("../x.py", "/etc/passwd", "src/../../x", "out/x.py", ".."):
        with pytest.raises(RefusedError):
            index(db, repo.root, paths=[path])
    assert index(db, repo.root, paths=["no/such.py"]).changed == 0


@pytest.mark.parametrize("exactly", [None, 4094, 4095, 4096])
def test_what_lies_too_deep_for_the_system_is_said(repo, db, exactly):
    """A path of 4,096 bytes and more cannot be opened by its name: it is made, and removed, step by step."""
    names = ["d" * 200] * 20
    if exactly:
        # The last but one folder ends just there; with the slash behind it, that is one more.
        left = exactly - len(str(repo.root))
        rest = left % 201 + 201
        names = ["d" * 200] * (left // 201 - 1) + ["d" * (rest // 2 - 1), "d" * (rest - rest // 2 - 1)]
    names.append("d" * 200)
    steps = [os.open(repo.root, os.O_RDONLY)]
    try:
        for name in names:
            os.mkdir(name, dir_fd=steps[-1])
            steps.append(os.open(name, os.O_RDONLY, dir_fd=steps[-1]))
        os.close(os.open("deep.py", os.O_WRONLY | os.O_CREAT, dir_fd=steps[-1]))
        assert exactly in (None, len(str(repo.root.joinpath(*names[:-1]))))
        index(db, repo.root)
        found = dict(db.rows("SELECT path, reason FROM skipped"))
        [(path, reason)] = [(p, r) for p, r in found.items() if p.startswith("d" * 200)]
        assert reason == "path of 4,096 bytes or more"
        assert path.endswith("/")
        assert len(f"{repo.root}/{path}") >= 4096
        assert Indexer(db, repo.root, Config()).plan().skipped["path of 4,096 bytes or more"] == 1
    finally:
        os.unlink("deep.py", dir_fd=steps[-1])
        for name, above in zip(reversed(names), reversed(steps[:-1]), strict=True):
            os.rmdir(name, dir_fd=above)
        for step in steps:
            os.close(step)


def test_a_plan_and_a_run_go_on_beside_a_folder_that_cannot_be_listed(repo, db, tmp_path, monkeypatch):
    """Git's library gives up on a whole folder without git when one in it cannot be listed, such as one of /proc."""
    plain = tmp_path / "plain"
    (plain / "inner").mkdir(parents=True)
    (plain / "a.py").write_text("def one(): pass\n")
    (plain / "inner" / "b.py").write_text("def two(): pass\n")
    (plain / "inner" / "c.log").write_text("no\n")
    (plain / ".gitignore").write_text("*.log\n")

    def gives_up(_):
        raise PermissionError(13, "Permission denied", "/proc/1/map_files")

    before = Indexer(db, plain, Config()).plan()
    monkeypatch.setattr(pygit2.Repository, "status", gives_up)
    plan = Indexer(db, plain, Config()).plan()
    assert sorted(plan.added) == [".gitignore", "a.py", "inner/b.py"]
    assert plan == before
    assert index(db, plain).files == 3
    repo.write("src/new.py", "x = 1\n")
    assert "src/new.py" in Indexer(db, repo.root, Config()).plan().added


def test_paths_need_an_index(repo, db):
    with pytest.raises(NotIndexedError):
        index(db, repo.root, paths=["src/a.py"])


def test_since_must_exist(repo, db, tmp_path):
    with pytest.raises(NotFoundError):
        index(db, repo.root, since="nowhere")
    old = repo.git("rev-parse", "HEAD")
    repo.write("src/a.py", "x = 1\n")
    repo.commit()
    repo.write("src/new.py", "x = 1\n")
    (repo.root / "src/b.py").unlink()
    assert index(db, repo.root, since="HEAD").notes[0].startswith("2 files differ from HEAD")
    assert index(db, repo.root, since=old).notes[0].startswith(f"3 files differ from {old}")
    same_as_fresh(db, repo, tmp_path)


def test_two_clones_share_a_store_and_parse_once(repo, db, tmp_path):
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", str(repo.root), ".")
    assert identify(clone.root).folder == identify(repo.root).folder
    index(db, repo.root)
    clone.write("src/b.py", "only_here = 1\n")
    summary = index(db, clone.root)
    assert (summary.blobs, summary.changed) == (1, 1)
    assert db.get_meta("root") == str(clone.root)
    same_as_fresh(db, clone, tmp_path)
    index(db, repo.root)
    same_as_fresh(db, repo, tmp_path)


def test_a_partial_clone_takes_content_from_disk(repo, db, tmp_path):
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{repo.root}", ".")
    clone.git("checkout", "-q", "main")
    (repo.root / ".git").rename(tmp_path / "gone")
    index(db, clone.root)
    assert "src/a.py" in now(db)


def test_line_endings_that_git_converts_are_no_change(tmp_path, db):
    repo = Repo(tmp_path / "crlf")
    repo.git("config", "core.autocrlf", "true")
    repo.write("a.py", "x = 1\r\ny = 2\r\n")
    repo.commit()
    index(db, repo.root)
    assert db.rows("SELECT * FROM worktree") == []
    same_as_fresh(db, repo, tmp_path)


def test_only_the_mode_changed(repo, db, tmp_path):
    index(db, repo.root)
    (repo.root / "src/a.py").chmod(0o755)
    assert index(db, repo.root).changed == 0
    repo.commit()
    assert index(db, repo.root).changed == 0
    same_as_fresh(db, repo, tmp_path)


def test_the_store_below_the_root_does_not_index_itself(repo, tmp_path, monkeypatch):
    monkeypatch.setenv("CM_HOME", str(repo.root / ".home"))
    folder = identify(repo.root).folder
    repo.write(".home/data/x.py", "x = 1\n")
    with closing(Database(folder)) as db:
        index(db, repo.root)
        assert not any(path.startswith(".home/data") for path in now(db))
        assert index(db, repo.root).changed == 0


def test_a_store_says_whose_it_is_once_the_project_is_indexed(repo):
    identity = identify(repo.root)
    with closing(Database(identity.folder)) as db:
        assert not identity.is_indexed
        index(db, repo.root)
    assert identity.is_indexed
    card = json.loads((identity.folder / "project.json").read_text())
    assert card == {"identity": identity.text, "name": "app", "root": str(repo.root)}


def test_many_files_use_processes_and_order_does_not_depend_on_them(tmp_path, db, monkeypatch):
    monkeypatch.setattr(pools, "SMALL_BYTES", 1000)
    monkeypatch.setattr(pools, "BATCH_BYTES", 1000)
    repo = Repo(tmp_path / "many")
    for number in range(60):
        repo.write(f"f{number:03}.py", f"def f{number}():\n" + "    call()\n" * 20)
    repo.commit()
    index(db, repo.root, configured(workers=2))
    with closing(Database(tmp_path / "single")) as single:
        index(single, repo.root, configured(workers=1))
        for table in ("blob", "symbol", "reference", "chunk", "head_file", "passage"):
            assert db.rows(f"SELECT * FROM {table}") == single.rows(f"SELECT * FROM {table}")
