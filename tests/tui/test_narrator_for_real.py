"""Narrator over the real engine: sessions are read, their lesson is decided by keys, and is in the notes, or not any more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.model import ModelCost, NarratedFilter
from cm_tui.tui.modes.episodes.screen import EpisodesScreen
from cm_tui.tui.modes.review.screen import ReviewScreen
from tests.engine.narrator.passes import put, said, sayings, use
from tests.tui.mode_driver import Driver, driving

NOTE = ".cm/notes/project.md"
WORDS = (
    "close files", "escape markup", "count cells", "name things plainly", "measure first", "write tests", "read the log",
    "ask before deleting", "prefer small functions", "sort imports", "use parameters", "check types", "squash commits",
    "greet customers", "log in english", "round half up", "store cents", "quote paths", "pin versions", "sign tags",
    "review diffs", "cache results",
)  # fmt: skip


@pytest.fixture
def taught(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, in whose sessions the narrator finds what a person says."""
    use(monkeypatch, sayings)
    # No language model is meant here, whatever the settings of this machine say.
    monkeypatch.setattr(Engine, "narrator_cost", lambda _: ModelCost())
    return project


def teach(root: Path, words: Sequence[str]) -> None:
    turns = [
        # The same prompt in two sessions would be said once.
        (
            place * 100 + session,
            said(f"always {one}", f"s{session}", session + 1.0, turn=place + 1, also=f"In session {session}."),
        )
        for place, one in enumerate(words)
        for session in range(3)
    ]
    put(root, turns)


def screen_of(driver: Driver) -> ReviewScreen:
    screen = driver.app.screen_stack[0]
    assert isinstance(screen, ReviewScreen)
    return screen


def texts(driver: Driver) -> list[str]:
    return [getattr(row, "text", "?") for row in screen_of(driver).proposals.rows]


async def test_a_pass_proposes_and_twenty_are_decided_in_a_row_and_written_as_they_were_shown(taught: Path):
    teach(taught, WORDS)
    async with driving(taught, mode="7") as driver:
        assert "No proposals" in " ".join(driver.text.replace("│", " ").split())
        await driver.press("n")
        assert {f"always {one}" for one in WORDS} <= {*texts(driver)}
        assert any(f"{3 * len(WORDS)} episodes read" in words for words in driver.told)
        told = " ".join(row.content.plain for row in screen_of(driver).panel.lines.rows)
        assert "3× in 3 sessions" in told
        asked = screen_of(driver).item.text
        await driver.press("o")
        assert isinstance(driver.app.screen, EpisodesScreen)
        assert asked in driver.app.screen.story.episode.prompts
        await driver.press("1")
        await driver.until(lambda: f"{len(WORDS)} items wait" in driver.text)
        await driver.press("7")
        await twenty_are_decided_in_a_row(driver, taught)
    with Engine.open(taught) as engine:
        assert engine.narrated(NarratedFilter(("approved",))).total == 19


async def twenty_are_decided_in_a_row(driver: Driver, taught: Path) -> None:
    shown = texts(driver)
    for _ in range(20):
        await driver.pilot.press("a")
    await driver.settle()
    assert [words for words in driver.told if "▲" in words] == []
    assert texts(driver) == shown[20:]
    written = (taught / NOTE).read_text(encoding="utf-8")
    assert [one for one in shown[:20] if f"- {one} <!-- cm:narrator" not in written] == []
    assert [one for one in shown[20:] if one in written] == []
    await driver.press("x", "1", "d")
    assert not texts(driver)
    await driver.press("u", "u")
    assert {*texts(driver)} == {*shown[20:]}
    await driver.press("u")
    assert shown[19] not in (taught / NOTE).read_text(encoding="utf-8")


async def test_a_note_that_was_changed_meanwhile_is_shown_again_and_nothing_is_written(taught: Path):
    teach(taught, WORDS[:2])
    note = taught / NOTE
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("# Project\n\n## Rules\n\n- Be kind.\n", encoding="utf-8")
    async with driving(taught, mode="7") as driver:
        await driver.press("n")
        one = screen_of(driver).item
        changed = f"# Project\n\n## Rules\n\n- Be kind.\n- {one.text}\n"
        note.write_text(changed, encoding="utf-8")
        await driver.press("a")
        assert note.read_text(encoding="utf-8") == changed
        assert any("was not changed, marked ▲" in words for words in driver.told)
        assert one.text in texts(driver)


async def test_a_note_that_may_be_written_again_is_written_at_the_next_key(taught: Path):
    teach(taught, WORDS[:1])
    note = taught / NOTE
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("# Project\n", encoding="utf-8")
    note.chmod(0o444)
    async with driving(taught, mode="7") as driver:
        await driver.press("n")
        one = screen_of(driver).item
        await driver.press("a")
        assert any("is read-only" in words for words in driver.told)
        note.chmod(0o644)
        await driver.press("a")
        assert one.text in note.read_text(encoding="utf-8")


async def test_topics_are_made_split_retired_and_come_back(project: Path):
    topics = project / ".cm/notes/topics"
    topics.mkdir(parents=True)
    (topics / "shop.md").write_text(
        "---\ntags: [money, tax]\n---\n# Shop\n\n## Cents\n\n- Whole numbers.\n\n## Opening\n\n- At nine.\n",
        encoding="utf-8",
    )
    async with driving(project, mode="7") as driver:
        await driver.press("t")
        assert screen_of(driver).topics.topic.title == "Shop"
        await driver.press("S", "space", "ctrl+s")
        assert (topics / "cents.md").is_file(), driver.told
        assert "Whole numbers" not in (topics / "shop.md").read_text()
        await driver.press("u")
        assert not (topics / "cents.md").exists()
        assert "Whole numbers" in (topics / "shop.md").read_text()
        await driver.press("c")
        await driver.type("Router #net")
        await driver.press("enter")
        assert screen_of(driver).topics.topic.title == "Router"
        await driver.press("D", "y")
        assert not (topics / "router.md").exists()
        assert screen_of(driver).topics.topic.retired
        await driver.press("D")
        assert (topics / "router.md").is_file()
