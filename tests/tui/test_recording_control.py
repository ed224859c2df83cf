"""The application says in every mode whether anything is recorded, pauses by a key, and opens other projects."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cm_tui.engine.api import links, recording
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform.git.identity import identify
from tests.tui.mode_driver import at, driving, each, make_project


def titles(driver) -> list[str]:
    return [f"{one.title} {one.message}" for one in driver.app._notifications]


def head(driver) -> str:
    return driver.text.splitlines()[0]


@at((80, 24))
async def every_mode_says_whether_anything_is_recorded(driver, project):
    for mode in driver.app.titles:
        driver.app.go(mode)
        await driver.settle()
        assert "◉" in head(driver)
    recording.pause(project)
    await driver.until(lambda: "‖ paused" in head(driver))
    for mode in driver.app.titles:
        driver.app.go(mode)
        await driver.settle()
        assert "‖ paused" in head(driver)


async def a_key_pauses_for_a_time_and_goes_on(driver, project):
    await driver.press("2", "escape")
    await driver.press("Z")
    assert "Pause recording for how long?" in driver.text
    await driver.type("soon")
    await driver.press("enter")
    assert "Not a duration" in driver.text
    await driver.press(*["backspace"] * 4)
    await driver.type("90m")
    await driver.press("enter")
    await driver.until(lambda: "until " in head(driver))
    assert recording.recording_state(project).until is not None
    recording.pause(project, 2 * 86_400)
    await driver.until(lambda: "until 20" in head(driver))
    await driver.press("Z")
    await driver.until(lambda: "◉" in head(driver))
    assert recording.recording_state(project).state == "on"


async def a_key_goes_on_from_a_pause_everywhere_and_from_a_file_that_cannot_be_read(driver, project):
    recording.pause(None)
    await driver.until(lambda: "‖ paused" in head(driver))
    await driver.press("Z")
    await driver.until(lambda: "◉" in head(driver))
    gate.file().write_text("nonsense")
    await driver.until(lambda: "‖ not recorded" in head(driver))
    await driver.press("Z")
    await driver.until(lambda: "◉" in head(driver))
    assert recording.recording_state(project).state == "on"


async def test_a_folder_that_is_never_recorded_says_so(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", f'["{project}"]')
    async with driving(project) as driver:
        await driver.until(lambda: "○ never recorded" in head(driver))
        await driver.press("Z")
        assert any("This folder is never recorded" in text for text in driver.told)


async def the_list_of_projects_opens_one_or_says_why_not(driver, project):
    """The last step: the application ends for the project that is opened."""
    folder = Path(os.environ["CM_HOME"]) / "others"
    broken, gone, other = (folder / name for name in ("broken", "gone", "basket"))
    for root in (broken, gone, other):
        (root / ".cm").mkdir(parents=True)
        (root / "a.py").write_text("x = 1\n")
        with Engine.open(root) as engine:
            list(engine.index())
    (broken / ".cm" / "config.toml").write_text("[index]\nnonsense = 1\n")
    shutil.rmtree(gone)
    await driver.press("2")
    for name, words in (("broken", "nonsense"), ("gone", "no longer at that path"), (project.name, "already open")):
        await driver.press("ctrl+e")
        await driver.type(name)
        await driver.press("enter")
        assert any(words in text for text in titles(driver)), name
    await driver.press("ctrl+e")
    assert "basket" in driver.text
    assert project.name in driver.text
    await driver.press("escape")
    assert driver.app.next_project is None
    await driver.press("ctrl+e")
    await driver.type("basket")
    await driver.pilot.press("enter")
    await driver.until(lambda: driver.app.next_project is not None)
    assert driver.app.next_project == other


async def test_a_moved_project_gets_its_memory_when_a_person_says_so(tmp_path: Path):
    root, moved = make_project(tmp_path / "first"), tmp_path / "moved"
    with Engine.open(root) as engine:
        list(engine.index())
    os.rename(root, moved)  # noqa: PTH104 - in a test nobody waits
    assert identify(moved).claims
    async with driving(moved) as driver:
        assert "Was this project moved?" in driver.text
        await driver.press("escape")
        assert not links.memory_link(moved).linked
        own = links.memory_link(moved).store
    async with driving(moved) as driver:
        await driver.press("right")
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.app.next_project is not None)
        assert driver.app.next_project == moved
        assert str(driver.app.unused_store) == own
    assert links.memory_link(moved).linked


@pytest.mark.deep
async def test_a_copy_is_not_asked_about(project: Path, tmp_path: Path):
    copy = Path(shutil.copytree(project, tmp_path / "copy"))
    async with driving(copy) as driver:
        assert "Was this project moved?" not in driver.text


async def test_recording_is_paused_and_goes_on_and_other_projects_are_opened(project):
    await each(
        project,
        a_key_pauses_for_a_time_and_goes_on,
        a_key_goes_on_from_a_pause_everywhere_and_from_a_file_that_cannot_be_read,
        every_mode_says_whether_anything_is_recorded,
        the_list_of_projects_opens_one_or_says_why_not,
    )
