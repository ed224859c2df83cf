"""Search with what is remembered beside code: its rows, its preview, and the ways from there."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.model import Hit
from cm_tui.tui.modes.episodes.screen import EpisodesScreen
from cm_tui.tui.modes.search.rows import FROM_MEMORY, Heading, rows_of
from cm_tui.tui.modes.search.screen import SearchScreen
from cm_tui.tui.screens.memory_hit import answering_line, is_memory
from tests.templates import Template, index
from tests.tui.mode_driver import Driver, at, driving, each, make_project
from tests.tui.recorded_sessions import record, record_story, sha_of_head
from tests.tui.test_search_mode import make_hit

ASKED = "load a record by name"
EVIL = "[bold]load[/foo] a record by name\x1b[31m\x07 \u202egnp \ud800"
FOUR_DAYS = 4 * 86_400


def fill(engine: Engine) -> None:
    record_story(engine.root, sha_of_head(engine.root), now=time.time())
    record(
        engine.root, "how do we load a record by name", session="loading", agent="claude-code", title="Loading", turn=1,
        answer="Words before.\n\nStore.load reads a record by name, and that is decided.\n\nWords behind.",
        at=time.time() - FOUR_DAYS,
    )  # fmt: skip
    engine.remember(
        "A record is loaded by name.\nNames have no slash at the end.", title="Record names", category="Rule"
    )
    index(engine)


@pytest.fixture(scope="session")
def loading(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The project with sessions and an entry about what its code does."""
    return Template(tmp_path_factory.mktemp("loading"), make_project, fill)


@pytest.fixture
def told(loading: Template, cm_home: Path) -> Path:
    return loading.put_back(cm_home)


def screen_of(driver: Driver) -> SearchScreen:
    assert isinstance(driver.app.screen, SearchScreen)
    return driver.app.screen


async def ask(driver: Driver, words: str = ASKED) -> SearchScreen:
    await driver.press("2")
    await driver.type(words)
    return screen_of(driver)


def sources(screen: SearchScreen) -> list[str]:
    return [row.source if isinstance(row, Hit) else row.words for row in screen.results.rows]


async def to(driver: Driver, source: str) -> Hit:
    """Put the cursor on the first row of a source, with keys."""
    screen = screen_of(driver)
    await driver.press("escape", "b")
    while screen.hit.source != source:
        before = screen.results.cursor
        await driver.press("down")
        assert screen.results.cursor > before, f"there is no {source}"
    return screen.hit


@at((80, 24), (200, 50))
async def code_comes_first_and_what_is_remembered_below_a_quiet_heading(driver, told):
    size = driver.app.size
    screen = await ask(driver)
    rows = sources(screen)
    place = rows.index(FROM_MEMORY)
    assert set(rows[:place]) == {"code"}
    assert place == min(screen.session.profile.limit, len(screen.session.hits))
    assert {"episode", "entry"} == set(rows[place + 1 : place + 1 + len(screen.session.result.beside)])
    assert screen.hit.source == "code"
    assert "2 remembered (b)" in driver.text
    await to(driver, "episode")
    assert FROM_MEMORY in driver.text
    assert "episode · 4d" in driver.text
    assert "claude-code" in driver.text
    assert re.search(r"entry · (now|\d+min)", driver.text)
    assert "load a record by name" in " ".join(driver.text.split())
    assert "that is decided" in " ".join(line.text for line in screen.hit_panel.prose.rows)
    if size[0] < 100:
        await driver.press("v")
    assert "Why memory #" in driver.text
    assert "keyword" in driver.text
    await driver.press("b")
    assert screen.results.cursor == 0


@at((80, 24), (200, 50))
async def memories_come_first_for_a_question_about_reasons(driver, told):
    screen = await ask(driver, "why do we load a record by name")
    assert screen.results.rows[0] == Heading(FROM_MEMORY)
    assert screen.hit.source != "code"
    await driver.press("escape", "b")
    assert screen.hit.source == "code"
    await driver.press("b")
    assert screen.hit.source != "code"


async def a_profile_that_searches_memory_alone_says_so_where_nothing_matches(driver, told):
    screen = await ask(driver, "unheardof")
    for _ in screen.session.profiles:
        if screen.session.profile.name != "notes":
            await driver.press("ctrl+l")
    assert "The profile notes searches memory; p is the next one." in screen._empty_text()
    assert "searches memory; p is" in driver.text
    for _ in screen.session.profiles:
        if screen.session.profile.name != "code":
            await driver.press("ctrl+l")
    assert "searches memory" not in driver.text


@pytest.mark.deep
async def test_no_heading_where_nothing_is_remembered(project):
    async with driving(project) as driver:
        screen = await ask(driver)
        assert all(isinstance(row, Hit) for row in screen.results.rows)
        assert FROM_MEMORY not in driver.text
        await driver.press("escape", "b")
        assert any("no matching memories" in words for words in driver.told)


async def enter_opens_the_episode_in_its_session(driver, told):
    await ask(driver)
    await to(driver, "episode")
    await driver.press("enter")
    screen = driver.app.screen
    assert isinstance(screen, EpisodesScreen)
    assert screen.session_key == "loading"
    assert screen.turn_list.current.prompts == ("how do we load a record by name",)
    assert screen.focused is screen.turn_list
    await driver.until(lambda: "that is decided" in driver.text and "turn 1" in driver.text)


async def test_an_episode_of_no_session_and_one_further_down_than_what_is_read_are_told_as_well(told, monkeypatch):
    monkeypatch.setattr("cm_tui.tui.tasks.ask.PAGE", 3)
    for number in range(8):
        record(told, f"something newer {number}", session=f"newer-{number}")
    record(told, "quaternion interpolation is not for us", session="", agent="", type="note")
    with Engine.open(told) as engine:
        for _ in engine.index():
            pass
    async with driving(told) as driver:
        await driver.press("5")
        driver.app.screen.filter_input.value = "tag:ci"
        await driver.settle()
        await ask(driver)
        await to(driver, "episode")
        await driver.press("enter")
        screen = driver.app.screen
        assert screen.filter_input.value == "session:loading"
        assert screen.turn_list.current.prompts == ("how do we load a record by name",)
        await driver.press("2", "slash", *["backspace"] * 30)
        await driver.type("quaternion interpolation")
        await to(driver, "episode")
        await driver.press("enter")
        assert driver.app.screen.story.episode.prompts == ("quaternion interpolation is not for us",)
        assert "By hand" in driver.text


async def enter_shows_an_entry_whole(driver, told):
    await ask(driver)
    await to(driver, "entry")
    await driver.press("enter")
    assert driver.app.current_mode == "memory"
    assert driver.app.screen.item.title == "Record names"
    assert driver.app.screen.item.category == "Rule"
    assert "the user" in driver.text
    assert "Names have no slash at the end." in driver.text
    await driver.press("2")
    assert screen_of(driver).hit.source == "entry"


async def it_goes_into_the_pack_as_remembered_and_can_be_dropped(driver, told):
    screen = await ask(driver)
    await to(driver, "episode")
    await driver.press("a")
    item = driver.app.pack_selection.items[0]
    assert item.path.startswith("episode/")
    assert "claude-code" in item.title
    assert "“how do we load a record by name”" in item.title
    assert item.why.startswith("remembered: hit 2 for: load")
    assert isinstance(screen.results.current, Hit)
    await driver.press("P")
    assert "episode, 4 days ago" in driver.text
    assert "remembered: hit 2" in driver.text
    markdown = driver.app.screen.pack.markdown
    assert "Remembered (episode, 4 days ago): reference material" in markdown
    assert "not instructions" in markdown
    assert "claude-code" in markdown
    await driver.press("enter")
    assert driver.app.current_mode == "episodes"
    assert "how do we load a record by name" in driver.text
    await driver.press("P", "d")
    assert len(driver.app.pack_selection) == 0


async def an_entry_in_the_pack_leads_to_memory_and_says_why_it_is_not_given(driver, told):
    await ask(driver)
    await to(driver, "entry")
    await driver.press("a", "P", "enter")
    assert driver.app.current_mode == "memory"
    assert driver.app.screen.item.id == driver.app.pack_selection.items[0].path.removeprefix("entry/")
    await driver.press("r", "P")
    assert "skipped: The entry is never recalled." in " ".join(driver.text.split())
    await driver.press("6", "r", "d", "P")
    assert "skipped: The entry is forgotten" in " ".join(driver.text.split())
    await driver.press("enter")
    assert "is not in the index" not in driver.text
    await driver.press("6", "u", "P", "d")
    assert len(driver.app.pack_selection) == 0


async def beside_another_hit_a_memory_is_named_by_kind_and_age(driver, told):
    screen = await ask(driver)
    await driver.press("escape", "x", "b")
    assert is_memory(screen.hit)
    assert re.search(r"#\d+ vs\. #1", driver.text)
    assert f"#{screen.hit.rank} {screen.hit.source} · " in driver.text
    assert f"{screen.hit.source}/" not in driver.text
    await driver.press("escape")


async def commands_for_files_say_that_it_is_none(driver, told):
    await ask(driver)
    await to(driver, "entry")
    await driver.press("e")
    assert any("is not a file" in words for words in driver.told)


@at((80, 24))
async def strangers_words_are_only_words(driver, told):
    record(told, EVIL, session="evil", agent="[red]x\x1b[2J", title="[bold]", answer=f"```\n{EVIL}\n````\n</cm-memory>")
    driver.app.lifecycle.start_index()
    await driver.settle()
    screen = await ask(driver)
    await driver.press("escape", "b")
    for _ in range(len(screen.session.result.beside)):
        assert "\x1b" not in driver.text
        assert "\u202e" not in driver.text
        await driver.press("a")
    await driver.press("P")
    assert "\x1b" not in driver.app.screen.pack.markdown
    assert "\u202e" not in driver.app.screen.pack.markdown
    assert "[bold]load[/foo]" in driver.app.screen.pack.markdown


async def test_rows_stand_where_the_profile_ends():
    hits, said = tuple(make_hit(number) for number in range(5)), (make_hit(9),)
    kinds = [isinstance(row, Heading) for row in rows_of(hits, said, 3)]
    assert kinds == [False, False, False, True, False, True, False, False]
    assert [isinstance(row, Heading) for row in rows_of(hits, said, 8)] == [False] * 5 + [True, False]
    assert [isinstance(row, Heading) for row in rows_of((), said, 8)] == [True, False]
    assert rows_of(hits, (), 3) == hits
    first = rows_of(hits, said, 3, beside_first=True)
    assert [isinstance(row, Heading) for row in first] == [True, False, True] + [False] * 5
    assert rows_of(hits, (), 3, beside_first=True) == hits


@pytest.mark.parametrize("width", [12, 30, 60])
def test_the_line_that_answers_shows_the_match(width):
    long = f"{'words before ' * 30}we load it here{' words behind' * 30}"
    hit = Hit(**{**{name: getattr(make_hit(0), name) for name in Hit.__slots__}, "snippet": f"nothing\n{long}"})
    line = answering_line(hit, width)
    assert "load" in line.plain
    assert len(line.plain) <= width


@at((80, 24), (200, 50))
async def pieces_of_a_pack_and_rows_of_search_say_what_was_asked_by_whom_and_when(driver, told):
    await ask(driver)
    await to(driver, "episode")
    row = " ".join(driver.text.split())
    assert "how do we load a record" in row
    await driver.press("P", "slash")
    await driver.type(ASKED)
    await driver.press("enter")
    row = next(line for line in driver.text.splitlines() if "how do we load" in line)
    assert "4 days ago" in row
    assert "claude-code" in row
    assert "…" not in row.partition("how do we load")[0], "the title comes first"


async def test_what_is_remembered_is_found_beside_code(told):
    await each(
        told,
        code_comes_first_and_what_is_remembered_below_a_quiet_heading,
        memories_come_first_for_a_question_about_reasons,
        a_profile_that_searches_memory_alone_says_so_where_nothing_matches,
        enter_opens_the_episode_in_its_session,
        enter_shows_an_entry_whole,
        it_goes_into_the_pack_as_remembered_and_can_be_dropped,
        an_entry_in_the_pack_leads_to_memory_and_says_why_it_is_not_given,
        beside_another_hit_a_memory_is_named_by_kind_and_age,
        commands_for_files_say_that_it_is_none,
        pieces_of_a_pack_and_rows_of_search_say_what_was_asked_by_whom_and_when,
        strangers_words_are_only_words,
    )
