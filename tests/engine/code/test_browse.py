"""Lines of source are counted as the index counts them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cm_tui.engine.code.browse import lines_of
from cm_tui.engine.embed import bundled
from cm_tui.engine.memory import Memory

ODD = "a = 1\x0c\nb = '\u2028'\r\nc = '\x85\x0b'\n\n\ndef last():\n    return c\n"


def indexed(root: Path) -> Memory:
    memory = Memory.open(root)
    for _ in memory.index():
        pass
    return memory


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\n\nb", ["a", "", "b"]), ("a\x0cb\u2028c\n", ["a\x0cb\u2028c"])],
)
def test_only_line_feeds_end_lines(text, lines):
    assert lines_of(text) == lines


def test_separators_inside_a_file_do_not_shift_its_lines(tmp_path, cm_home):
    (tmp_path / "odd.py").write_text(ODD, encoding="utf-8", newline="")
    with indexed(tmp_path) as memory:
        (symbol,) = memory.definitions("last").rows
        assert memory.source("odd.py", symbol.start_line, symbol.end_line).text == "def last():\n    return c"
        assert "def last" in memory.pack("last").markdown
        (hit,) = [hit for hit in memory.search("last").hits if "def last" in hit.snippet]
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
    with Memory.open(project) as memory:
        status = memory.status()
        assert status.mode == "keyword"
        assert "damaged" in status.notes[0]
        summary = list(memory.index())[-1].summary
        assert summary.mode == "keyword"
        assert "damaged" in summary.notes[0]
