"""What of a journal is torn is told, with file and line, by all who look after it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.journal.integrity import check
from cm_tui.engine.platform.journal.journal import Journal
from tests.gitrepo import Repo


@pytest.fixture
def root(tmp_path: Path) -> Path:
    repo = Repo(tmp_path / "repo")
    repo.write("a.py", "def f():\n    pass\n")
    repo.commit()
    return repo.root


def file_of(root: Path) -> Path:
    return Journal.of(root).folder / "000001.jsonl"


def tear(root: Path, rubbish: bytes = b'{"id": "x"') -> None:
    with file_of(root).open("ab") as stream:
        stream.write(rubbish)


def test_a_whole_journal_gives_no_complaint(root: Path):
    assert check(root).complaint == ""
    for _ in range(3):
        Journal.of(root).append("note", {})
        assert check(root).complaint == ""
    assert check(root).events == 3


def test_torn_lines_are_named_with_file_and_line_as_they_come(root: Path):
    journal = Journal.of(root)
    journal.append("note", {})
    tear(root)
    # The last one is torn, as nobody is writing it.
    for _ in range(2):
        found = check(root)
        assert (found.events, found.problems) == (1, 1)
        assert found.locations == (f"{file_of(root)}, line 2: torn",)
    journal.append("note", {})
    assert check(root).locations == (f"{file_of(root)}, line 2: not JSON",)
    tear(root, b"\n".join([b"rubbish", b"[]", b"{}", b"7"]) + b"\n")
    found = check(root)
    assert (found.events, found.problems) == (2, 5)
    assert "000001.jsonl, line 5: not an event" in found.complaint
    assert "5 lines of the journal" in found.complaint
    assert "and 2 more" in found.complaint
    assert len(list(journal.read())) == 2


def test_a_journal_that_was_removed_is_looked_at_anew(root: Path):
    Journal.of(root).append("note", {"text": "long"})
    tear(root)
    assert check(root).problems == 1
    shutil.rmtree(Journal.of(root).folder)
    assert check(root).problems == 0
    Journal.of(root).append("note", {})
    assert (check(root).events, check(root).problems) == (1, 0)


def test_doctor_and_status_tell_of_it(root: Path):
    with Engine.open(root) as engine:
        list(engine.index())
        Journal.of(root).append("note", {})
        assert {check.name: check.state for check in engine.doctor()}["journal"] == "ok"
        assert not any("journal" in note for note in engine.status().notes)
        tear(root)
        check = next(check for check in engine.doctor() if check.name == "journal")
        assert check.state == "warning"
        assert f"{file_of(root)}, line 2: torn" in check.message
        assert check.mend
        assert any(f"{file_of(root)}, line 2" in note for note in engine.status().notes)
