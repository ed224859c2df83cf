"""A file has one index, whether it is read from git or from disk."""

from contextlib import closing

import pytest

from cm_tui.engine.code.index import files
from cm_tui.engine.code.index.files import FileView
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from tests import indexing
from tests.gitrepo import Repo

TEXT = "# first\nclass Größe:\n    def berechnen(self):\n        return '$Id$'\n"
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 37\n"
CASES = {
    "plain": ("", TEXT.encode()),
    "crlf": ("", TEXT.replace("\n", "\r\n").encode()),
    "crlf, converted": ("*.py text eol=crlf", TEXT.replace("\n", "\r\n").encode()),
    "crlf, guessed": ("* text=auto", TEXT.replace("\n", "\r\n").encode()),
    "cr": ("", TEXT.replace("\n", "\r").encode()),
    "mark": ("", TEXT.encode("utf-8-sig")),
    "ident": ("*.py ident", TEXT.replace("$Id$", f"$Id: {'0' * 40} $").encode()),
    "latin-1": ("", TEXT.encode("latin-1")),
    "latin-1, attribute": ("*.py encoding=latin1", TEXT.encode("latin-1")),
    "cp437, attribute in a macro": ("[attr]old encoding=cp437\n*.py old", TEXT.encode("cp437")),
    "utf-16, mark": ("", TEXT.encode("utf-16")),
    "utf-16, attribute": ("*.py encoding=utf-16le", TEXT.encode("utf-16-le")),
    "working tree": ("*.py text working-tree-encoding=UTF-16", TEXT.encode("utf-16")),
    "working tree, no mark": ("*.py text working-tree-encoding=UTF-16LE", TEXT.encode("utf-16-le")),
    "working tree, crlf": (
        "*.py text working-tree-encoding=UTF-16LE eol=crlf",
        TEXT.replace("\n", "\r\n").encode("utf-16-le"),
    ),
    "working tree, and a line that says so": (
        "*.py text working-tree-encoding=shift_jis",
        TEXT.replace("# first", "# coding: shift_jis").replace("Größe", "合計").encode("shift_jis"),
    ),
    "working tree, folder": ("src/** working-tree-encoding=latin1", TEXT.encode("latin-1")),
    "filter": ("*.py filter=own", TEXT.encode()),
    "filter, large files": ("*.py filter=lfs -text", TEXT.encode()),
}


@pytest.fixture
def repo(tmp_path):
    repo = Repo(tmp_path / "app")
    repo.git("config", "filter.own.clean", "tr a-z b-za")
    repo.git("config", "filter.own.smudge", "tr b-za a-z")
    repo.git("config", "filter.lfs.clean", f"cat >/dev/null; printf '{POINTER}'")
    return repo


def rows(db):
    """Everything that is in the index about the files, without the names of contents."""
    queries = [
        "SELECT f.path, s.qualname, s.kind, s.signature, s.doc, s.start_line, s.end_line, s.body FROM symbol s",
        "SELECT f.path, s.* EXCLUDE (blob) FROM chunk s",
        "SELECT f.path, s.* EXCLUDE (blob) FROM reference s",
    ]
    found = [sorted(db.rows(f"{query} JOIN now_file f ON f.blob = s.blob"), key=repr) for query in queries]
    found.append(
        sorted(db.rows("SELECT f.path, b.language, b.lines, b.error FROM now_file f JOIN blob b ON b.id = f.blob"))
    )
    return [*found, sorted(indexing.skipped(db).items())]


@pytest.mark.few(5)
@pytest.mark.parametrize("case", CASES)
def test_clean_changed_and_changed_back_are_one(repo, tmp_path, case):
    attributes, data = CASES[case]
    repo.write(".gitattributes", f"{attributes}\n")
    file = repo.write("src/a.py", data)
    repo.commit()
    with closing(Database(tmp_path / "store")) as db:
        indexing.index(db, repo.root)
        clean = rows(db)
        classes = db.rows("SELECT s.name, s.start_line FROM symbol s WHERE s.kind = 'class'")
        assert classes == [("合計" if b"coding" in data else "Größe", 2)]
        view = FileView(db, ContentReader(Repository(repo.root, tmp_path / "shadow")))
        shown = view.source("src/a.py")
        assert shown.text.split("\n")[1].startswith("class ")
        assert not shown.stale
        file.write_bytes(data + data)
        indexing.index(db, repo.root)
        assert rows(db) != clean
        # Another time stamp: git has to compare the content.
        file.write_bytes(data)
        indexing.index(db, repo.root)
        assert rows(db) == clean
    with closing(Database(tmp_path / "other")) as db:
        (repo.root / ".git" / "index").unlink()
        repo.git("reset", "-q")
        indexing.index(db, repo.root)
        assert rows(db) == clean
    with closing(Database(tmp_path / "without git")) as db:
        (repo.root / ".git").rename(tmp_path / "git")
        indexing.index(db, repo.root)
        assert rows(db) == clean


@pytest.mark.parametrize("attributes", ["", "*.py filter=lfs -text"])
@pytest.mark.parametrize(
    "pointer",
    [
        POINTER,
        POINTER.replace("oid", "ext-0-foo sha256:00\noid"),
        POINTER.replace("https://git-lfs.github.com/spec/v1", "http://git-media.io/v/2"),
        "/annex/objects/SHA256E-s37--4d7a.py\n",
    ],
)
def test_a_pointer_is_no_code(repo, tmp_path, attributes, pointer):
    repo.write(".gitattributes", attributes)
    repo.write("a.py", pointer)
    # As in a clone without the program that fetches the content.
    repo.git("config", "filter.lfs.clean", "cat")
    repo.commit()
    with closing(Database(tmp_path / "store")) as db:
        indexing.index(db, repo.root)
        assert indexing.skipped(db) == {"a.py": "content is not in this clone"}
        assert not db.rows("SELECT * FROM symbol")
        repo.write("a.py", "def here(): pass\n")
        indexing.index(db, repo.root)
        assert db.rows("SELECT name FROM symbol") == [("here",)]
        assert indexing.skipped(db) == {}


def test_a_filter_is_never_run(repo, tmp_path):
    repo.write(".gitattributes", "*.py filter=own\n")
    repo.write("a.py", "def here(): pass\n")
    repo.commit()
    repo.git("config", "filter.own.clean", f"touch {tmp_path / 'ran'}; cat")
    repo.git("config", "filter.own.smudge", f"touch {tmp_path / 'ran'}; cat")
    repo.write("a.py", "def there(): pass\n")
    with closing(Database(tmp_path / "store")) as db:
        indexing.index(db, repo.root)
        assert db.rows("SELECT s.name FROM symbol s JOIN now_file f ON f.blob = s.blob") == [("there",)]
    assert not (tmp_path / "ran").exists()


def test_a_key_in_wide_letters_is_one(repo, tmp_path):
    repo.write("notes.txt", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n".encode("utf-16"))
    repo.write("image.txt", b"\xff\xfe\0\0\0\0\0\0\x01\xd8")
    repo.commit()
    with closing(Database(tmp_path / "store")) as db:
        indexing.index(db, repo.root)
        assert indexing.skipped(db) == {"image.txt": "binary", "notes.txt": "credentials"}


def test_a_file_whose_encoding_is_unknown_is_named(repo, tmp_path):
    repo.write("a.py", "def größe(): pass\n".encode("latin-1"))
    repo.commit()
    with closing(Database(tmp_path / "store")) as db:
        indexing.index(db, repo.root)
        [(error,)] = db.rows("SELECT error FROM blob")
        assert "not UTF-8" in error
        assert db.rows("SELECT name FROM symbol") == [("größe",)]


@pytest.mark.parametrize("form", ["--no-sparse-index", "--sparse-index"])
def test_files_of_a_sparse_checkout_are_named_and_counted(repo, tmp_path, form):
    for name in ("in/a.py", "out/b.py", "out/deep/c.py", "gone.py"):
        repo.write(name, "x = 1\n")
    repo.commit()
    repo.git("sparse-checkout", "init", "--cone", form)
    repo.git("sparse-checkout", "set", "in")
    (repo.root / "gone.py").unlink()
    with closing(Database(tmp_path / "store")) as db:
        indexing.index(db, repo.root)
        assert set(indexing.now(db)) == {"in/a.py"}
        assert indexing.skipped(db) == dict.fromkeys(["out/b.py", "out/deep/c.py"], "not checked out (sparse)")
        assert files.skipped(db).note == "2 files of HEAD are not checked out here: the checkout is sparse."
        repo.git("sparse-checkout", "disable")
        repo.write("gone.py", "x = 1\n")
        indexing.index(db, repo.root)
        assert indexing.skipped(db) == {}
        assert files.skipped(db).note == ""
