"""Undo in Episodes: what was taken back is told, whatever it was, and where a text changed since both sides are shown first."""

from __future__ import annotations

import threading
from pathlib import Path
from unittest import mock

from textual.widgets import Button

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.model import EntryEdit
from cm_tui.model.author import Author
from cm_tui.tui.screens.question import Question
from cm_tui.tui.screens.undo import sides
from tests.tui.mode_driver import PATIENCE, at, each
from tests.tui.test_episodes_mode import states, turns

LONG = "The slash stays at the end of every name, as the remote store compares names letter by letter. " * 3


def changed_since(told: Path) -> str:
    """Write an entry that a person changed, and an agent afterwards; its id."""
    with Engine.open(told) as engine:
        one = engine.remember(f"{LONG}first", title="Slashes")
        engine.update_entry(one.id, EntryEdit(f"{LONG}second"))
        Entries(told).change(engine.entry(one.id), EntryEdit(f"{LONG}[bold]third[/x]\x1b[2J"), Author("agent", "codex"))
    return one.id


def forgotten(root: Path) -> set[str]:
    return {name for name, said in states(root).items() if said[3] == "forgotten"}


def content(root: Path, entry: str) -> str:
    with Engine.open(root) as engine:
        return engine.entry(entry).content


@at((80, 24), (200, 50))
async def where_the_text_changed_since_both_sides_are_shown_and_nothing_is_lost_by_no(driver, told):
    entry = changed_since(told)
    await driver.press("u")
    assert isinstance(driver.app.screen, Question)
    words = " ".join(driver.text.replace("│", " ").split())
    assert "“Slashes” has changed since by agent" in words
    assert "What you wrote:" in words
    assert "As it is now:" in words
    assert "[bold]third[/x]" in words
    assert "What would come back:" in words
    assert "first" in words
    assert "\x1b" not in driver.text
    for button in driver.app.screen.query(Button):
        assert button.region.bottom <= driver.app.size.height, "both answers are on screen"
    await driver.press("n")
    assert "third" in content(told, entry)
    assert any("Nothing was undone" in told for told in driver.told)


async def yes_takes_back_what_others_made_of_it_too(driver, told):
    entry = changed_since(told)
    await driver.press("u", "y")
    assert content(told, entry) == f"{LONG}first".strip()
    assert any("Undone" in words and "“Slashes”" in words for words in driver.told)


async def the_last_change_is_told_whatever_it_was(driver, told):
    await driver.press("u")
    assert isinstance(driver.app.screen, Question)
    assert "Undo your last change" in driver.text
    assert "Names" in driver.text
    await driver.press("n", "u")
    assert not any("Undone" in words for words in driver.told)
    await driver.press("y")
    assert any("Undone" in words and "entry" in words for words in driver.told)
    await driver.press("u")
    assert any("recorded by hand" in words and "remember the milk" in words for words in driver.told)
    await driver.press("g", "home")
    assert "remember the milk" not in turns(driver)


async def many_are_forgotten_and_come_back_by_one_key(driver, told):
    before = forgotten(told)
    await driver.press("g", "enter", "space", "space", "d")
    assert turns(driver) == ["keep the slash of a record", "why was the retry reverted"]
    assert forgotten(told) - before == {"run the tests", "look into the remote"}
    await driver.press("u")
    assert len(turns(driver)) == 4
    assert any("“" in words and "and 1 more" in words for words in driver.told)
    assert forgotten(told) == before


async def undo_waits_for_the_change_that_was_asked_for_before_it(driver, told):
    edit, go_on = Engine.edit_episodes, threading.Event()

    def slowly(*args, **values):
        go_on.wait(PATIENCE)
        return edit(*args, **values)

    await driver.press("g", "enter", "plus")
    with mock.patch.object(Engine, "edit_episodes", slowly):
        await driver.pilot.press("p", "u")
        go_on.set()
        await driver.settle()
    pinned, rated = ({name for name, one in states(told).items() if one[place]} for place in (2, 1))
    assert (pinned, len(rated)) == (set(), 1)


def test_sides_begin_where_they_differ():
    now, before = sides(f"{LONG}third", f"{LONG}first")
    assert now.startswith("…")
    assert now.endswith("third")
    assert before.endswith("first")
    assert sides("", "text") == ["(deleted)", "text"]
    assert sides("one", "two") == ["one", "two"]


async def test_changes_are_undone(told):
    with Engine.open(told) as engine:
        engine.record_episode("remember the milk")
        engine.remember("Names have a slash.", title="Names")
    await each(
        told,
        the_last_change_is_told_whatever_it_was,
        undo_waits_for_the_change_that_was_asked_for_before_it,
        many_are_forgotten_and_come_back_by_one_key,
        where_the_text_changed_since_both_sides_are_shown_and_nothing_is_lost_by_no,
        yes_takes_back_what_others_made_of_it_too,
        mode="5",
    )
