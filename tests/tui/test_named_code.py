"""Enter on a line of what is remembered opens the code that it names; of several names one is chosen first."""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.api.engine import Engine
from cm_tui.model import Mention
from cm_tui.tui.modes.episodes.screen import EpisodesScreen
from cm_tui.tui.modes.memory.screen import MemoryScreen
from cm_tui.tui.modes.symbols.screen import SymbolsScreen
from cm_tui.tui.screens.question import ListDialog
from cm_tui.tui.screens.small_lists import names_in
from tests.tui.mode_driver import Driver, driving
from tests.tui.recorded_sessions import record, sha_of_head

TEXT = "`make_store` is slow.\nThis line names nothing.\nsrc/service.py calls `Store.load`, and `load_all` is gone."


def mention(text: str) -> Mention:
    return Mention("symbol", text, 1, "alive", "a.py", 3)


def test_names_of_a_line_come_once_and_in_its_order() -> None:
    known = [mention(text) for text in ("load", "Store.load", "src/a.py", "a.py", "load", "")]
    assert [one.text for one in names_in("src/a.py has Store.load, and load", known)] == [
        "src/a.py",
        "Store.load",
        "load",
    ]
    assert names_in("loads of lib/src/a.pyc", known) == ()


async def test_enter_on_a_line_of_an_entry_or_a_story_opens_the_code(project: Path) -> None:
    with Engine.open(project) as engine:
        record(project, "why does src/remote.py sync", head=sha_of_head(project), answer="It does nothing yet.")
        list(engine.index())
        list(engine.backfill())
        engine.remember(TEXT, title="Stores")
    async with driving(project) as driver:
        await driver.press("6")
        screen = driver.app.screen
        assert isinstance(screen, MemoryScreen)
        await driver.press("down")
        await driver.until(lambda: screen.panel.item is not None and screen.panel._about.stale is not None)
        await driver.press("enter", "down", "enter")
        assert driver.app.screen is screen, "a line without a name leads nowhere"
        await driver.press("down", "enter")
        assert isinstance(driver.app.screen, ListDialog)
        assert "src/service.py" in driver.text
        await driver.press("escape")
        assert driver.app.screen is screen
        await driver.press("enter", "down", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, SymbolsScreen))
        await driver.until(lambda: "def load(self" in driver.text)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is screen)
        await driver.press("up", "up", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, SymbolsScreen) and "def make_store" in driver.text)
        await enter_on_a_line_of_a_story_opens_the_file_that_it_names(driver)


async def enter_on_a_line_of_a_story_opens_the_file_that_it_names(driver: Driver) -> None:
    await driver.press("5", "enter", "enter")
    screen = driver.app.screen
    assert isinstance(screen, EpisodesScreen)
    await driver.until(lambda: bool(screen.story._mentions))
    lines = screen.story.lines
    while not (lines.current and "src/remote.py" in lines.current.content.plain):
        await driver.press("down")
    await driver.press("enter")
    await driver.until(lambda: isinstance(driver.app.screen, SymbolsScreen) and "class Remote" in driver.text)
    await driver.press("escape")
    await driver.until(lambda: driver.app.screen is screen)
