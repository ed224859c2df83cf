"""Episodes: keys are pressed over what was really recorded, and the screen is read."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from textual.widgets import TextArea

from cm_tui.engine.api.engine import Engine
from cm_tui.model import EpisodeFilter
from cm_tui.tui.modes.episodes import view
from cm_tui.tui.modes.episodes.session_list import SessionRow
from cm_tui.tui.tasks import ask
from tests.tui.mode_driver import Driver, at, driving, each, starting
from tests.tui.recorded_sessions import record


def sessions(driver: Driver) -> list[str]:
    rows: list[SessionRow] = list(driver.app.screen.session_list.rows)
    return [row.session.id if row.session else "day" if row.day else "all" for row in rows]


def turns(driver: Driver) -> list[str]:
    return [row.prompts[0] for row in driver.app.screen.turn_list.rows]


def story(driver: Driver) -> str:
    return "\n".join(line.content.plain.rstrip() for line in driver.app.screen.story.lines.rows)


def states(root: Path) -> dict[str, tuple[tuple[str, ...], int, bool, str]]:
    """What the engine says of each episode."""
    found = {}
    with Engine.open(root) as engine:
        for state in ("shown", "forgotten"):
            for one in engine.episodes(where=EpisodeFilter(state=state)).rows:
                found[one.prompts[0]] = (one.tags, one.rating, one.pinned, one.state)
    return found


@at((80, 24), (200, 50))
async def sessions_by_day_their_episodes_and_the_story_of_one(driver, told):
    assert "3 sessions" in driver.text
    assert "4 episodes" in driver.text
    assert "✓ 2 ok" in driver.text
    rows = sessions(driver)
    assert rows[:1] == ["all"]
    assert rows.index("sub") == rows.index("s1") + 1, "a sub-agent's session stands below the one that started it"
    assert rows.index("old") > rows.index("sub")
    assert turns(driver) == ["keep the slash of a record", "run the tests"], "a session is told from its beginning"
    for words in ("1. keep the slash", "Done: the slash stays", "2. run the tests", "look into the remote"):
        assert words in story(driver)
    await driver.press("v")
    assert driver.told == ["Unfold: nothing is folded here"]
    await driver.press("enter")
    screen = driver.app.screen
    assert screen.focused is screen.turn_list
    words = story(driver)
    order = ["keep the slash", "1. read", "Read", "write the test first", "assert 'a'", "the slash stays",
             "src/store.py", "None where there is none", "src/new.py", "212 tests pass", "1 secret redacted"]  # fmt: skip
    place = 0
    for one in order:
        place = words.find(one, place)
        assert place >= 0, f"{one} does not stand where it should"
    assert "Let me look where" not in words, "what was thought is folded"
    await driver.press("down")
    assert "3 fail." in story(driver)
    assert "failed" in driver.text
    await driver.press("right_square_bracket")
    assert driver.told == ["It is the last episode listed"]
    await driver.press("left_square_bracket")
    assert "slash stays" in story(driver)
    await driver.press("left_square_bracket")
    assert driver.told == ["It is the first episode listed"]


async def parts_fold_by_enter_and_all_of_them_by_one_key(driver, told):
    await driver.press("enter", "enter")
    lines = driver.app.screen.story.lines
    thought = next(n for n, line in enumerate(lines.rows) if "It is lost" in line.content.plain)
    lines.cursor = thought
    await driver.press("enter")
    assert "Let me look where" in story(driver)
    assert lines.cursor == thought
    await driver.press("enter")
    assert "Let me look where" not in story(driver)
    await driver.press("v")
    assert "Let me look where" in story(driver)
    assert "class Store:" in story(driver)
    await driver.press("v")
    assert "Let me look where" not in story(driver)


async def enter_in_the_story_of_a_session_leads_to_its_turns_and_sub_agents_and_escape_leads_back(driver, told):
    screen = driver.app.screen
    screen.story.lines.focus()
    lines = screen.story.lines
    lines.cursor = next(n for n, line in enumerate(lines.rows) if "2. run the tests" in line.content.plain)
    await driver.press("enter")
    assert screen.turn_list.current.prompts == ("run the tests",)
    assert "3 fail." in story(driver)
    await driver.press("enter", "escape")
    assert screen.focused is screen.turn_list
    await driver.press("escape")
    assert screen.focused is screen.session_list
    assert "1. keep the slash" in story(driver)
    lines.focus()
    lines.cursor = next(n for n, line in enumerate(lines.rows) if "look into the remote" in line.content.plain)
    await driver.press("enter")
    assert turns(driver) == ["look into the remote"]
    assert "a sub-agent" in driver.text


async def words_and_fields_filter_and_a_wrong_value_is_told(driver, told):
    await driver.press("slash")
    await driver.type("retry")
    assert sessions(driver) == ["all", "day", "old"]
    assert "1 session " in driver.text
    assert turns(driver) == ["why was the retry reverted"]
    await driver.press("escape", "escape")
    assert len([one for one in sessions(driver) if one not in ("day", "all")]) == 3
    for line, left in (
        ("outcome:failed", ["run the tests"]),
        ("tool:Read", ["keep the slash of a record"]),
        ("tool:Bash tag:ci", ["run the tests"]),
        ("file:src agent:codex", ["keep the slash of a record"]),
        ("until:12h", ["why was the retry reverted"]),
        ("session:sub", ["look into the remote"]),
    ):
        driver.app.screen.filter_input.value = line
        await driver.settle()
        await driver.press("g")
        assert turns(driver) == left, line
    driver.app.screen.filter_input.value = "outcome:lost"
    await driver.settle()
    assert "unknown value 'lost'" in driver.text
    assert "ok, failed, interrupted" in driver.text
    assert turns(driver) == ["look into the remote"], "what is shown stays"
    driver.app.screen.filter_input.value = "nothing-of-that-kind"
    await driver.settle()
    assert "No matches for nothing-of-that-kind" in " ".join(driver.text.replace("│", " ").split())


async def what_there_is_to_filter_by_is_listed_with_counts(driver, told):
    await driver.press("f")
    assert "Outcome" in driver.text
    rows = driver.app.screen.query_one("#filter-list")
    rows.cursor = next(n for n, row in enumerate(rows.rows) if row.term and row.term.value == "Bash")
    assert rows.current.count == 2
    await driver.press("space")
    assert "tool:Bash" in driver.text
    await driver.press("escape")
    assert driver.app.screen.filter_input.value == "tool:Bash"
    assert "2 episodes" in driver.text
    await driver.press("f", "x", "escape")
    assert driver.app.screen.filter_input.value == ""
    assert "4 episodes" in driver.text


async def one_is_tagged_rated_pinned_and_each_is_undone(driver, told):
    await driver.press("enter", "p", "plus", "t")
    await driver.type("router, big bug")
    await driver.press("enter")
    assert "★ pinned" in driver.text
    assert "▲ useful" in driver.text
    assert "#router #big bug" in driver.text
    name = "keep the slash of a record"
    assert states(told)[name] == (("router", "big bug"), 1, True, "shown")
    await driver.press("t")
    assert driver.app.screen.query_one("Input").value == "router, big bug, "
    await driver.type("ci")
    await driver.press("enter")
    assert states(told)[name] == (("router", "big bug", "ci"), 1, True, "shown"), "what is typed is added"
    await driver.press("u", "u")
    assert states(told)[name] == ((), 1, True, "shown")
    assert any("Undone" in words for words in driver.told)
    await driver.press("plus", "p")
    assert states(told)[name] == ((), 0, False, "shown")
    await driver.press("minus")
    assert "▼ misled" in driver.text


async def many_are_changed_at_once(driver, told):
    await driver.press("g", "enter", "space", "space")
    assert "2 selected" in driver.text
    await driver.press("p")
    pinned = {name for name, (_, _, pin, _) in states(told).items() if pin}
    assert pinned == {"run the tests", "look into the remote"}
    assert "selected" not in driver.text
    await driver.press("a")
    assert "4 selected" in driver.text
    await driver.press("t")
    await driver.type("all")
    await driver.press("enter")
    assert all("all" in tags for tags, *_ in states(told).values())
    await driver.press("u")
    assert not any("all" in tags for tags, *_ in states(told).values())
    await driver.press("a", "escape")
    assert "selected" not in driver.text


async def an_episode_is_forgotten_listed_among_the_forgotten_and_brought_back(driver, told):
    await driver.press("enter", "down", "d")
    assert turns(driver) == ["keep the slash of a record"]
    assert states(told)["run the tests"][3] == "forgotten"
    driver.app.screen.filter_input.value = "state:forgotten"
    await driver.settle()
    assert turns(driver) == ["run the tests"]
    driver.app.screen.turn_list.focus()
    await driver.press("d")
    assert states(told)["run the tests"][3] == "shown"
    driver.app.screen.filter_input.value = ""
    await driver.settle()
    assert turns(driver) == ["keep the slash of a record", "run the tests"]


@at((80, 24))
async def a_whole_session_is_forgotten_after_a_question_and_undone(driver, told):
    await driver.press("d")
    assert "Forget 2 episodes of the session “Slashes”?" in driver.text
    await driver.press("n")
    assert len(states(told)) == 4
    await driver.press("d", "y")
    assert {name for name, said in states(told).items() if said[3] == "forgotten"} == {
        "keep the slash of a record", "run the tests",
    }  # fmt: skip
    assert "s1" not in sessions(driver)
    await driver.press("u")
    assert "s1" in sessions(driver)
    await driver.press("g", "d")
    assert any("choose a session" in words for words in driver.told), "everything at once is nobody's wish"


async def the_code_that_it_touched_now_and_as_it_was(driver, told):
    await driver.press("o")
    assert any("choose an episode" in words for words in driver.told)
    await driver.press("enter", "enter")
    lines = driver.app.screen.story.lines
    lines.cursor = next(n for n, line in enumerate(lines.rows) if "name.strip" in line.content.plain)
    await driver.press("o")
    assert driver.app.current_mode == "symbols"
    assert driver.app.revision.moment is None
    assert driver.app.screen.code.current.number == 10
    assert "return json.loads" in driver.text
    await driver.press("5", "s")
    assert driver.app.current_mode == "symbols"
    assert "◀ PAST" in driver.text
    assert "seen by codex: keep the slash" in driver.text
    await driver.press("0", "5", "r")
    assert driver.app.current_mode == "history"
    await driver.until(lambda: driver.app.revision.episode is not None)


async def an_episode_without_a_commit_says_why_it_cannot_be_shown_as_it_was(driver, project):
    record(project, files=("src/store.py",))
    await driver.anew("5")
    await driver.press("enter", "s")
    assert any("no commit recorded" in words for words in driver.told)
    await driver.press("o")
    assert driver.app.current_mode == "symbols"


async def a_session_over_midnight_shows_the_day_where_it_changes(driver, project):
    midnight = time.mktime((2026, 1, 31, 0, 0, 0, 0, 0, -1))
    record(project, "in the evening", session="night", at=midnight - 600, turn=1)
    record(project, "in the morning", session="night", at=midnight + 540, turn=2)
    await driver.anew("5")
    driver.app.screen.go_to_session("night")
    await driver.settle()
    assert "2026-01-30 23:50 – 01-31 00:09" in driver.text


async def what_is_written_down_begins_with_what_the_agent_concluded(driver, project):
    answer = "I read the store first.\n\nThe slash was lost in strip(). It stays now.\n\n```\npytest -q\n```\n\nShall I commit?"
    record(project, "keep the slash", session="s2", answer=answer, verdict="pytest -q: 212 passed")
    await driver.anew("5")
    await driver.press("g", "enter", "w")
    assert driver.app.screen.query_one(TextArea).text == "The slash was lost in strip(). It stays now."
    await driver.press("escape")


async def control_characters_never_reach_the_screen(driver, project):
    evil = "a\x1b[2Jb\x07\rc\u202e[red]x[/]"
    record(
        project, evil, agent="x\x1b]0;y\x07", session="\x9b1m", title=evil, files=("\x1bq", "../../etc/passwd"), plan=evil,
        answer=evil, verdict=evil, tools=("\x1bt",), tags=("\x1b[1m[bold]",), note=evil, outcome="ok",
    )  # fmt: skip
    await driver.anew("5")
    for keys in (("enter",), ("enter", "v"), ("f",), ("escape", "t"), ("escape", "escape", "d")):
        await driver.press(*keys)
        assert not {"\x1b", "\x07", "\r", "\x9b", "\u202e"} & set(driver.text), keys
        assert not any("\x1b" in words for words in driver.told)
        assert driver.app.screen.is_modal or "d" in keys or "[red]x[/]" in story(driver)


async def before_anything_was_recorded_the_list_says_how_there_will_be_something(driver, project):
    words = " ".join(driver.text.replace("│", " ").split())
    assert "cm agent install" in words
    assert "cm import" in words
    for key in ("enter", "space", "a", "p", "d", "o", "v", "z", "escape"):
        await driver.press(key)
    await driver.press("u")
    assert any("No change of yours" in words for words in driver.told)


@pytest.mark.deep
async def test_long_lists_are_read_as_somebody_looks(project, monkeypatch):
    monkeypatch.setattr(ask, "PAGE", 20)
    for number in range(70):
        record(project, f"prompt {number}", session=f"s{number // 2}")
    async with driving(project, mode="5") as driver:
        assert "20 of 35 sessions" in driver.text
        await driver.press("G")
        await driver.until(lambda: "35 sessions" in driver.text)
        await driver.press("g")
        assert "20 of 70 episodes" in driver.text
        await driver.press("enter", "G", "G", "G", "G")
        await driver.until(lambda: len(turns(driver)) == 70)
        assert turns(driver) == [f"prompt {number}" for number in reversed(range(70))]


async def test_what_is_recorded_meanwhile_comes_by_itself_and_filter_and_session_are_found_again(told, monkeypatch):
    monkeypatch.setattr(view, "LOOK_AGAIN", 0.05)
    async with driving(told, mode="5") as driver:
        await driver.press("enter", "down")
        record(told, "something new", session="s9")
        await driver.until(lambda: "s9" in sessions(driver))
        assert driver.app.screen.turn_list.current.prompts == ("run the tests",)
        assert "3 fail." in story(driver)
        await driver.anew("5")
        driver.app.screen.filter_input.value = "outcome:ok,failed"
        await driver.settle()
        await driver.press("end")
        assert turns(driver) == ["why was the retry reverted"]
        await driver.press("q")
    engine, go_on = Engine.open(told), threading.Event()
    sessions_of = engine.sessions
    engine.sessions = lambda **options: sessions_of(**options) if go_on.wait(60) else None
    async with starting(told, open_engine=lambda: engine) as driver:
        await driver.until(lambda: driver.app.current_mode == "episodes" and "of this session" in driver.text)
        assert driver.app.screen.filter_input.value == "outcome:ok,failed"
        assert turns(driver) == ["why was the retry reverted"]
        assert "Reading…" in driver.text_in("#session-panel")
        go_on.set()
        await driver.settle()
        assert "why was the retry reverted" in driver.text_in("#story-head"), "a session that came late has its title"
        assert driver.app.screen.session_list.current.key == driver.app.screen.session_key


async def what_was_only_asked_is_in_the_draft_of_a_note_once(driver, told):
    driver.app.screen.go_to_session("sub")
    await driver.settle()
    await driver.press("enter", "W")
    assert driver.app.screen.query_one(TextArea).text == "look into the remote"
    await driver.press("escape")


async def an_episode_is_erased_after_two_answers(driver, told):
    await driver.press("enter", "down", "delete")
    await driver.until(lambda: "permanently?" in driver.text)
    await driver.press("y")
    await driver.type("erase")
    await driver.press("enter")
    await driver.until(lambda: turns(driver) == ["keep the slash of a record"])
    assert "run the tests" not in states(told)


@at((80, 24))
async def one_panel_alone_and_back(driver, told):
    size = driver.app.size
    await driver.press("enter", "enter", "z")
    assert not driver.app.screen.query_one("#episodes-lists").display
    assert driver.app.screen.story.outer_size.width == size[0]
    await driver.press("escape")
    assert driver.app.screen.query_one("#episodes-lists").display


async def test_what_was_recorded_is_read_filtered_followed_and_changed(told):
    await each(
        told,
        sessions_by_day_their_episodes_and_the_story_of_one,
        parts_fold_by_enter_and_all_of_them_by_one_key,
        enter_in_the_story_of_a_session_leads_to_its_turns_and_sub_agents_and_escape_leads_back,
        words_and_fields_filter_and_a_wrong_value_is_told,
        what_there_is_to_filter_by_is_listed_with_counts,
        one_panel_alone_and_back,
        the_code_that_it_touched_now_and_as_it_was,
        one_is_tagged_rated_pinned_and_each_is_undone,
        many_are_changed_at_once,
        an_episode_is_forgotten_listed_among_the_forgotten_and_brought_back,
        a_whole_session_is_forgotten_after_a_question_and_undone,
        what_was_only_asked_is_in_the_draft_of_a_note_once,
        an_episode_is_erased_after_two_answers,
        mode="5",
    )


async def test_a_project_of_which_nothing_or_something_odd_is_recorded(project):
    await each(
        project,
        before_anything_was_recorded_the_list_says_how_there_will_be_something,
        an_episode_without_a_commit_says_why_it_cannot_be_shown_as_it_was,
        what_is_written_down_begins_with_what_the_agent_concluded,
        a_session_over_midnight_shows_the_day_where_it_changes,
        control_characters_never_reach_the_screen,
        mode="5",
    )
