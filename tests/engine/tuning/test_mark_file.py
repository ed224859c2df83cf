"""Marks: kept through edits of code and of the file itself, whoever writes, and whatever came with a clone."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.search.tuning.mark_file import MOST_MARKS, MarkFile
from cm_tui.errors import CmError, RefusedError, StoreError, UsageError
from cm_tui.model.profile import Mark, places_of

MARK = Mark("how is it paid", "shop/cart.py", "Cart.pay", 10, 20, True)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MarkFile:
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    return MarkFile(tmp_path / "project")


def test_what_was_put_is_read_and_taken_back(file: MarkFile):
    assert file.read().marks == []
    other = replace(MARK, question="  how   is it\nsent ", path="b.py", symbol=None, right=False)
    for mark in (MARK, other, MARK):
        assert file.put(mark) == ""
    assert file.read().marks == [MARK, replace(other, question="how is it sent")]
    file.put(replace(MARK, right=False, start_line=30, end_line=40))
    assert [(one.right, one.start_line) for one in file.read().marks] == [(False, 30), (False, 10)]
    file.remove(replace(MARK, start_line=1, end_line=1))
    file.remove(replace(MARK, path="elsewhere.py"))
    assert [one.path for one in file.read().marks] == ["b.py"]


def test_without_marks_there_is_no_file_unless_it_holds_something_else(file: MarkFile):
    file.put(MARK)
    file.remove(MARK)
    assert not file.path.exists()
    for other in ({"note": "ours"}, {"marks": ["no mark"]}):
        file.path.write_text(json.dumps({"marks": [], **other}))
        file.put(MARK)
        file.remove(MARK)
        assert json.loads(file.path.read_text()) == {"marks": [], "version": 1, **other}
        file.path.unlink()


def test_what_another_program_writes_while_the_last_mark_is_removed_stays(
    file: MarkFile, monkeypatch: pytest.MonkeyPatch
):
    file.put(MARK)
    text, write = file.path.read_text(), MarkFile.write

    def late(self: MarkFile, *given: Any) -> str:
        note = write(self, *given)
        file.path.write_text(text.replace(MARK.question, "of another program"))
        return note

    monkeypatch.setattr(MarkFile, "write", late)
    file.remove(MARK)
    assert [one.question for one in file.read().marks] == ["of another program"]


def test_a_mark_is_one_sorted_line_of_the_file(file: MarkFile):
    questions = ["c", "a", "ü \u2028 b", "b"]
    for question in questions:
        file.put(replace(MARK, question=question))
    lines = file.path.read_text(encoding="utf-8").split("\n")
    found = [json.loads(line.strip().rstrip(","))["question"] for line in lines if "question" in line]
    assert found == ["a", "b", "c", "ü b"]
    before = file.path.read_bytes()
    file.put(replace(MARK, question="bb"))
    new = [line for line in file.path.read_text(encoding="utf-8").split("\n") if line not in lines]
    assert len(new) == 1
    file.remove(replace(MARK, question="bb"))
    assert file.path.read_bytes() == before


def test_many_writers_at_once_lose_none(file: MarkFile):
    def write(number: int) -> None:
        for n in range(10):
            MarkFile(file.path.parent.parent).put(replace(MARK, question=f"question {number} {n}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(file.read().marks) == 40


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b'{"marks": 3}', b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_cannot_be_understood_is_kept_aside(file: MarkFile, text: bytes):
    file.path.parent.mkdir()
    file.path.write_bytes(text)
    content = file.read()
    assert content.marks == []
    assert "not valid" in content.notes[0]
    note = file.put(MARK)
    [kept] = file.path.parent.glob("marks.damaged-*.json")
    assert kept.read_bytes() == text
    assert kept.name in note
    assert file.read().marks == [MARK]


STRANGE = [
    3, None, [], {}, {"question": "x"}, {"question": "x", "path": "../../etc/passwd", "lines": [1, 2], "right": True},
    {"question": "x", "path": "/etc/passwd", "lines": [1, 2], "right": True},
    {"question": "x", "path": "a.py", "lines": [2, 1], "right": True},
    {"question": "x", "path": "a.py", "lines": [True, 2], "right": True},
    {"question": "x", "path": "a.py", "lines": [1, 10**30], "right": True},
    {"question": "x" * 3000, "path": "a.py", "lines": [1, 2], "right": True},
    {"question": "\udc00", "path": "a.py", "lines": [1, 2], "right": True},
    {"question": "x", "path": "a.py", "lines": [1, 2], "right": "yes"},
    {"question": "x", "path": "a.py", "symbol": 3, "lines": [1, 2], "right": True},
]  # fmt: skip


def test_what_a_stranger_wrote_is_taken_for_what_it_is_and_stays(file: MarkFile):
    file.path.parent.mkdir()
    good = {"question": "x", "path": "a.py", "lines": [1, 2], "right": True}
    file.path.write_text(json.dumps({"marks": [*STRANGE, good], "mine": {"a": 1}}))
    content = file.read()
    assert content.marks == [Mark("x", "a.py", None, 1, 2, True)]
    assert f"{len(STRANGE)} marks" in content.notes[0]
    file.put(MARK)
    after = json.loads(file.path.read_text())
    assert after["mine"] == {"a": 1}
    assert [item for item in after["marks"] if item in STRANGE] == STRANGE
    assert len(file.read().marks) == 2


def test_more_than_are_read_stay_and_no_more_are_written(file: MarkFile):
    file.path.parent.mkdir()
    many = [
        {"question": f"q {n:05}", "path": "a.py", "symbol": "a", "lines": [1, 2], "right": True}
        for n in range(MOST_MARKS + 5)
    ]
    file.path.write_text(json.dumps({"marks": many}))
    assert len(file.read().marks) == MOST_MARKS
    assert "were read" in file.read().notes[0]
    with pytest.raises(UsageError, match="already"):
        file.put(MARK)
    file.remove(file.read().marks[0])
    assert len(json.loads(file.path.read_text())["marks"]) == MOST_MARKS + 4


def test_refused(file: MarkFile, tmp_path: Path):
    with pytest.raises(RefusedError, match="secret"):
        file.put(replace(MARK, question="why is password = 'hunter2hunter2Hunter' refused, AKIAIOSFODNN7EXAMPLE"))
    for wrong in (
        replace(MARK, question=" "), replace(MARK, path="../x"), replace(MARK, path=""), replace(MARK, start_line=0),
        replace(MARK, end_line=3), replace(MARK, symbol=""), replace(MARK, path="a\0b"), replace(MARK, path="a\udcffb"),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            file.put(wrong)
    assert not file.path.exists()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "marks.json").write_text('{"marks": []}')
    file.path.parent.symlink_to(outside)
    for call in (file.read, lambda: file.put(MARK), lambda: file.remove(MARK)):
        with pytest.raises(RefusedError, match="link"):
            call()
    assert (outside / "marks.json").read_text() == '{"marks": []}'


def test_a_file_of_a_newer_version_is_not_written_over(file: MarkFile):
    file.path.parent.mkdir()
    file.path.write_text('{"version": 2, "marks": []}')
    with pytest.raises(StoreError, match="newer"):
        file.put(MARK)
    file.path.write_bytes(b" " * 3_000_000)
    with pytest.raises(CmError):
        file.read()


def test_a_place_is_found_again_when_lines_have_moved():
    places = [
        ("a.py", None, 1, 9),
        ("a.py", "A.b", 60, 80),
        ("a.py", "A.b", 100, 120),
        ("a.py", "c", 10, 20),
        ("b.py", "A.b", 60, 80),
    ]
    assert places_of(Mark("q", "a.py", "A.b", 65, 70, True), places) == [1, 2]
    assert places_of(Mark("q", "a.py", "A.b", 10, 20, True), places) == [1, 2]
    assert places_of(Mark("q", "a.py", "renamed", 11, 20, True), places) == [3]
    assert places_of(Mark("q", "a.py", None, 2, 10, True), places) == [0]
    assert places_of(Mark("q", "a.py", None, 500, 510, True), places) == []
    assert places_of(Mark("q", "c.py", "A.b", 60, 80, True), places) == []
