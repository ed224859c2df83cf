"""Texts of topics: united, split, compressed, and no line lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator import note_blocks, topic_text
from cm_tui.engine.memory.narrator.note_blocks import new_head, with_head
from cm_tui.engine.memory.notes.note_text import front_matter

LINE = st.sampled_from(
    ["", "# One", "# Two", "## Rules", "## Fixes", "### Deep", "- use tabs", "- use spaces", "* run `just test`", "  and more", "Text.",
     "```", "~~~ sh", "Title", "=====", "| a | b |", "1. first", "- use tabs <!-- cm:narrator nabc -->", "---", "tags: [x]"]
)  # fmt: skip
TEXT = st.lists(LINE, max_size=14).map("\n".join)


def lines_of(text: str) -> set[str]:
    """Return the lines that say something, headings and rules under them aside."""
    parsed = topic_text.parse(text)
    sections = [parsed.whole, *(one for _, one in parsed.whole.all())]
    return {line.rstrip() for one in sections for line in one.body if line.strip()}


def names_of(text: str) -> set[str]:
    return {topic_text.plain(one.name) for _, one in topic_text.parse(text).whole.all()}


@given(TEXT)
def test_the_parts_of_a_note_are_its_text(text: str):
    assert topic_text.parse(text).text == text
    for section in topic_text.parse(text).whole.all():
        lines = section[1].body
        blocks = note_blocks.blocks(lines)
        made = [line for block in blocks for line in (*block.above, *block.lines)]
        assert made == lines[: len(made)]
        assert not "".join(lines[len(made) :]).strip()


@given(TEXT, TEXT)
def test_no_line_is_lost_when_two_become_one(one: str, two: str):
    text = topic_text.unite(one, two, "Other", ["x"])
    said = text.split("\n")
    for wanted in lines_of(one) | lines_of(two):
        assert any(wanted.lstrip("-*+ ") in line for line in said), wanted
    assert names_of(one) <= names_of(text)
    moved = topic_text.parse(two).content
    assert {topic_text.plain(section.name) for _, section in moved.all()} <= names_of(text)


@given(TEXT, st.sampled_from(["Rules", "fixes", "## Deep", "Two"]))
def test_no_line_is_lost_when_one_becomes_two(text: str, heading: str):
    halves = topic_text.split(text, [heading])
    before = sorted(line for line in text.split("\n") if line.strip())
    after = sorted(line for line in [*halves.rest.split("\n"), *halves.moved] if line.strip())
    assert after == before
    assert bool(halves.missing) == (not halves.moved)


@given(TEXT)
def test_compressing_keeps_all_that_is_said_and_all_marks(text: str):
    made, gone = topic_text.compress(text)
    assert topic_text.compress(made) == (made, 0)
    if not gone:
        assert made == text
    said = {note_blocks.bullet_words(line) for line in made.split("\n")}
    assert {note_blocks.bullet_words(line) for line in text.split("\n")} <= said
    assert set(note_blocks.MARK.findall(text)) == set(note_blocks.MARK.findall(made)) or not gone


def test_sections_of_one_heading_are_one_and_equal_lines_stand_once():
    stays = "---\ntitle: HTTP\ntags: [http]\n---\n\n# HTTP\n\nAbout.\n\n## Rules\n\n- a\n- b\n\n## Fixes\n\n- f\n"
    goes = "---\ntags: [router]\nevergreen: true\n---\n# Router\n\nHow it routes.\n\n## rules\n\n- b\n- c\n  more of c\n\n### Deep\n\n- d\n\n## Notes\n\n```\n- a\n```\n"
    assert topic_text.unite(stays, goes, "Router", ["http", "router"]) == (
        "---\ntitle: HTTP\ntags: [http, router]\nevergreen: true\n---\n\n# HTTP\n\nAbout.\n\n"
        "## Rules\n\n- a\n- b\n- c\n  more of c\n\n### Deep\n\n- d\n\n## Fixes\n\n- f\n\n"
        "## Router\n\nHow it routes.\n\n## Notes\n\n```\n- a\n```\n"
    )


def test_a_section_goes_with_what_stands_inside():
    text = "# T\n\n## A\n\n- a\n\n### A.1\n\n- deep\n\n## B\n\n- b\n"
    halves = topic_text.split(text, ["a", "A.1"])
    assert halves.rest == "# T\n\n## B\n\n- b\n"
    assert halves.moved == ["## A", "", "- a", "", "### A.1", "", "- deep", ""]
    assert halves.missing == ()
    assert topic_text.split(text, ["T", "C"]).missing == ("T", "C")


def test_only_bullets_that_say_the_same_are_made_one():
    text = (
        "## Commands\n\n- Run the tests with `pytest`. <!-- cm:narrator naaaaaa -->\n- Run migrations before a deploy.\n"
        "- Run migrations after a deploy.\n- Use `ruff`.\n- Use `Ruff`.\n- never use tabs\n- use tabs\n  here\n- use tabs\n"
        "- run tests with `pytest` <!-- cm:narrator nbbbbbb -->\n\n## Rules\n\n- run tests with `pytest`\n"
    )
    made, gone = topic_text.compress(text)
    assert gone == 1
    assert "- Run the tests" not in made
    assert "- run tests with `pytest` <!-- cm:narrator nbbbbbb --> <!-- cm:narrator naaaaaa -->\n" in made
    assert made.count("\n- ") == text.count("\n- ") - 1
    assert topic_text.compress(text, keep=lambda line: "pytest" in line) == (text, 0)


def test_bullets_are_taken_out_to_the_letter():
    text = "# P\n\n## Rules\n\n- a\n- b\n- a b\n\n## Fixes\n\n* b\n"
    assert topic_text.without_bullets(text, {"a"})[0] == text.replace("- a\n", "", 1)
    rest, moved = topic_text.without_bullets(text, {"b"})
    assert rest == "# P\n\n## Rules\n\n- a\n- a b\n\n## Fixes\n"
    assert moved == ["- b", "* b"]


def test_bullets_have_their_headings_and_lines():
    text = "---\ntitle: x\n---\n# P\n\n- loose\n\n## Rules\n\n- a\n- b\n  more\n\n```\n- code\n```\n1. c\n"
    assert list(topic_text.bullets(text)) == [("P", "loose", 6), ("Rules", "a", 10), ("Rules", "c", 17)]


@given(st.text(max_size=30), st.lists(st.text(min_size=1, max_size=12), max_size=4))
def test_front_matter_is_read_as_it_was_written(title: str, tags: list[str]):
    head = new_head(title, tags)
    read = front_matter(head)
    assert not read.problem
    title, *expected = (
        " ".join("".join(one if one.isprintable() else " " for one in text).split()) for text in (title, *tags)
    )
    assert read.title == title
    expected = [tag.strip().lstrip("#") for tag in expected]
    assert read.tags == tuple(dict.fromkeys(tag for tag in expected if tag))


def test_other_front_matter_stays_as_it_was():
    head = ["---", "# mine", "title: 'A'", "tags:", "  - old", "  - x", "globs: *.py", "---"]
    assert with_head(head, tags=["new"]) == ["---", "# mine", "title: 'A'", "tags: [new]", "globs: *.py", "---"]
    assert with_head([], tags=[]) == []
    assert with_head(["---", "a: 1", "---"], tags=["t"], also=["---", "a: 2", "b: 3", "date: 2026-01-01", "---"]) == [
        "---", "a: 1", "b: 3", "tags: [t]", "---",
    ]  # fmt: skip
