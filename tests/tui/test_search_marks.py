"""Marks in the search mode: right, wrong, taken back, and what they move; a saved profile taken back."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.tui.mode_driver import at, driving, each
from tests.tui.test_search_why import ASKED, ask, coins, project

__all__ = ["coins", "project"]


def file_of(root: Path) -> Path:
    return root / ".cm/marks.json"


def marks_in(root: Path) -> list[tuple[str, bool]]:
    rows = json.loads(file_of(root).read_text())["marks"]
    return [(row["symbol"], row["right"]) for row in rows]


@at((80, 24), (200, 50))
async def a_key_marks_and_the_same_key_takes_it_back(driver, project):
    screen = await ask(driver)
    first, second = screen.session.hits[:2]
    await driver.press("plus", "down", "minus")
    assert marks_in(project) == sorted([(first.symbol, True), (second.symbol, False)])
    text = driver.text
    assert re.search(r" 1 ✓ ", text)
    assert re.search(r" 2 ✗ ", text)
    await driver.press("plus")
    assert marks_in(project) == sorted([(first.symbol, True), (second.symbol, True)])
    await driver.press("plus", "up", "plus")
    assert not file_of(project).exists(), "nothing is marked any more"
    assert "✓" not in driver.text.replace("sum of the parts", "").split("score")[0]


async def test_marks_are_those_of_the_question_and_are_there_again(project):
    async with driving(project) as driver:
        await ask(driver)
        await driver.press("plus", "slash")
        await driver.type("make a fresh store")
        assert not re.search(r" \d+ ✓ ", driver.text)
        await driver.press("escape", "plus")
        driver.app.state_writer.flush()
    async with driving(project) as driver:
        # The mode and its question are there again; marks of either question are, too.
        screen = driver.app.screen
        await driver.until(lambda: re.search(r" 1 ✓ ", driver.text))
        await driver.press("escape", "slash")
        await driver.type(ASKED)
        await driver.press("escape")
        assert re.search(r" 1 ✓ ", driver.text)
        assert len(screen.session.marks) == 2
        await driver.press("w")
        assert re.search(r" 1 ✓ ", driver.text)


@at((200, 50))
async def marks_move_their_results_when_the_question_is_asked_again(driver, project):
    screen = await ask(driver)
    first, second = (hit.passage for hit in screen.session.hits[:2])
    last = screen.session.hits[-1]
    await driver.press("minus", "end", "plus")
    await driver.anew()
    screen = await ask(driver)
    hits = screen.session.hits
    assert (hits[0].passage, hits[1].passage) == (last.passage, second)
    assert first not in {hit.passage for hit in hits[:-1]}
    assert "marked right for this question" in " ".join(driver.text.split())


async def a_file_that_cannot_be_written_is_said_and_nothing_is_shown_as_marked(driver, project):
    file_of(project).unlink()
    (project / "elsewhere.json").write_text("{}")
    file_of(project).symlink_to(project / "elsewhere.json")
    await driver.anew()
    screen = await ask(driver)
    await driver.press("plus")
    assert any("is a symbolic link" in told for told in driver.told)
    assert screen.session.marked == {}
    assert (project / "elsewhere.json").read_text() == "{}"


async def a_saved_profile_is_taken_back_after_a_question(driver, project):
    file = project / ".cm/config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text('# mine\n[profiles.code]\nlimit = 3\n\n[tui]\ntheme = "nord" # dark\n')
    await driver.anew()
    screen = await ask(driver)
    await driver.press("R")
    assert any("Unsave: open the profile's numbers with t first" in told for told in driver.told)
    await driver.press("t", "R")
    assert "Remove the changes of the profile" in driver.text
    await driver.press("n")
    assert "limit = 3" in file.read_text()
    await driver.press("R", "y")
    assert file.read_text() == '# mine\n\n[tui]\ntheme = "nord" # dark\n' or "limit" not in file.read_text()
    assert "# dark" in file.read_text()
    assert "# mine" in file.read_text()
    assert screen.session.profile == screen.session.factory
    await driver.press("R")
    assert any("no numbers of this profile were saved" in told for told in driver.told)


async def test_hits_are_marked(project):
    await each(
        project,
        a_key_marks_and_the_same_key_takes_it_back,
        marks_move_their_results_when_the_question_is_asked_again,
        a_saved_profile_is_taken_back_after_a_question,
        a_file_that_cannot_be_written_is_said_and_nothing_is_shown_as_marked,
    )
