"""Search and Episodes ask all projects: hits name theirs, are read, and cannot be changed."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.widgets import Input

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.everywhere import EverywhereResult, recall_everywhere
from cm_tui.tui.modes.episodes.screen import EpisodesScreen
from cm_tui.tui.modes.search.screen import SearchScreen
from cm_tui.tui.screens import everywhere
from cm_tui.tui.screens.everywhere import EverywhereScreen
from cm_tui.tui.widgets.sourcelist import ProseList
from tests.tui.mode_driver import Driver, driving, make_project
from tests.tui.recorded_sessions import record


@pytest.fixture
def other(project: Path, tmp_path: Path) -> Path:
    """Another project, which remembers something; this one does too."""
    root = make_project(tmp_path / "harbour")
    with Engine.open(root) as engine:
        list(engine.index())
        record(root, "why do the boats leak", answer="The planks are dry: wet them before the season.")
        engine.remember("Boats are caulked in spring.", title="Caulking")
        engine.append_note("Canvas sails are mended with waxed thread.", name="sailmaking.md")
    with Engine.open(project) as engine:
        list(engine.index())
        engine.remember("Boats of paper need no caulking.", title="Paper")
    with Engine.open(make_project(tmp_path / "desert")) as engine:
        list(engine.index())
    return root


def text_of(screen: EverywhereScreen) -> str:
    return "\n".join(row.text for row in screen.query_one(ProseList).rows)


async def asked(driver: Driver) -> EverywhereScreen:
    await driver.press("S")
    screen = driver.app.screen
    assert isinstance(screen, EverywhereScreen)
    return screen


def projects_whose_folders_are_gone_are_named_in_one_line(other: Path, project: Path) -> None:
    for name in ("harbour", "desert"):
        (other.parent / name).rename(other.parent / f"{name}-elsewhere")
    with Engine.open(project) as engine:
        found = recall_everywhere("boats", 5, None, lambda _: nullcontext(engine))
    (note,) = [note for note in found.notes if "skipped" in note]
    assert {*note.partition(" are skipped: ")[0].split(", ")} == {"harbour", "desert"}
    assert note.endswith("their folders are no longer there.")
    assert found.projects == 1


async def test_search_and_episodes_ask_all_projects_and_read_what_they_remember(other: Path, project: Path) -> None:
    with Engine.open(other) as engine:
        before = [entry.content for entry in engine.entries().rows]
    async with driving(project) as driver:
        await driver.press("2", "slash")
        await driver.type("boats")
        await driver.press("escape")
        screen = await asked(driver)
        await driver.until(lambda: len(screen.list.rows) == 3)
        assert "Everywhere · 3 hits of 3 projects" in driver.text
        assert "holds none" not in driver.text, "one of them remembers nothing"
        names = {row.project.name for row in screen.list.rows}
        assert names == {other.name, project.name}
        assert [row.hit.rank for row in screen.list.rows] == [1, 2, 3]
        assert other.name in driver.text
        place = next(n for n, row in enumerate(screen.list.rows) if row.hit.source == "episode")
        screen.list.cursor = place
        await driver.until(lambda: "wet them before" in text_of(screen))
        await driver.press("enter", "d", "e", "p", "u")
        assert driver.app.screen is screen, "no key changes anything here"
        await driver.press("escape", "slash")
        await driver.type("paper")
        await driver.until(lambda: bool(screen.list.rows) and screen.list.rows[0].project.name == project.name)
        await driver.until(lambda: "Boats of paper" in text_of(screen))
        await driver.press("slash", *["backspace"] * 10)
        await driver.type("sails")
        await driver.until(lambda: "sailmaking  note" in driver.text)
        await driver.press("enter", "S")
        assert isinstance(driver.app.screen, SearchScreen)
        driver.app.screen.query_input.show_query("boats\nof paper")
        screen = await asked(driver)
        assert screen.query_one(Input).value == "boats of paper"
        await driver.press("escape", "escape")
        await episodes_asks_all_projects_for_the_words_of_its_filter(driver, other)
    with Engine.open(other) as engine:
        assert [entry.content for entry in engine.entries().rows] == before
    projects_whose_folders_are_gone_are_named_in_one_line(other, project)


async def episodes_asks_all_projects_for_the_words_of_its_filter(driver: Driver, other: Path) -> None:
    await driver.press("5")
    screen = await asked(driver)
    assert "Type a query for all projects" in driver.text
    assert screen.query_one(Input).has_focus
    await driver.press("escape", "slash")
    await driver.type("leak outcome:unsaid")
    await driver.press("enter")
    assert driver.app.screen.filter_input.has_focus, "nothing here matches: it is typed on"
    await driver.press("escape")
    screen = await asked(driver)
    await driver.until(lambda: bool(screen.list.rows))
    assert {(row.project.name, row.hit.source) for row in screen.list.rows} == {(other.name, "episode")}
    await driver.press("escape")
    assert isinstance(driver.app.screen, EpisodesScreen)
    assert driver.app.screen.filter_input.value == "leak outcome:unsaid"


async def test_an_answer_that_does_not_come_is_explained_and_no_longer_waited_for(project: Path, monkeypatch) -> None:
    """The limits pass at once, while a daemon that was stopped still holds the request."""
    release, asked_for = threading.Event(), []

    def silent(question: str, *_: object) -> EverywhereResult:
        asked_for.append(question)
        release.wait(60)
        return EverywhereResult(projects=3)

    monkeypatch.setattr(everywhere, "recall_everywhere", silent)
    try:
        async with driving(project) as driver:
            await driver.press("2")
            await driver.type("boats")
            await driver.press("escape")
            await driver.pilot.press("S")
            await driver.until(lambda: "Asking… for at most 60 s; Esc stops" in driver.text)
            await driver.pilot.press("escape")
            await driver.until(lambda: isinstance(driver.app.screen, SearchScreen))
            monkeypatch.setattr(everywhere, "LONGEST_S", 0.01)
            await driver.pilot.press("S")
            await driver.until(lambda: "The daemon may be busy or stopped" in driver.text)
            release.set()
            await driver.settle()
            assert "of 3 projects" not in driver.text, "it was given up"
            assert asked_for == ["boats", "boats"]
    finally:
        release.set()
