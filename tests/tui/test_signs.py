"""What takes long shows that it is being done, is not asked for twice, and opens nothing over what came to screen since."""

from __future__ import annotations

import threading
from pathlib import Path
from unittest import mock

import pytest

from cm_tui.engine.api.engine import Engine
from tests.tui.mode_driver import each


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch):
    """Have methods of the engine wait until the event is set that this returns."""
    events: list[threading.Event] = []

    def hold(name: str) -> threading.Event:
        method, goes_on = getattr(Engine, name), threading.Event()
        events.append(goes_on)

        def waits(engine: Engine, *words, **more):
            assert goes_on.wait(60)
            return method(engine, *words, **more)

        monkeypatch.setattr(Engine, name, waits)
        return goes_on

    yield hold
    for goes_on in events:
        goes_on.set()


def bottom(driver) -> str:
    return driver.text.splitlines()[-1]


async def why_a_command_is_not_possible_gives_way_to_the_keys_and_to_the_next_command(driver, held):
    await driver.anew("6")
    for size in ((80, 24), (120, 40), (200, 50)):
        await driver.resize(size)
        keys = bottom(driver)
        await driver.press("p")
        assert bottom(driver).lstrip().startswith("Pin: ")
        assert "Pin: " not in driver.text.replace(bottom(driver), "")
        await driver.press("1", "6")
        assert bottom(driver) == keys
    await driver.press("p")
    assert bottom(driver).lstrip().startswith("Pin: ")
    await driver.press("slash")
    assert "Pin: " not in bottom(driver)


async def a_list_that_comes_late_opens_over_nothing_else(driver, held):
    await driver.until(lambda: driver.app.project.status and driver.app.project.status.skipped)
    goes_on = held("skipped")
    await driver.pilot.press("s")
    await driver.pilot.press("f5")
    await driver.until(lambda: driver.app.current_mode == "episodes")
    goes_on.set()
    await driver.settle()
    assert len(driver.app.screen_stack) == 1
    assert driver.told == ["Skipped: result not shown, as you moved on. Repeat it to see it."]
    await driver.press("f1", "s")
    assert "logo.py" in driver.text
    await driver.press("escape")


async def a_list_that_comes_late_does_not_open_after_escape_or_another_command(driver, held):
    await driver.press("1")
    # The second of them is refused, and the last two are no other command.
    for meanwhile, opens in (("escape", False), ("x", False), ("b", False), ("s", True), ("down", True)):
        goes_on = held("skipped")
        await driver.pilot.press("s", meanwhile)
        await driver.until(lambda: driver.app.tasks.busy)
        goes_on.set()
        await driver.settle()
        assert ("logo.py" in driver.text) is opens, meanwhile
        assert ("Skipped: result not shown, as you moved on. Repeat it to see it." in driver.told) is not opens
        await driver.press("escape")
        driver.app.clear_notifications()


async def a_symbol_that_comes_late_leads_nowhere(driver, held):
    await driver.press("4")
    await driver.until(lambda: driver.app.screen.rows.rows)
    driver.app.screen.rows.focus()
    await driver.settle()
    goes_on = held("resolve")
    await driver.pilot.press("o")
    await driver.pilot.press("f5")
    await driver.until(lambda: driver.app.current_mode == "episodes")
    goes_on.set()
    await driver.settle()
    assert driver.app.current_mode == "episodes"
    assert driver.told == ["Open: result not shown, as you moved on. Repeat it to see it."]
    await driver.press("f4", "o")
    await driver.until(lambda: driver.app.current_mode == "symbols")


async def assembling(driver, held):
    await driver.press("8")
    goes_on = held("assemble")
    for key in ("l", "o", "a", "d"):
        await driver.pilot.press(key)
    await driver.until(lambda: driver.text.count("Assembling…") == 2)
    assert "Type a prompt to see" not in driver.text
    goes_on.set()
    await driver.settle()
    assert "Assembling…" not in driver.text
    assert driver.app.screen.shown is not None


async def saving_a_profile(driver, held):
    await driver.press("2")
    await driver.type("load")
    await driver.press("escape", "t", "down", "right")
    goes_on = held("save_profile")
    for _ in range(2):
        await driver.pilot.press("s")
    await driver.until(lambda: "◐ Save…" in bottom(driver))
    assert driver.told == ["Save: the previous one is still running"]
    goes_on.set()
    await driver.settle()
    assert "keyword_weight = 0.51" in (driver.app.root / ".cm/config.toml").read_text()
    assert "◐" not in bottom(driver)


async def an_update_is_in_the_top_line_at_once_and_its_result_in_the_bottom_line(driver, held):
    await driver.press("1")
    goes_on = held("index")
    for _ in range(3):
        await driver.pilot.press("i")
    await driver.until(lambda: "◐ updating" in driver.text.splitlines()[0])
    assert driver.told == ["Update: an index run is in progress"]
    goes_on.set()
    await driver.settle()
    assert "◐" not in driver.text.splitlines()[0]
    assert "The index is up to date: nothing changed." in bottom(driver)


async def a_mode_that_is_opened_first_is_named_before_it_is_there(driver, held):
    said: list[str] = []
    switch = driver.app.switch_mode

    async def watched(mode: str) -> None:
        said.append(driver.app.bottom_line[0])
        await switch(mode)
        if mode == "context":
            driver.app.refuse("said by what was opened")

    with mock.patch.object(driver.app, "switch_mode", watched):
        await driver.press("9", "1", "9")
        assert driver.app.bottom_line[0] == ""
        await driver.press("8")
        assert driver.app.bottom_line[0] == "said by what was opened"
    assert said == ["◐ Opening Health…", "", "", "◐ Opening Context…"]


async def what_the_same_key_reports_again_takes_the_place_of_what_it_reported(driver, held):
    await driver.press("2")
    await driver.type("load")
    await driver.press("escape", "p", "p", "p")
    assert len([one for one in driver.app._notifications if one.severity == "information"]) == 1
    for text in ("The disk is full.", "It cannot be read.", "The disk is full."):
        driver.app.tell(text, severity="error")
        await driver.pilot.pause()
    errors = [one.message for one in driver.app._notifications if one.severity == "error"]
    assert errors == ["It cannot be read.", "The disk is full."]
    driver.app.tell("History was rewritten.")
    await driver.pilot.pause()
    driver.app.tell("The settings were read again.")
    driver.app.report("The index is up to date.")
    await driver.pilot.pause()
    assert {"History was rewritten.", "The settings were read again."} <= set(driver.told), "neither answers the other"


async def what_a_command_reads_first(driver, held):
    driver.app.tasks.engine.write_note("topics/slow", "# Slow\n\nIt takes long.\n")
    await driver.press("6")
    await driver.until(lambda: "Slow" in driver.text)
    goes_on = held("note")
    await driver.pilot.press("e")
    await driver.until(lambda: "◐ Edit…" in bottom(driver))
    goes_on.set()
    await driver.settle()
    assert "◐" not in driver.text
    assert "It takes long." in driver.text
    await driver.press("escape", "d", "y")


async def writing_an_entry(driver, held):
    await driver.press("6", "n")
    await driver.type("slowly")
    goes_on = held("remember")
    for _ in range(2):
        await driver.pilot.press("ctrl+s")
    await driver.until(lambda: "◐ Saving…" in driver.text)
    goes_on.set()
    await driver.settle()
    assert "◐" not in driver.text
    assert driver.app.tasks.engine.entries().total == 1
    await driver.press("u")


async def a_refusal_while_something_is_done(driver, held):
    await driver.anew("2")
    goes_on = held("retrieve")
    await driver.pilot.press(*"store", "enter")
    await driver.until(lambda: driver.app.screen.results.has_focus)
    for key, words in (("b", "Memory: still searching"), ("a", "Pack: still searching")):
        await driver.pilot.press(key)
        assert words in bottom(driver)
    goes_on.set()
    await driver.settle()
    goes_on = held("retrieve")
    await driver.pilot.press("m")
    await driver.until(lambda: "◐ Mode…" in bottom(driver))
    # The application itself asks the same again: the settings have changed.
    driver.app.screen.session.refresh()
    await driver.pilot.press("b")
    await driver.until(lambda: "◐ Mode…  Memory: no matching memories" in bottom(driver))
    goes_on.set()
    await driver.settle()
    assert "◐" not in bottom(driver)


async def a_notice_ends_with_its_own_timer_alone(driver, held):
    timers = []
    with mock.patch.object(driver.app, "set_timer", lambda _, ends: timers.append(ends)):
        driver.app.refuse("older")
        driver.app.refuse("newer")
    older, newer = timers
    older()
    assert bottom(driver).lstrip().startswith("newer")
    newer()
    await driver.settle()
    assert "newer" not in bottom(driver)


async def an_undo(driver, held):
    engine = driver.app.tasks.engine
    for text in ("first", "second", "third"):
        engine.remember(text)
    await driver.press("6")
    goes_on = held("undo")
    for _ in range(3):
        await driver.pilot.press("u")
    await driver.until(lambda: "◐ Undo…" in bottom(driver))
    assert driver.told == ["Undo: the previous one is still running"]
    goes_on.set()
    await driver.settle()
    assert "◐" not in bottom(driver)
    assert engine.entries().total == 2
    await driver.press("u")
    assert engine.entries().total == 1


async def test_what_takes_long_shows_and_is_not_asked_for_twice(project: Path, held):
    (project / "logo.py").write_bytes(bytes(64))
    over = a_list_that_comes_late_does_not_open_after_escape_or_another_command
    late = a_list_that_comes_late_opens_over_nothing_else, over, a_symbol_that_comes_late_leads_nowhere
    asked = (
        a_mode_that_is_opened_first_is_named_before_it_is_there,
        an_update_is_in_the_top_line_at_once_and_its_result_in_the_bottom_line,
        what_the_same_key_reports_again_takes_the_place_of_what_it_reported,
    )
    steps = *late, *asked, assembling, what_a_command_reads_first, writing_an_entry, an_undo, saving_a_profile
    steps = *steps, a_refusal_while_something_is_done, a_notice_ends_with_its_own_timer_alone
    await each(held, why_a_command_is_not_possible_gives_way_to_the_keys_and_to_the_next_command, *steps, root=project)


@pytest.mark.deep
async def test_what_waits_for_the_person_stands_at_its_mode_and_in_the_overview(project: Path):
    with Engine.open(project) as engine:
        list(engine.index())
        for rule in ("Always run the tests.", "Never round twice."):
            engine.remember(rule, category="rule", actor="agent", agent="codex")

    async def it_is_counted(driver, _):
        for size, sign in (((80, 24), " 6² "), ((120, 40), " Memory² "), ((200, 50), " Memory² ")):
            await driver.resize(size)
            await driver.until(lambda sign=sign: sign in driver.text.splitlines()[0])
        assert "2 Rules of agents wait for your approval" in driver.text
        await driver.press("6", "plus", "y")
        await driver.until(lambda: " Memory¹ " in driver.text.splitlines()[0])
        await driver.press("1")
        assert "1 Rule of agents waits for your approval" in driver.text

    await each(project, it_is_counted, size=(80, 24))
