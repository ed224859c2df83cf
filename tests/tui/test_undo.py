"""One undo and one redo for all modes: each names what it did, and asks where the change cannot be seen."""

from __future__ import annotations

import threading
from pathlib import Path
from unittest import mock

from textual import events

from cm_tui.engine.api.engine import Engine
from cm_tui.model import PackRequest
from cm_tui.tui.screens.question import ListDialog, Question
from cm_tui.tui.state.change_history import MOST, ChangeHistory, UndoableChange
from tests.tui.mode_driver import PATIENCE, each
from tests.tui.test_episodes_mode import states

LOAD = PackRequest("src/store.py", 8, 10, "Store.load")
SLASH = "keep the slash of a record"


def bottom(driver) -> str:
    return driver.text.splitlines()[-1]


def is_pinned(root: Path) -> bool:
    return states(root)[SLASH][2]


async def a_change_of_another_mode_is_undone_and_redone_after_a_question(driver, told):
    await driver.press("enter", "p", "1")
    assert "u Undo" in bottom(driver)
    await driver.press("u")
    assert isinstance(driver.app.screen, Question)
    assert "Undo the change made in Episodes, just now?" in driver.text
    assert "pinned: 1 episode" in driver.text
    await driver.press("n")
    assert is_pinned(told)
    await driver.press("u", "y")
    assert not is_pinned(told)
    assert "Undone: pinned: 1 episode: “keep the slash of a record”" in bottom(driver)
    await driver.press("u")
    assert any("no changes yet" in words for words in driver.told)
    await driver.press("U", "n")
    assert not is_pinned(told)
    await driver.press("U", "y")
    assert is_pinned(told)
    assert "Redone: pinned: 1 episode: “keep the slash of a record”" in bottom(driver)
    await driver.press("5", "u")
    assert not is_pinned(told), "no question where it can be seen"
    assert "★ pinned" not in driver.text


async def pack_budget_and_theme_are_changes_too(driver, told):
    theme = driver.app.theme
    await driver.press("P")
    driver.app.pack_selection.add([LOAD])
    await driver.settle()
    await driver.press("b")
    await driver.type("900")
    await driver.press("enter")
    driver.app.theme = "nord"
    await driver.settle()
    await driver.press("u")
    assert driver.app.theme == theme
    assert "Undone: chose the theme nord" in bottom(driver)
    await driver.press("u")
    assert driver.app.screen.budget == 4_000
    await driver.press("u")
    assert "Undone: added Store.load to the pack" in bottom(driver)
    assert not driver.app.pack_selection.items
    await driver.press("U", "U", "U")
    assert (len(driver.app.pack_selection), driver.app.screen.budget) == (1, 900)
    assert driver.app.theme == driver.app.state.theme == "nord"
    await driver.press("u")
    assert driver.app.theme == theme


async def a_saved_profile_and_a_mark_are_undone_as_they_were(driver, told):
    file = told / ".cm/config.toml"
    await driver.press("2")
    await driver.type("load")
    await driver.press("enter", "plus")
    engine = driver.app.tasks.engine
    assert len(engine.marks().rows) == 1
    saved = driver.app.screen.session.profile.keyword_weight
    await driver.press("t", "down", "right", "s")
    assert "keyword_weight = 0.51" in file.read_text()
    assert any(words.startswith("Saved to") for words in driver.told)
    await driver.press("u")
    assert not any(words.startswith("Saved to") for words in driver.told), "it is not so any more"
    assert not file.exists()
    assert "Undone: saved the profile code" in bottom(driver)
    assert driver.app.screen.session.profile.keyword_weight == saved
    await driver.press("U")
    assert "keyword_weight = 0.51" in file.read_text()
    file.write_text(file.read_text().replace("0.51", "0.6"))
    await driver.press("u")
    assert any("R restores it" in words for words in driver.told)
    assert "0.6" in file.read_text(), "what was changed since stays"
    await driver.press("u")
    assert not engine.marks().rows
    await driver.press("U")
    assert len(engine.marks().rows) == 1
    await driver.press("u")
    file.unlink()


async def an_entry_is_written_again_and_what_others_undid_is_said(driver, told):
    await driver.press("6", "n")
    await driver.type("Tests need redis")
    await driver.press("ctrl+s")
    engine = driver.app.tasks.engine
    (made,) = engine.entries().rows
    await driver.press("u")
    assert not engine.entries().total
    assert "Undone: wrote the entry “Tests need redis”" in bottom(driver)
    await driver.press("U")
    assert [(one.id, one.content) for one in engine.entries().rows] == [(made.id, "Tests need redis")]
    with Engine.open(told) as other:
        other.undo()
    await driver.press("u")
    assert any("already undone" in words for words in driver.told)
    assert any("already undone" in words and "Tests need redis" in words for words in driver.told)
    assert driver.app.history.last is None


async def what_was_changed_before_this_run_is_redone_before_anything_else(driver, told):
    engine = driver.app.tasks.engine
    await driver.press("6")
    note = engine.append_note("The router listens on port 8123.", name="topics/router").id
    text = (told / note).read_text()
    await driver.press("n")
    await driver.type("Tests need redis")
    await driver.press("ctrl+s", "u", "u")
    assert not (told / note).exists()
    assert "Undone: changed .cm/notes/topics/router.md" in bottom(driver)
    await driver.press("U")
    assert (told / note).read_text() == text
    assert "Redone: changed .cm/notes/topics/router.md" in bottom(driver)
    assert not engine.entries().total
    await driver.press("U")
    assert [one.content for one in engine.entries().rows] == ["Tests need redis"]
    await driver.press("u", "u")
    assert not (told / note).exists()


async def the_list_names_titles_not_ids(driver, told):
    engine = driver.app.tasks.engine
    ids = [engine.remember(text, title=title).id for text, title in (("port 1", "Router"), ("port 2", "Switch"))]
    await driver.press("6", "p", "M", "escape", "d", "alt+u")
    rows = driver.text_in("#dialog-list")
    assert "pinned the entry “" in rows
    assert "forgot the entry “" in rows
    assert not any(id_ in rows for id_ in ids)
    await driver.press("escape")
    for id_ in ids:
        engine.forget_memory(id_)


async def a_list_undoes_what_nothing_else_builds_on(driver, told):
    await driver.press("enter", "p", "t")
    await driver.type("big")
    await driver.press("enter", "down", "plus", "alt+u")
    assert isinstance(driver.app.screen, ListDialog)
    rows = driver.text_in("#dialog-list").splitlines()
    assert "rated useful" in rows[0]
    assert "tagged big" in rows[1]
    assert "pinned" in rows[2]
    assert "Episodes" in rows[2]
    assert " now" in rows[2]
    await driver.press("end", "enter")
    assert isinstance(driver.app.screen, ListDialog)
    assert "A later change depends on it; undo that first: tagged big" in driver.text
    await driver.press("up", "enter")
    assert states(told)[SLASH] == ((), 0, True, "shown")
    assert states(told)["run the tests"][1] == 1
    await driver.press("alt+u", "end", "enter")
    assert states(told)[SLASH] == ((), 0, False, "shown")
    await driver.press("alt+u", "escape", "u")
    assert states(told)["run the tests"][1] == 0


async def three_undos_at_once_are_one_with_a_sign_for_each(driver, told):
    await driver.press("enter", "p", "plus", "t")
    await driver.type("big")
    await driver.press("enter")
    engine, go_on = driver.app.tasks.engine, threading.Event()
    undo = engine.undo

    def slowly(**values):
        assert go_on.wait(PATIENCE)
        return undo(**values)

    with mock.patch.object(engine, "undo", slowly):
        await driver.pilot.press("u", "u", "u")
        await driver.until(lambda: "◐ Undo…" in bottom(driver))
        assert "Undo: the previous one is still running" in driver.told
        go_on.set()
        await driver.settle()
    assert states(told)[SLASH] == ((), 1, True, "shown")
    await driver.press("u", "u")
    assert states(told)[SLASH] == ((), 0, False, "shown")


async def a_list_refuses_what_was_undone_while_it_was_open(driver, told):
    before = states(told)[SLASH]
    await driver.press("enter", "p")
    engine, go_on = driver.app.tasks.engine, threading.Event()
    undo = engine.undo
    with mock.patch.object(engine, "undo", lambda **values: undo(**values) if go_on.wait(PATIENCE) else None):
        await driver.pilot.press("u")
        await driver.pilot.press("alt+u")
        await driver.until(lambda: isinstance(driver.app.screen, ListDialog))
        go_on.set()
        await driver.settle()
    await driver.press("enter")
    assert "It was undone meanwhile" in driver.text
    await driver.press("escape")
    assert states(told)[SLASH] == before
    await driver.press("U")
    assert states(told)[SLASH][2] != before[2], "it can be redone all the same"
    await driver.press("u")


async def lines_pasted_into_a_dialog_are_all_kept(driver, told):
    await driver.press("enter", "t")
    driver.app.post_message(events.Paste("big\r\nbug\n"))
    await driver.settle()
    assert driver.app.focused.value == "big bug"
    await driver.press("escape")


async def messages_of_what_was_done_do_not_cover_a_dialog(driver, told):
    driver.app.tell("Saved to a file")
    driver.app.tell("That failed", severity="warning")
    await driver.press("enter", "t")
    assert driver.told == ["That failed"]
    await driver.press("escape")


async def a_change_that_fails_is_none_to_undo(driver, told):
    await driver.press("enter", "p")
    with mock.patch.object(driver.app.tasks.engine, "edit_episodes", side_effect=OSError("disk full")):
        await driver.press("plus")
    await driver.press("u")
    assert states(told)[SLASH] == ((), 0, False, "shown")


async def test_changes_of_all_modes_are_undone_and_redone(told: Path):
    await each(
        told,
        a_change_of_another_mode_is_undone_and_redone_after_a_question,
        pack_budget_and_theme_are_changes_too,
        a_saved_profile_and_a_mark_are_undone_as_they_were,
        an_entry_is_written_again_and_what_others_undid_is_said,
        what_was_changed_before_this_run_is_redone_before_anything_else,
        the_list_names_titles_not_ids,
        a_list_undoes_what_nothing_else_builds_on,
        three_undos_at_once_are_one_with_a_sign_for_each,
        a_change_that_fails_is_none_to_undo,
        a_list_refuses_what_was_undone_while_it_was_open,
        lines_pasted_into_a_dialog_are_all_kept,
        messages_of_what_was_done_do_not_cover_a_dialog,
        mode="5",
    )


def change(label: str, *about: str) -> UndoableChange:
    return UndoableChange(label, "pack", lambda *_: None, lambda *_: None, frozenset(about))


def test_a_history_is_bounded_and_knows_what_builds_on_what():
    history = ChangeHistory()
    first, second, third = change("1", "a"), change("2", "b"), change("3", "a", "b")
    for one in (first, second, third):
        history.add(one)
    assert history.newest_first == (third, second, first)
    assert history.builds_on(first) is history.builds_on(second) is third
    assert history.builds_on(third) is None
    history.undone(third)
    assert (history.last, history.next_redo) == (second, third)
    assert history.builds_on(first) is None
    history.redone(third)
    history.drop(second)
    assert history.newest_first == (third, first)
    history.undone(third)
    history.add(change("4"))
    assert history.next_redo is None, "what is changed after an undo takes the place of what was undone"
    for number in range(MOST + 5):
        history.add(change(str(number)))
    assert len(history.newest_first) == MOST
