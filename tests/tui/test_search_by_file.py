"""Search by file: the key, its rows at three sizes, the cursor, and what is done with a row."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import pytest
from textual.app import App

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.search.ranking.grouping import by_file
from cm_tui.model import Hit
from cm_tui.tui.modes.search.results import ResultList
from cm_tui.tui.modes.search.rows import FROM_MEMORY, MORE_CODE, FileRow, FurtherRow, Heading, hit_of, words
from cm_tui.tui.modes.search.screen import SearchScreen
from tests.templates import Template
from tests.tui.mode_driver import Driver, at, driving, each, git, make_project
from tests.tui.recorded_sessions import record
from tests.tui.test_search_mode import ListApp, make_hit

FUNCTIONS = 6
ASKED = "count the coins of a purse"


def make_purse(root: Path) -> None:
    """Make a project with a file of six passages about coins, and files of one."""
    make_project(root)
    body = "".join(f"    amount = amount + {n}  # coins of the purse are counted again\n" for n in range(14))
    purse = "".join(f"def count_coins_{n}(purse, amount):\n{body}    return amount\n\n\n" for n in range(FUNCTIONS))
    (root / "src/purse.py").write_text(purse)
    for name in ("wallet", "till", "bank"):
        (root / f"src/{name}.py").write_text(f"def {name}_coins(purse):\n    return purse.coins\n")
    git(root, "add", "-A")


@pytest.fixture(scope="session")
def purse(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template(tmp_path_factory.mktemp("purse"), make_purse)


@pytest.fixture
def project(purse: Template, cm_home: Path) -> Path:
    return purse.put_back(cm_home)


async def ask(driver: Driver, query: str = ASKED) -> SearchScreen:
    await driver.press("2")
    await driver.type(query)
    await driver.press("escape")
    assert isinstance(driver.app.screen, SearchScreen)
    return driver.app.screen


def paths(screen: SearchScreen) -> list[str]:
    return [row.file.path for row in screen.results.rows if isinstance(row, FileRow)]


@at((80, 24), (200, 50))
async def the_key_switches_between_passages_and_files(driver, project):
    screen = await ask(driver)
    hits = screen.session.hits
    assert "╭─ Results " in driver.text
    await driver.press("w")
    assert paths(screen) == list(dict.fromkeys(hit.path for hit in hits))
    text = driver.text
    assert "╭─ Files " in text
    assert re.search(rf"{len(paths(screen))} of {len(paths(screen))} files", text)
    row = next(line for line in text.splitlines() if re.search(r"src/purse\.py \+3 ", line))
    assert re.search(r"^│ +\d+ .*0\.\d{3} ━", row)
    place = text.splitlines().index(row)
    below = text.splitlines()[place + 1 : place + 3]
    assert all(re.match(r"│ {6}count_coins_\d.* :\d+-\d+ +0\.\d{3} ", line) for line in below), text
    assert "w Files" in text
    await driver.press("w")
    assert "╭─ Results " in driver.text
    assert tuple(screen.results.rows) == hits


async def the_cursor_stays_on_its_hit_there_and_back(driver, project):
    screen = await ask(driver)
    listed, purse = set(), [hit for hit in screen.session.hits if hit.path == "src/purse.py"]
    for hit in purse:
        place = screen.session.hits.index(hit)
        screen.results.cursor = place
        await driver.press("w")
        current = screen.results.current
        assert hit_of(current).path == hit.path
        if isinstance(current, FurtherRow) or current.hit.passage == hit.passage:
            assert screen.hit.passage == hit.passage
            listed.add(hit.passage)
        await driver.press("w")
        assert screen.results.cursor == place, "also where its file's row stood for it"
    assert listed == {hit.passage for hit in purse[:3]}


async def a_cursor_that_was_moved_goes_back_to_where_it_is(driver, project):
    screen = await ask(driver)
    last = [hit for hit in screen.session.hits if hit.path == "src/purse.py"][-1]
    screen.results.cursor = screen.session.hits.index(last)
    await driver.press("w")
    assert isinstance(screen.results.current, FileRow)
    await driver.press("down")
    inner = screen.hit
    await driver.press("w")
    assert screen.hit.passage == inner.passage != last.passage


@at((80, 24), (200, 50))
async def preview_why_and_pack_are_of_the_best_passage_and_of_inner_ones(driver, project):
    size = driver.app.size
    screen = await ask(driver)
    await driver.press("w", "home")
    while screen.results.current.hit.path != "src/purse.py":
        await driver.press("down")
    best, *inner = next(file for file in screen.session.files if file.path == "src/purse.py").hits
    for hit in (best, *inner[:1]):
        assert screen.hit == hit
        assert f"def {hit.symbol}(purse, amount):" in driver.text
        if size[0] < 100:
            await driver.press("v")
        assert f"Why #{hit.rank}" in driver.text
        if size[0] < 100:
            await driver.press("v")
        await driver.press("a")
    assert [item.start_line for item in driver.app.pack_selection.items] == [best.start_line, inner[0].start_line]
    await driver.press("up", "up", "enter")
    assert driver.app.current_mode == "symbols"
    assert best.symbol in driver.text


@pytest.mark.deep
async def test_the_choice_is_found_again_next_time(project):
    async with driving(project) as driver:
        await ask(driver)
        await driver.press("w")
        driver.app.state_writer.flush()
    async with driving(project) as driver:
        screen = driver.app.screen
        assert screen.session.by == "file"
        assert "src/purse.py" in paths(screen)
        await driver.press("escape", "w")
        driver.app.state_writer.flush()
    async with driving(project) as driver:
        assert driver.app.screen.session.by == "passage"


async def it_can_be_chosen_before_anything_is_asked_and_holds_for_every_question(driver, project):
    await driver.press("2", "escape", "w")
    assert "╭─ Files " in driver.text
    await driver.press("slash")
    await driver.type(ASKED)
    screen = driver.app.screen
    assert "src/purse.py" in paths(screen)
    await driver.press("escape", "t", "down", "right")
    assert screen.session.tuned
    assert "src/purse.py" in paths(screen), "turned numbers rank files"
    await driver.press("escape", "escape", "slash", "x")
    assert screen.session.by == "file"


async def test_a_hit_far_down_is_among_the_passages_that_are_asked_for(project, monkeypatch):
    monkeypatch.setattr("cm_tui.tui.modes.search.session.PAGE", 8)
    async with driving(project, size=(80, 24)) as driver:
        screen = await ask(driver)
        await driver.press("w", "end", "end")
        assert len(screen.session.files) == screen.session.result.total_files, "scrolling gets the rest"
        hit = screen.hit
        assert hit.rank > 8
        await driver.press("w")
        assert screen.hit.passage == hit.passage


async def help_and_palette_know_the_key(driver, project):
    await ask(driver)
    await driver.press("question_mark")
    assert re.search(r"w +Files +Passages, or files with their best passages", driver.text)


@pytest.mark.deep
async def test_what_is_remembered_stands_behind_the_files_that_the_profile_gives(project):
    record(project, "how do we count coins", session="coins", agent="codex", turn=1, answer="By hand.", at=time.time())
    with Engine.open(project) as engine:
        for _ in engine.index():
            pass
    async with driving(project) as driver:
        screen = await ask(driver)
        await driver.press("w")
        rows = [row.words if isinstance(row, Heading) else "" for row in screen.results.rows]
        assert FROM_MEMORY in rows
        before = screen.results.rows[: rows.index(FROM_MEMORY)]
        assert sum(isinstance(row, FileRow) for row in before) == min(10, len(screen.session.files))
        await driver.press("b")
        assert screen.hit.source == "episode"
        assert "episode · just now" in driver.text
        await driver.press("w")
        assert screen.hit.source == "episode", "the cursor stays on what is remembered"


@at((80, 24), (200, 50))
async def memories_have_their_titles(driver, project):
    entry = driver.app.tasks.engine.remember("Count the coins of the purse twice.", title="Coins of a purse")
    screen = await ask(driver)
    while screen.session.profile.name != "memory":
        await driver.press("p")
    if screen.session.by != "file":
        await driver.press("w")
    assert paths(screen) == [f"entry/{entry.id}"]
    (row,) = [line for line in driver.text.splitlines() if re.search(r"^│ +1 ", line)]
    assert re.search(r" 1 Coins of a purse +entry · now", row), row
    assert entry.id not in row


async def test_code_beyond_follows_what_is_remembered_by_whole_files():
    hits = tuple(make_hit(number, path=f"src/{number // 2}.py") for number in range(6))
    said = (make_hit(50, path="episode/x"),)
    app = ListApp()
    async with app.run_test(size=(70, 24)):
        rows = app.query_one(ResultList)
        rows.show((), said, files=by_file(hits), limit=2, keep=False)
        kinds = [row.words if isinstance(row, Heading) else type(row).__name__ for row in rows.rows]
        assert kinds == [*["FileRow", "FurtherRow"] * 2, FROM_MEMORY, "Hit", MORE_CODE, "FileRow", "FurtherRow"]


async def test_rows_keep_their_width_whatever_names_are_in_them():
    odd = [make_hit(n, path="深い/" * 20 + "模块[1].py", symbol="模块." * 30 + "name") for n in range(5)]
    plain = [make_hit(9, path="a.py"), Hit(**{**fields(make_hit(10, path="b.md")), "symbol": None})]
    app: App[None] = ListApp()
    async with app.run_test(size=(140, 10)) as pilot:
        rows = app.query_one(ResultList)
        rows.show((), files=by_file([*odd, *plain]), limit=10, keep=False)
        for width in (20, 40, 53, 60, 92, 140):
            for file in by_file([*odd, *plain]):
                for row in (FileRow(file), *map(FurtherRow, file.hits)):
                    assert words(row, width).cell_length == width
            await pilot.resize_terminal(width, 10)
            async with asyncio.timeout(60):
                while rows.size.width != width:
                    await pilot.pause()
            assert rows.row_height == 1
            assert [strip.cell_length for strip in app.screen._compositor.render_strips()] == [width] * 10


def test_folders_give_way_to_the_symbol_and_the_name_of_a_file_does_not():
    (file,) = by_file([make_hit(1, path="internal/binding/form_mapping.go", symbol="mapFormByTag")])
    assert words(FileRow(file), 80).plain.startswith("internal/binding/form_mapping.go  mapFormByTag")
    assert re.match(r"\S*…\S*/form_mapping\.go  map\S+ :", words(FileRow(file), 36).plain)
    assert "map" not in words(FileRow(file), 24).plain.replace("mapping", "")
    (file,) = by_file([make_hit(1, path="lib/core/parsing/command.js", symbol="Command.parse_multiple_values")])
    row = words(FileRow(file), 44).plain
    assert re.match(r"\S*…\S*/command\.js  parse_multiple_values :", row), row


def test_what_a_symbol_is_in_gives_way_to_its_name():
    hit = make_hit(1, path="lib/command.js", symbol="Command._checkForMissingMandatoryOptions.definedNonDefaultOptions")
    row = words(FurtherRow(hit), 34).plain
    assert row.split() == ["definedNonDefaultOptions", f":{hit.start_line}"]
    assert "…" in words(FurtherRow(hit), 20).plain


def fields(hit: Hit) -> dict[str, object]:
    return {name: getattr(hit, name) for name in Hit.__dataclass_fields__}


async def test_results_are_shown_by_file(project):
    await each(
        project,
        the_key_switches_between_passages_and_files,
        the_cursor_stays_on_its_hit_there_and_back,
        a_cursor_that_was_moved_goes_back_to_where_it_is,
        preview_why_and_pack_are_of_the_best_passage_and_of_inner_ones,
        it_can_be_chosen_before_anything_is_asked_and_holds_for_every_question,
        help_and_palette_know_the_key,
        memories_have_their_titles,
    )
