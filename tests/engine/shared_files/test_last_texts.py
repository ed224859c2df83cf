"""What somebody began with who saves a file is known by its last texts, however many there were."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.shared_files import last_texts
from cm_tui.engine.shared_files.last_texts import LastTexts
from tests.tiers import examples

LINES = st.lists(st.text("abc ", min_size=1, max_size=8), max_size=6)


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LastTexts:
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    return LastTexts(tmp_path / "note.md")


def text_of(number: int) -> str:
    return "".join(f"line {row}\n" for row in range(number))


@settings(max_examples=examples(60), deadline=None)
@given(kept=st.lists(LINES, min_size=1, max_size=8))
def test_texts_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, kept: list[list[str]]):
    folder = tmp_path_factory.mktemp("texts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(folder))
        found = LastTexts(folder / "note.md")
        expected: list[str] = []
        for lines in kept:
            text = "\n".join(lines)
            found.add(text)
            expected += [text] if expected[-1:] != [text] else []
        assert [one.text for one in found.all()] == expected
        assert found.last() == expected[-1]


def test_an_editor_that_was_opened_a_hundred_writes_ago_is_understood(texts: LastTexts):
    for number in range(1, 130):
        texts.add(text_of(number))
    base = texts.base_of(text_of(20) + "mine\n")
    assert base is not None
    assert base.text == text_of(20)


def test_the_older_are_thinned_out_and_the_last_stay(texts: LastTexts, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(last_texts, "_MOST_TEXTS", 40)
    for number in range(1, 200):
        texts.add(text_of(number))
    kept = [one.text.count("\n") for one in texts.all()]
    assert len(kept) <= 40
    assert kept[-10:] == [*range(190, 200)]
    assert kept[0] == 1, "the oldest is what somebody began with who knows nothing of the others"


def test_texts_beyond_the_ceiling_go(texts: LastTexts, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(last_texts, "_MOST_CHARACTERS", 3_000)
    for number in range(20):
        texts.add(f"{number}" * 1_000)
    assert sum(len(one.text) for one in texts.all()) <= 4_000
    assert texts.last() == "19" * 1_000
    texts.add("x" * (last_texts.MOST_BYTES + 1))
    assert texts.all() == []


def test_a_line_that_both_changed_is_taken_for_one_that_was_not_seen(texts: LastTexts):
    texts.add("port 1\nend\n")
    texts.add("port 2\nend\n")
    base = texts.base_of("quite something else\nend\n")
    assert base is not None
    assert base.text == "port 1\nend\n"


def test_a_line_that_was_clearly_made_of_the_last_one_was_seen(texts: LastTexts):
    texts.add("The gateway is slow at night.\nend\n")
    texts.add("The router of the office listens on port 8123 since May.\nend\n")
    assert texts.base_of("The router of the office listens on port 8124 since May.\nend\n") is None


def test_who_goes_on_with_what_they_saved_is_understood(texts: LastTexts):
    texts.add("a\n")
    texts.add("a\nfrom an agent\n")
    texts.add("a\nmine\n")
    texts.add("a\nfrom an agent\nmine\n", put_back=True)
    base = texts.base_of("a\nmine\nmore\n")
    assert base is not None
    assert base.text == "a\nmine\n"
    assert texts.base_of("a\nmine\n") is None, "saved away a second time"
    base = texts.base_of("a\n")
    assert base is not None, "what they began with, but not what they saved last"
