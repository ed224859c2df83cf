"""Lines of source are counted as the index counts them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cm_tui import files
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.index.files import lines_of
from cm_tui.engine.search.embed import bundled
from cm_tui.errors import NotFoundError
from cm_tui.model import PackRequest
from tests.gitrepo import Repo

ODD = "a = 1\x0c\nb = '\u2028'\r\nc = '\x85\x0b'\n\n\ndef last():\n    return c\n"


def indexed(root: Path) -> Engine:
    engine = Engine.open(root)
    for _ in engine.index():
        pass
    return engine


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\n\nb", ["a", "", "b"]), ("a\x0cb\u2028c\n", ["a\x0cb\u2028c"])],
)
def test_only_line_feeds_end_lines(text, lines):
    assert lines_of(text) == lines


def test_separators_inside_a_file_do_not_shift_its_lines(tmp_path, cm_home):
    (tmp_path / "odd.py").write_text(ODD, encoding="utf-8", newline="")
    with indexed(tmp_path) as engine:
        (symbol,) = engine.definitions("last").rows
        assert engine.source("odd.py", symbol.start_line, symbol.end_line).text == "def last():\n    return c"
        assert "def last" in engine.pack("last").markdown
        (hit,) = [hit for hit in engine.search("last").hits if "def last" in hit.snippet]
        assert hit.snippet.split("\n")[symbol.start_line - hit.snippet_line] == "def last():"


def test_a_damaged_model_is_told_before_anyone_searches(tmp_path, cm_home, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("def a():\n    pass\n")
    indexed(project).close()
    folder = tmp_path / "model"
    shutil.copytree(bundled.bundled_folder(), folder)
    (folder / "model.onnx").write_bytes(b"torn")
    monkeypatch.setattr(bundled, "bundled_folder", lambda: folder)
    with Engine.open(project) as engine:
        status = engine.status()
        assert status.mode == "keyword"
        assert "damaged" in status.notes[0]
        summary = list(engine.index())[-1].summary
        assert summary.mode == "keyword"
        assert "damaged" in summary.notes[0]


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A folder beside the project, with what nobody may read through it."""
    folder = tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.py", "deep/b.py"):
        (folder / name).write_text("SECRET = 1\n")
    return folder


@pytest.fixture
def linked(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "project")
    for name in ("d/a.py", "d/deep/b.py", "a.py"):
        repo.write(name, f"INSIDE = {name!r}\n")
    repo.commit()
    repo.write("d/untracked.py", "INSIDE = 2\n")
    return repo


@pytest.mark.parametrize("stepwise", [True, False])
def test_a_folder_that_became_a_link_leads_nowhere(linked: Repo, beside: Path, monkeypatch, stepwise: bool):
    monkeypatch.setattr(files, "_STEPWISE", stepwise)
    (beside / "untracked.py").write_text("SECRET = 2\n")
    with indexed(linked.root) as engine:
        assert engine.source("d/deep/b.py").text == "INSIDE = 'd/deep/b.py'"
        assert not engine.source("d/deep/b.py").kept
        shutil.rmtree(linked.root / "d")
        (linked.root / "d").symlink_to(beside)
        for name in ("d/a.py", "d/deep/b.py"):
            found = engine.source(name)
            assert (found.text, found.kept, found.stale) == (f"INSIDE = {name!r}", True, True)
        with pytest.raises(NotFoundError, match="no longer exists"):
            engine.source("d/untracked.py")
        list(engine.index())
        for name in ("d/a.py", "d/deep/b.py", "d/untracked.py"):
            with pytest.raises(NotFoundError, match="not in the index"):
                engine.source(name)
        assert "SECRET" not in "".join(hit.snippet for hit in engine.search("SECRET INSIDE").hits)


@pytest.mark.parametrize("stepwise", [True, False])
def test_a_file_that_became_a_link_is_shown_as_it_was_and_said_to_be(
    linked: Repo, beside: Path, monkeypatch, stepwise: bool
):
    monkeypatch.setattr(files, "_STEPWISE", stepwise)
    with indexed(linked.root) as engine:
        (linked.root / "a.py").unlink()
        (linked.root / "a.py").symlink_to(beside / "a.py")
        found = engine.source("a.py")
        assert (found.text, found.kept, found.stale) == ("INSIDE = 'a.py'", True, True)
        pack = engine.pack_items([PackRequest("a.py", 1, 1, "a")])
        assert "its indexed text" in " ".join(pack.notes)
        assert "read from the file" not in " ".join(pack.notes)


def test_a_project_below_a_link_is_read(linked: Repo, tmp_path: Path):
    (tmp_path / "way").symlink_to(linked.root)
    with indexed(tmp_path / "way") as engine:
        (linked.root / "d/deep/b.py").write_text("INSIDE = 3\n")
        found = engine.source("d/deep/b.py")
        assert (found.text, found.stale, found.kept) == ("INSIDE = 3", True, False)
