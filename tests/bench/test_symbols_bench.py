"""The comparison with ctags: what counts as found, as missing and as ours alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cm_tui.bench import symbols
from cm_tui.bench.symbols import Definition, compare
from cm_tui.errors import CmError


def test_each_of_ours_is_found_once_and_a_prototype_is_no_error():
    ours = [Definition("function", "f", 1, 3), Definition("function", "g", 9, 9), Definition("type", "only", 5, 6)]
    theirs = [Definition("function", "f", 2, 2), Definition("function", "f", 3, 3), Definition("type", "lost", 8, 8)]
    result = compare(ours, theirs, [Definition("function", "g", 9, 9)])
    assert result.found == [theirs[1]] or result.found == [theirs[0]]
    assert len(result.missing) == 2
    assert [one.name for one in result.confirmed] == ["f", "g"]
    assert [one.name for one in result.extra] == ["only"]


def test_without_ctags_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(CmError, match="Universal Ctags is not installed"):
        symbols.main(["--path", str(tmp_path)])


@pytest.mark.skipif(shutil.which("ctags") is None, reason="no ctags here")
def test_a_folder_is_compared(tmp_path: Path, capsys):
    (tmp_path / "a.c").write_text("struct box {\n  int a;\n};\nint f(void) { return 1; }\n")
    assert symbols.main(["--path", str(tmp_path)]) == 0
    assert "| c | 1 | 2 | 2 | 1.0 | 2 | 2 | 1.0 |" in capsys.readouterr().out
