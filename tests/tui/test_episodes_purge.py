"""Purge in Episodes: archived episodes are listed by a filter and deleted after two answers, and nothing else is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from textual.widgets import Button

from cm_tui.engine.api.engine import Engine
from cm_tui.model import EpisodeFilter
from tests.tui.mode_driver import at, each
from tests.tui.recorded_sessions import record, record_story, sha_of_head
from tests.tui.test_episodes_mode import turns

DAY = 86_400.0
ARCHIVED = EpisodeFilter(state="archived")


@pytest.fixture
def archived(project: Path) -> Path:
    """The project with ten old episodes in its archive, and a few new ones."""
    for number in range(10):
        record(project, f"old [b]thing[/x] {number}", session="ancient", at=time.time() - (100 - number) * DAY)
    with Engine.open(project) as engine:
        assert engine.retention(apply=True, older_than=50).archived == 10
    record_story(project, sha_of_head(project), now=time.time())
    return project


def left(root: Path) -> int:
    with Engine.open(root) as engine:
        return engine.episodes(where=ARCHIVED).total


async def listed(driver) -> None:
    driver.app.screen.filter_input.value = "state:archived"
    await driver.settle()
    driver.app.screen.session_list.focus()
    await driver.settle()


@at((80, 24), (120, 40))
async def a_session_is_listed_named_and_deleted_by_no_other_word(driver, archived):
    await listed(driver)
    await driver.press("end", "D")
    words = " ".join(driver.text.replace("│", " ").split())
    assert "Delete 10 archived episodes permanently" in words
    assert "old [b]thing[/x]" in words
    assert "… and 4 more" in words
    for button in driver.app.screen.query(Button):
        assert button.region.bottom <= driver.app.size.height
    await driver.press("n")
    await driver.press("D", "y")
    await driver.type("yes")
    await driver.press("enter")
    assert left(archived) == 10, "another word deletes nothing"


async def one_alone_and_those_that_are_selected(driver, archived):
    await listed(driver)
    await driver.press("end", "enter", "D")
    assert "Delete 1 archived episode permanently" in " ".join(driver.text.split())
    await driver.press("n", "space", "space", "D", "y")
    await driver.type("purge")
    await driver.press("enter")
    assert left(archived) == 8
    assert "selected" not in driver.text


async def a_whole_session_is_deleted(driver, archived):
    await listed(driver)
    await driver.press("end", "D", "y")
    await driver.type("purge")
    await driver.press("enter")
    assert left(archived) == 0
    await driver.until(lambda: turns(driver) == [])


async def what_is_not_archived_is_not_deleted(driver, archived):
    await driver.press("enter", "D")
    assert any("state:archived lists them" in words for words in driver.told)
    assert left(archived) == 10


async def test_archived_episodes_are_deleted(archived):
    await each(
        archived,
        what_is_not_archived_is_not_deleted,
        a_session_is_listed_named_and_deleted_by_no_other_word,
        one_alone_and_those_that_are_selected,
        a_whole_session_is_deleted,
        mode="5",
    )
