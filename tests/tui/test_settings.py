"""Settings in the running application: keys of one's own, the theme, files that change outside, numbers as they came."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.config import Config, load_config
from cm_tui.tui.app.settings_in_force import Keymap
from cm_tui.tui.modes.search.screen import SearchScreen
from cm_tui.tui.screens.mode_list import TITLES
from cm_tui.tui.state.remembered import AppState, load_state, save_state
from tests.tui.mode_driver import driving


def said_of(**keys: str) -> list[str]:
    return Keymap({name.replace("__", "."): key for name, key in keys.items()}).problems()


# --- keys ---


def test_an_id_that_no_command_has_is_named_with_the_nearest():
    assert said_of(search__focsu="f10") == [
        "tui.keys: unknown command search.focsu; it is ignored. Did you mean search.focus?"
    ]
    assert said_of(zzz="f10") == ["tui.keys: unknown command zzz; it is ignored."]


def test_a_key_that_is_taken_from_another_command_is_said():
    assert said_of(search__tune="y") == ["tui.keys: search.tune takes y from search.copy (Copy), which has no key now."]
    assert said_of(search__copy="t") == ["tui.keys: search.copy takes t from search.tune (Tune), which still has ^n."]
    assert said_of(app__theme="?") == ["tui.keys: app.theme takes ? from app.help (Help), which still has f12."]
    assert any("from pack.budget" in words for words in said_of(app__theme="b"))


def test_a_key_for_two_commands_is_said_once():
    assert said_of(search__tune="f10", search__copy="f10") == [
        "tui.keys: search.copy and search.tune both use f10; only one of them receives it."
    ]


def test_commands_of_different_modes_may_have_the_same_key():
    assert said_of(search__tune="f10", pack__budget="f10") == []


def test_a_key_that_is_handed_on_takes_nothing_away():
    assert said_of(search__tune="y", search__copy="f10") == []


def test_what_no_terminal_sends_and_what_moves_in_lists():
    assert said_of(search__tune="ctlr+x") == ["tui.keys: search.tune: unknown key ctlr+x."]
    assert said_of(search__tune="j") == [
        "tui.keys: search.tune: j moves the cursor in lists, which take the key first."
    ]
    for fine in ("ctrl+s", "shift+f3", "Ä", "!", "alt+left", "insert,f10"):
        assert said_of(pack__question=fine) == [], fine


@pytest.mark.parametrize("mode", TITLES)
def test_the_keys_that_come_with_cm_are_without_problems(mode):
    assert Keymap({}).problems() == []


async def test_problems_of_keys_are_on_screen_and_help_shows_the_keys_there_are(project):
    config = Config(tui={"keys": {"search.copy": "t", "pack.up": "f5", "serch.open": "x"}})
    async with driving(project, config=config) as driver:
        told = "\n".join(driver.told)
        assert "search.copy takes t from search.tune" in told
        assert "serch.open; it is ignored. Did you mean search.open" in told
        await driver.press("2", "escape")
        screen = driver.app.screen
        assert driver.app.keys_of(screen.command("search.copy")) == "t"
        assert driver.app.keys_of(screen.command("search.tune")) == "^n"
        await driver.press("P")
        assert driver.app.keys_of(driver.app.screen.command("pack.up")) == "f5"


# --- the theme ---


@pytest.mark.deep
async def test_the_settings_theme_counts_over_one_that_is_remembered_from_before(project):
    save_state(project, AppState(theme="nord"))
    async with driving(project, config=Config(tui={"theme": "cm-light"})) as driver:
        assert driver.app.theme == "cm-light"
    async with driving(project) as driver:
        assert driver.app.theme == "nord"


async def test_a_theme_that_is_chosen_later_stays_until_the_settings_say_another(project):
    said = Config(tui={"theme": "cm-light"})
    async with driving(project, config=said) as driver:
        driver.app.theme = "nord"
        await driver.settle()
        assert any("nord is used here" in words and "cm-light" in words for words in driver.told)
        driver.app.state_writer.flush()
    async with driving(project, config=said) as driver:
        assert driver.app.theme == "nord"
    async with driving(project, config=Config(tui={"theme": "gruvbox"})) as driver:
        assert driver.app.theme == "gruvbox"
        driver.app.theme = "cm-dark"
        await driver.settle()
        driver.app.theme = "gruvbox"
        await driver.settle()
        driver.app.state_writer.flush()
    assert load_state(project)[0].theme is None


async def test_the_current_theme_is_marked_in_its_list_and_has_the_cursor(project):
    async with driving(project, size=(80, 24)) as driver:
        await driver.press("ctrl+t")
        (line,) = (line for line in driver.text.split("\n") if "● current" in line)
        assert line.strip(" │").startswith("cm-dark ")
        await driver.press("escape")
        assert driver.app.theme == "cm-dark"
        await driver.press("ctrl+t", "down", "enter")
        assert driver.app.theme == "cm-light"
        await driver.press("ctrl+t")
        await driver.type("nord")
        await driver.press("enter")
        assert driver.app.theme == "nord"


# --- files that change outside ---


@pytest.fixture
def settings(cm_home: Path) -> Path:
    file = paths.config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


async def test_a_settings_file_that_is_written_removed_or_wrong_is_noticed_applied_and_said(project, settings):
    async with driving(project, config=load_config(project), mode="2") as driver:
        screen = driver.app.modes.screen(SearchScreen)
        came = screen.session.profiles["code"].limit
        settings.write_text(
            '[tui]\ntheme = "cm-light"\n[tui.keys]\n"search.tune" = "f10"\n[profiles.code]\nlimit = 3\n[index]\nworkers = 2\n'
        )
        await driver.until(lambda: driver.app.theme == "cm-light")
        await driver.until(lambda: screen.session.profiles["code"].limit == 3)
        told = "\n".join(driver.told)
        assert "In force now: tui.theme, tui.keys, profiles.code." in told
        assert "index.workers applies when cm is restarted." in told
        await driver.press("escape", "f10")
        assert screen.has_class("-tuning")
        settings.unlink()
        await driver.until(lambda: driver.app.theme == "cm-dark")
        await driver.until(lambda: screen.session.profiles["code"].limit == came)
        # After a mistake, what was in force before stays.
        settings.write_text('[tui]\ntheme = "nord"\n')
        await driver.until(lambda: driver.app.theme == "nord")
        settings.write_text('[tui]\ntehme = "cm-light"\n')
        await driver.until(lambda: any("Did you mean tui.theme?" in words for words in driver.told))
        assert any("The previous settings stay in force." in words for words in driver.told)
        assert driver.app.theme == "nord"
        settings.write_text('[tui]\ntheme = "cm-light"\n')
        await driver.until(lambda: driver.app.theme == "cm-light")


# --- numbers as they came ---


async def test_a_saved_weight_goes_back_to_what_it_came_as(project):
    file = paths.project_config_file(project)
    file.parent.mkdir(exist_ok=True)
    file.write_text("[profiles.code]\nkeyword_weight = 0.9\nlimit = 3\n")
    async with driving(project, config=load_config(project), mode="2") as driver:
        screen = driver.app.modes.screen(SearchScreen)
        panel = screen.hit_panel.profile_panel
        came = screen.session.packaged["code"]
        assert screen.session.saved.keyword_weight == 0.9 != came.keyword_weight
        await driver.press("escape", "t")
        panel.cursor = next(i for i, row in enumerate(panel.rows) if getattr(row, "field", "") == "keyword_weight")
        await driver.press("f")
        assert screen.session.profile.keyword_weight == came.keyword_weight
        assert screen.session.profile.limit == 3
        await driver.press("s")
        assert load_config(project).profiles["code"] == {"limit": 3}
        await driver.press("F", "s")
        assert screen.session.saved == came
        assert not load_config(project).profiles
        await driver.press("f")
        assert any("all numbers are defaults" in words for words in driver.told)
