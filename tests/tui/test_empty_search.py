"""A question that is typed where nothing is to be seen yet runs no command and writes nothing."""

from __future__ import annotations

import pytest

from tests.tui.mode_driver import Driver, driving


def query_of(driver: Driver) -> str:
    return driver.app.screen.query_one("#query").value


async def test_letters_become_a_question_and_are_no_commands(project):
    async with driving(project) as driver:
        # From the overview to search, and once more on the empty query.
        await driver.press("enter", "enter")
        await driver.type("report stats")
        assert query_of(driver) == "report stats"
        # A question without an answer is corrected where it was typed.
        await driver.press("ctrl+u")
        await driver.type("path:nowhere")
        await driver.press("enter")
        assert not driver.app.screen.results.rows
        await driver.type("/stem")
        assert query_of(driver) == "path:nowhere/stem"
        assert not driver.told
        assert not driver.app.screen.has_class("-tuning")
        driver.app.state_writer.flush()
    assert not (project / ".cm").exists()
    async with driving(project) as driver:
        # The question of last time is typed on.
        await driver.type("s")
        assert query_of(driver) == "path:nowhere/stems"
        await driver.press("f1")
        await letters_typed_on_over_an_empty_list_stay_in_its_input(driver)


async def letters_typed_on_over_an_empty_list_stay_in_its_input(driver: Driver) -> None:
    for mode, to_input in (("8", ()), ("6", ("slash",)), ("5", ("slash",)), ("7", ("slash",))):
        await driver.press(mode, *to_input, "enter", "down")
        # Each of these letters is a command of one of the modes.
        await driver.type("wns")
        typed = "wns"
        if mode != "8":
            # A prompt has sources: then Enter goes to them.
            await driver.press("enter")
            await driver.type("e")
            typed = "wnse"
        assert driver.app.screen is driver.app.screen_stack[0]
        assert driver.app.screen.focused.value == typed, mode
        await driver.press("escape", "escape")
    assert not driver.told


@pytest.mark.deep
async def test_numbers_are_saved_only_while_they_are_seen(project):
    async with driving(project, mode="2") as driver:
        await driver.type("report")
        await driver.press("enter", "t", "right", "t")
        assert driver.app.screen.session.tuned
        await driver.press("s")
        assert not (project / ".cm").exists()
        assert any("with t first" in words for words in driver.told)
        await driver.press("t", "s")
        assert (project / ".cm" / "config.toml").exists()
        assert any("config.toml" in words for words in driver.told)
