"""What a note says of itself, and what cannot be understood of it."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.notes.note_text import chunk_note, day_of_path, front_matter, headings, seconds_of
from cm_tui.engine.memory.notes.notes import MOST_BYTES, read_note
from cm_tui.engine.memory.notes.places import Places
from cm_tui.engine.memory.notes.scan import stamp_of
from cm_tui.model import Note
from tests.engine.notes.conftest import write
from tests.planted import GITHUB


def note_of(root: Path, path: str, text: str | bytes) -> Note:
    write(root, path, text)
    place = Places(root).place(path)
    stamp = stamp_of(place)
    assert stamp is not None
    return read_note(place, stamp).note


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("memory/2026-02-10-router.md", dt.date(2026, 2, 10)),
        ("memory/20260210.md", dt.date(2026, 2, 10)),
        ("memory/2026/02/10.md", dt.date(2026, 2, 10)),
        ("memory/2026-02/10-router.md", dt.date(2026, 2, 10)),
        ("memory/2026-02-10/router.md", dt.date(2026, 2, 10)),
        ("memory/2026-13-40.md", None),
        ("memory/1.2.3.md", None),
        ("memory/router.md", None),
    ],
)
def test_the_day_stands_in_the_name_or_the_folders(path: str, day: dt.date | None):
    assert day_of_path(path) == day


def test_the_front_matter_says_title_day_and_tags(root: Path):
    text = "---\ntitle: Router\ndate: 2026-02-10\ntags: [net, '#home']\n---\n# Other\n"
    note = note_of(root, ".cm/notes/a.md", text)
    assert (note.title, note.tags) == ("Router", ("net", "home"))
    assert note.time == seconds_of(dt.date(2026, 2, 10))
    assert note.problem == ""
    assert note_of(root, ".cm/notes/b.md", "---\nevergreen: true\ndate: 2026-02-10\n---\n").time is None
    assert note_of(root, "MEMORY.md", "---\ndate: 2026-02-10\n---\n").time is None


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("date: 2999-01-01", "in the future"),
        ("date: [1, 2]", "date in its front matter"),
        ("[not: a, mapping", "is not valid"),
        ("- a\n- b", "is not valid"),
        ("a: &a [*a]", ""),
        (f"{'[' * 900}", "is not valid"),
    ],
)
def test_front_matter_that_lies_is_told_and_not_believed(root: Path, said: str, problem: str):
    note = note_of(root, ".cm/notes/a.md", f"---\n{said}\n---\n# Title\n")
    assert note.time is None
    assert note.title == "Title"
    assert problem in note.problem


def test_rules_of_an_editor_are_read_though_they_are_no_yaml():
    found = front_matter(["---", "title: All files", "globs: *.py", "---"])
    assert (found.title, found.problem, found.lines) == ("All files", "", 4)


def test_aliases_in_front_matter_do_not_multiply():
    levels = [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 60)]
    assert front_matter(["---", "title: Bomb", "a0: &a0 {k: v}", *levels, "---"]).title == "Bomb"


def test_front_matter_without_an_end_is_text():
    assert front_matter(["---", "title: x", "text"]).lines == 0


def test_what_is_no_text_is_listed_with_its_problem(root: Path):
    assert "not UTF-8" in note_of(root, ".cm/notes/a.md", b"# caf\xe9\n").problem
    assert "not text" in note_of(root, ".cm/notes/b.md", b"\x00\x01").problem
    assert f"{MOST_BYTES:,}" in note_of(root, ".cm/notes/c.md", b"x" * (MOST_BYTES + 1)).problem
    assert note_of(root, ".cm/notes/d.md", "\ufeff# Café\r\n\r\ntext\r\n").title == "Café"


def test_passages_are_sections_of_whole_lines():
    text = "# Net\n\nIntro.\n\n## Router\n\nPort 8123.\n\n### Empty\n\n## Cable\n\n```\n# no heading\n```\n"
    chunks = list(chunk_note(text.split("\n")))
    assert [(one.start_line, one.end_line, one.heading) for one in chunks] == [
        (1, 3, "Net"), (5, 7, "Net › Router"), (11, 15, "Net › Cable"),
    ]  # fmt: skip


@given(st.lists(st.text(st.characters(exclude_characters="\n\r"), max_size=300), max_size=120))
def test_every_line_that_says_something_is_in_a_passage(lines: list[str]):
    chunks = list(chunk_note(lines))
    seen = {row for one in chunks for row in range(one.start_line, one.end_line + 1)}
    for one in chunks:
        assert one.text == "\n".join(lines[one.start_line - 1 : one.end_line])
    # Headings of nothing are left out, and so are the rules below them.
    titles = {row for one in headings(lines) for row in (one.row, one.row + 1)}
    assert all(row + 1 in seen for row, line in enumerate(lines) if line.strip().strip("=-") and row not in titles)


def test_pieces_of_a_long_section_share_lines_and_have_a_size():
    lines = ["# Long", *(f"line {number} says something of its own" for number in range(400))]
    chunks = list(chunk_note(lines))
    assert len(chunks) > 5
    for one, following in pairwise(chunks):
        assert one.start_line < following.start_line <= one.end_line
        shared = sum(len(line) + 1 for line in lines[following.start_line - 1 : one.end_line])
        assert shared <= 320
        assert len(one.text) <= 1600


@pytest.mark.parametrize(
    "said", ["a: !!bool x", "a: !!int ''", "a: !!timestamp foo", f"title: 0x{'f' * 3900}", "date: 0001-01-01"]
)
def test_no_front_matter_keeps_other_notes_from_being_read(root: Path, said: str):
    note = note_of(root, ".cm/notes/a.md", f"---\n{said}\n---\n# Title\n")
    assert note.id == ".cm/notes/a.md"
    assert note.time is None


def test_a_secret_in_a_title_or_a_tag_is_not_shown(root: Path):
    note = note_of(root, ".cm/notes/a.md", f"---\ntags: [{GITHUB}]\n---\n# The key {GITHUB}\n")
    assert GITHUB not in repr(note)


def test_a_long_line_takes_no_time_as_a_heading():
    for line in ("# a" + " " * 200_000 + "b", "# " + "[" * 200_000):
        assert len([*headings([line])]) <= 1
