"""Selecting in the episodes mode: sessions, everything that fits, and what goes away meanwhile."""

from __future__ import annotations

from cm_tui.model import EpisodeEdit
from tests.tui.mode_driver import at, each
from tests.tui.test_episodes_mode import sessions, states

SLASH, TESTS, REMOTE, RETRY = (
    "keep the slash of a record", "run the tests", "look into the remote", "why was the retry reverted",
)  # fmt: skip


async def space_selects_sessions_and_all_of_them_are_changed(driver, told):
    await driver.press("space", "space")
    assert "3 selected" in driver.text
    assert driver.app.screen.session_list.selected == {"s1", "sub"}
    await driver.press("t")
    await driver.type("both")
    await driver.press("enter")
    assert {name for name, (tags, *_) in states(told).items() if "both" in tags} == {SLASH, TESTS, REMOTE}
    await driver.press("u")
    await driver.press("k", "k", "space", "space", "d")
    assert {name for name, said in states(told).items() if said[3] == "forgotten"} == {SLASH, TESTS, REMOTE}
    assert [one for one in sessions(driver) if one not in ("all", "day")] == ["old"]
    assert "selected" not in driver.text
    assert "0 episodes" not in driver.text, "the session that is gone is not the one that is shown"
    await driver.press("u")
    assert {said[3] for said in states(told).values()} == {"shown"}


async def space_takes_a_session_out_again_and_enter_an_episode_of_it(driver, told):
    await driver.press("space", "k")
    assert "2 selected" in driver.text
    await driver.press("enter", "space")
    assert "1 selected" in driver.text
    assert not driver.app.screen.session_list.selected
    await driver.press("k", "space", "escape")
    assert "selected" not in driver.text


async def all_is_what_fits_the_filter_and_inside_of_a_session_its_episodes(driver, told):
    await driver.press("a")
    assert "4 selected" in driver.text
    await driver.press("a", "enter", "a")
    assert "2 selected" in driver.text


async def what_is_forgotten_elsewhere_is_not_selected_any_more(driver, told):
    await driver.press("enter", "space")
    assert "1 selected" in driver.text
    name = next(iter(driver.app.screen.selected))
    driver.app.tasks.engine.edit_episodes([name], EpisodeEdit(forgotten=True))
    await driver.press("1", "5")
    assert "selected" not in driver.text


@at((80, 24))
async def the_key_bar_begins_with_what_is_used_most(driver, told):
    bar = driver.text.splitlines()[-1]
    for words in ("? Help", "⏎ Open", "space Select", "/ Find", "u Undo", "d Forget", "t Tag", "v Unfold"):
        assert words in bar


@at((80, 24), (120, 40))
async def a_line_that_cannot_be_read_leaves_what_the_last_one_left(driver, told):
    await driver.press("slash")
    await driver.type("retry ")
    # Each letter is waited for: what is typed slowly must not be looked for as a word.
    await driver.press(*"outcome", "colon", *"bogus")
    assert [one for one in sessions(driver) if one not in ("all", "day")] == ["old"]
    assert "unknown value 'bogus'" in driver.text
    assert "Matches of retry are still shown" in " ".join(driver.text.split())
    await driver.press("space")
    await driver.type("since:zzz")
    words = " ".join(driver.text.split())
    assert "unknown value 'bogus'" in words
    assert "not a date: 'zzz'" in words
    assert [one for one in sessions(driver) if one not in ("all", "day")] == ["old"]
    await driver.press(*["backspace"] * len("bogus since:zzz"), *"ok")
    assert "still shown" not in driver.text
    assert [one for one in sessions(driver) if one not in ("all", "day")] == ["old"]


async def test_sessions_and_episodes_are_selected(told):
    await each(
        told,
        space_takes_a_session_out_again_and_enter_an_episode_of_it,
        all_is_what_fits_the_filter_and_inside_of_a_session_its_episodes,
        the_key_bar_begins_with_what_is_used_most,
        a_line_that_cannot_be_read_leaves_what_the_last_one_left,
        space_selects_sessions_and_all_of_them_are_changed,
        what_is_forgotten_elsewhere_is_not_selected_any_more,
        mode="5",
    )
