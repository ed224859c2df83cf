"""Why not this one, two hits side by side, and arrows for moved ranks: keys, at three sizes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cm_tui.model.score_text import side_by_side
from cm_tui.tui.modes.search.screen import SearchScreen
from tests.templates import Template
from tests.tui.mode_driver import Driver, at, each, git, make_project

ASKED = "count the coins of a purse"


def make_coins(root: Path) -> None:
    """Make a project with twenty functions about coins, the longer ones further down."""
    make_project(root)
    for n in range(20):
        filler = "    amount = round(amount)\n" * n
        file = root / f"{'tests' if n % 4 == 3 else 'src'}/coins_{n}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"def count_{n}(purse, amount):\n{filler}    return amount + purse.coins\n")
    git(root, "add", "-A")


@pytest.fixture(scope="session")
def coins(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template(tmp_path_factory.mktemp("coins"), make_coins)


@pytest.fixture
def project(coins: Template, cm_home: Path) -> Path:
    return coins.put_back(cm_home)


async def ask(driver: Driver, query: str = ASKED) -> SearchScreen:
    await driver.press("2")
    await driver.type(query)
    await driver.press("escape")
    assert isinstance(driver.app.screen, SearchScreen)
    return driver.app.screen


async def why_not(driver: Driver, name: str) -> None:
    await driver.press("n")
    await driver.type(name)
    await driver.press("enter")


@at((80, 24), (200, 50))
async def why_not_answers_in_the_panel_and_escape_ends_it(driver, project):
    screen = await ask(driver)
    hits = screen.session.hits
    low = hits[-1]
    await why_not(driver, f"{low.path}:{low.start_line}")
    text = driver.text
    assert f"Why not {low.path}"[:30] in text
    assert re.search(rf"is at rank {low.rank}\s", re.sub(r"[│\n ]+", " ", text))
    assert screen.hit_panel.standing.hit.passage == low.passage
    await driver.press("down")
    assert "Why not" in driver.text
    await driver.press("escape")
    assert "Why not" not in driver.text
    assert "Why #2" in driver.text


@at((200, 50))
async def why_not_follows_the_question_and_the_knobs(driver, project):
    screen = await ask(driver)
    await why_not(driver, "count_19")
    before = screen.hit_panel.standing
    assert before.state == "ranked"
    await driver.press("t", "down")
    place = next(
        n for n, row in enumerate(screen.hit_panel.profile_panel.rows) if getattr(row, "label", "") == "length"
    )
    screen.hit_panel.profile_panel.cursor = place
    await driver.press(*["l"] * 6)
    after = screen.hit_panel.standing
    assert after.hit.passage == before.hit.passage
    assert after.hit.score != before.hit.score
    listed = next((hit for hit in screen.session.hits if hit.passage == after.hit.passage), None)
    assert listed is not None
    assert (after.hit.rank, after.hit.parts) == (listed.rank, listed.parts)
    await driver.press("escape", "slash")
    await driver.type("make a fresh store")
    assert screen.hit_panel.standing.query == "make a fresh store"


async def a_name_that_is_nowhere_has_neighbours_on_screen(driver, project):
    await ask(driver)
    await why_not(driver, "make_stroe")
    assert "Nothing in the index is named make_stroe" in driver.text
    assert "make_store" in driver.text
    await driver.press("n", "backspace", "enter")
    assert "Why not" not in driver.text


@at((80, 24))
async def why_not_needs_a_question_and_room(driver, project):
    await driver.press("2", "escape", "n")
    assert any("no query yet" in told for told in driver.told)
    await driver.press("slash")
    await driver.type(ASKED)
    await driver.press("escape", "t", "escape", "t")
    assert driver.app.screen.has_class("-tuning")
    driver.app.screen.results.focus()
    await driver.press("n")
    assert any("the numbers are shown" in told for told in driver.told)


@at((80, 24), (200, 50))
async def two_hits_stand_side_by_side(driver, project):
    size = driver.app.size
    screen = await ask(driver)
    first, second = screen.session.hits[:2]
    await driver.press("x")
    assert re.search(r"1 (?:\S* +)?◆ ", driver.text)
    await driver.press("down")
    text = driver.text
    assert "#2 vs. #1" in text
    assert re.search(r"part +#2 +#1 +differs", text)
    panel = screen.hit_panel
    assert (panel.marked.passage, screen.hit.passage) == (first.passage, second.passage)
    if size[1] == 50:
        biggest = side_by_side(second, first)[0]
        assert f"{biggest.difference:+.3f}" in text
    await driver.press("up", "x")
    assert "◆" not in driver.text
    await driver.press("x", "escape")
    assert panel.marked is None


async def a_marked_hit_is_gone_with_its_answer(driver, project):
    screen = await ask(driver)
    await driver.press("x", "slash")
    await driver.type("odd value list")
    assert screen.hit_panel.marked is None or screen.hit_panel.marked in screen.session.hits


@at((80, 24))
async def arrows_say_how_far_each_rank_moved(driver, project):
    screen = await ask(driver)
    before = {hit.passage: hit.rank for hit in screen.session.hits}
    assert not re.search(r" [↑↓]\d", driver.text)
    await driver.press("t", "down")
    panel = screen.hit_panel.profile_panel
    panel.cursor = next(n for n, row in enumerate(panel.rows) if getattr(row, "label", "") == "tests")
    await driver.press(*["h"] * 12)
    hits = screen.session.hits
    moved = {hit.passage: before[hit.passage] - hit.rank for hit in hits if before[hit.passage] != hit.rank}
    assert moved
    assert screen.session.moves.by == moved
    assert f"{len(moved)} moved" in driver.text
    seen = re.findall(r"^\S? *\d+ ([↑↓]\d+|new|) ", driver.text, re.MULTILINE)
    assert any(seen)
    for hit in hits[:3]:
        arrow = moved.get(hit.passage, 0)
        if arrow:
            assert f"{hit.rank:>3} {'↑' if arrow > 0 else '↓'}{abs(arrow)} " in driver.text
    await driver.press("r")
    assert screen.session.moves is None
    assert not re.search(r" [↑↓]\d", driver.text)


async def files_have_arrows_too(driver, project):
    screen = await ask(driver)
    await driver.press("w")
    before = {file.path: file.rank for file in screen.session.files}
    await driver.press("t", "down")
    panel = screen.hit_panel.profile_panel
    panel.cursor = next(n for n, row in enumerate(panel.rows) if getattr(row, "label", "") == "tests")
    await driver.press(*["h"] * 12)
    files = screen.session.files
    moved = {file.hits[0].passage: before[file.path] - file.rank for file in files if before[file.path] != file.rank}
    assert moved
    assert screen.session.moves.by == moved


async def test_reasons_comparisons_and_moves_of_hits(project):
    await each(
        project,
        why_not_answers_in_the_panel_and_escape_ends_it,
        why_not_follows_the_question_and_the_knobs,
        a_name_that_is_nowhere_has_neighbours_on_screen,
        why_not_needs_a_question_and_room,
        two_hits_stand_side_by_side,
        a_marked_hit_is_gone_with_its_answer,
        arrows_say_how_far_each_rank_moved,
        files_have_arrows_too,
    )
