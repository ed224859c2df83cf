"""Keys that are typed in one go, faster than the application answers: each one goes where the one before has led to."""

from __future__ import annotations

import asyncio

import pytest
from textual import events

from cm_tui.tui.screens import typed_keys
from tests.tui.mode_driver import PATIENCE, Driver, driving, each
from tests.tui.test_pack_mode import LOAD, MAKE
from tests.tui.textual_speed import strips_of
from tests.tui.written_memory import write_memory


async def type_ahead(driver: Driver, *keys: str) -> None:
    """Give all keys at once, as a terminal does that was slow to send them."""
    for key in keys:
        driver.app.post_message(events.Key(key, key if len(key) == 1 else None))
    await driver.settle()


async def a_key_after_one_that_leaves_a_mode_does_nothing_in_it(driver, project):
    await driver.press("P")
    driver.app.pack_selection.add([LOAD, MAKE])
    await driver.settle()
    await type_ahead(driver, "2", "d", "u")
    assert driver.app.current_mode == "search"
    assert driver.app.screen.query_input.value == "du"
    assert len(driver.app.pack_selection.items) == 2


async def words_after_the_key_to_the_query_are_typed_into_it(driver, project):
    await driver.press("2")
    await driver.type("store")
    await driver.press("escape")
    assert driver.app.screen.results.has_focus
    await type_ahead(driver, "slash", *"xadp")
    assert driver.app.screen.query_input.value == "xadp"
    assert not driver.app.pack_selection.items


async def a_letter_with_alt_is_not_typed(driver, project):
    await driver.anew("2")
    for key in ("alt+u", "alt+shift+u", "ctrl+alt+q"):
        driver.app.post_message(events.Key(key, key[-1]))
    await driver.pilot.press("x")
    await driver.settle()
    assert driver.app.screen.query_input.value == "x"


async def typing_is_undone_by_words_and_what_it_replaced_comes_back(driver):
    await driver.anew("2")
    query = driver.app.screen.query_input
    await driver.type("load stock")
    query.select_all()
    await driver.type("store")
    await driver.pilot.press("backspace")
    values = []
    for _ in range(6):
        await driver.press("ctrl+z")
        values.append(query.value)
    assert values == ["store", "load stock", "load ", "load", "", ""]


async def rows_that_are_passed_quickly_are_passed(driver, project):
    await driver.press("2")
    await driver.type("store")
    await driver.press("escape")
    third = driver.app.screen.results.rows[2]
    await type_ahead(driver, "down", "down", "a")
    assert [(one.path, one.start_line) for one in driver.app.pack_selection.items] == [(third.path, third.start_line)]


async def keys_while_messages_wait_for_long_are_late_and_not_lost(driver, project):
    await driver.press("2")
    done, list_ = asyncio.Event(), driver.app.screen.results
    list_.call_later(done.wait)
    list_.call_later(lambda: None)
    for key in "abc":
        driver.app.post_message(events.Key(key, key))
    async with asyncio.timeout(PATIENCE):
        while driver.app.screen.query_input.value != "abc":  # noqa: ASYNC110 - whatever else waits is not over here
            await asyncio.sleep(0)
    done.set()
    await driver.settle()


@pytest.mark.deep
async def test_keys_that_are_typed_ahead_go_where_the_ones_before_led_to(project):
    await each(
        project,
        a_key_after_one_that_leaves_a_mode_does_nothing_in_it,
        words_after_the_key_to_the_query_are_typed_into_it,
        a_letter_with_alt_is_not_typed,
        rows_that_are_passed_quickly_are_passed,
        keys_while_messages_wait_for_long_are_late_and_not_lost,
    )


async def test_words_wait_for_a_mode_that_takes_long_to_open_and_its_keys_are_listed(project, monkeypatch):
    passed = [0.0]
    monkeypatch.setattr(typed_keys, "monotonic", lambda: passed[0])
    async with driving(project, size=(120, 40)) as driver:
        make = driver.app._modes["search"]

        def slowly():
            passed[0] += 60.0
            return make()

        driver.app._modes["search"] = slowly
        await type_ahead(driver, "enter", *"sync")
        assert driver.app.screen.query_input.value == "sync"
        assert not driver.told
        bar = driver.text_in("KeyBar")
        assert all(entry in bar for entry in ("esc Leave the input", "f12 Help", "^n Tune", "^p Commands"))
        assert "a Pack" not in bar
        await driver.type("store")
        await driver.press("escape")
        assert "a Pack" in driver.text_in("KeyBar")
        await driver.anew("2")
        await driver.type("frobnicate record")
        screen = driver.app.screen
        assert screen.hit.symbol != "frobnicate_record"
        (project / "src/frob.py").write_text("def frobnicate_record(x):\n    return x\n")
        await driver.press("ctrl+r")
        await driver.until(lambda: screen.hit.symbol == "frobnicate_record")
        assert screen.query_input.has_focus
        await typing_is_undone_by_words_and_what_it_replaced_comes_back(driver)


LEAVES = {"quit", "projects", "edit", "outside", "resume", "theme", "palette"}
"""Commands that open another program or another part of Textual."""
STANDS = {"app.overview", "search.results", "health.check"}
"""Commands that lead to where the application is, or show that they run only as long as they do."""


def seen(driver: Driver) -> object:
    """Return what is on screen, with its colours, and the messages."""
    return driver.told, [[(part.text, str(part.style)) for part in strip] for strip in strips_of(driver.app.screen)]


@pytest.mark.deep
async def test_each_command_of_each_mode_changes_the_screen_or_says_why_not(told):
    write_memory(told)
    silent = []
    async with driving(told) as driver:
        for key in "123456789P":
            await driver.anew(key)
            screen = driver.app.screen
            for command in screen.all_commands if key == "1" else screen.mode_commands:
                if command.id in STANDS or command.id.partition(".")[2] in LEAVES:
                    continue
                await driver.anew(key)
                if key == "2":
                    await driver.type("load")
                await driver.press("escape")
                before, screen = seen(driver), driver.app.screen
                screen.run_command(command)
                await driver.settle()
                if driver.app.screen is screen and seen(driver) == before:
                    silent.append(command.id)
    assert not silent, " ".join(silent)
