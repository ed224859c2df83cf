"""Pack: collect, reorder, cut, undo, take away, find again."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from cm_tui.engine.context.packs.budget import tokens
from cm_tui.model import PackRequest
from cm_tui.tui.state.pack_selection import readable
from cm_tui.tui.state.remembered import load_state
from cm_tui.tui.terminal import clipboard
from tests.tui.mode_driver import at, driving, each
from tests.tui.test_search_mode import ask, first_panel, screen_of

SIZES = [(80, 24), (120, 40), (200, 50)]
LOAD = PackRequest("src/store.py", 8, 10, "Store.load", "chosen in Symbols")
MAKE = PackRequest("src/service.py", 4, 6, "make_store")
REPORT = PackRequest("src/service.py", 9, 11, "report")


def titles(driver) -> list[str]:
    return [item.title for item in driver.app.pack_selection.items]


@at((80, 24))
async def pieces_tokens_bar_and_preview_at_every_size(driver, project):
    assert "The pack is empty." in driver.text
    driver.app.pack_selection.add([LOAD, MAKE])
    await driver.settle()
    pack = driver.app.screen.pack
    assert tokens(pack.markdown) == pack.tokens
    for size in SIZES:
        await driver.resize(size)
        assert "Store.load" in driver.text
        assert f"{pack.tokens:,} of 4,000 tokens" in driver.text
        assert "### `src/store.py:8-10`" in driver.text


async def reorder_drop_and_undo(driver, project):
    driver.app.pack_selection.add([LOAD, MAKE, REPORT])
    await driver.settle()
    await driver.press("K")
    assert driver.told == ["It is already the first piece"]
    await driver.press("J")
    assert titles(driver) == ["make_store", "Store.load", "report"]
    assert driver.app.screen.pieces.cursor == 1
    await driver.press("d")
    assert titles(driver) == ["make_store", "report"]
    await driver.press("u", "u")
    assert titles(driver) == ["Store.load", "make_store", "report"]
    await driver.press("u")
    assert titles(driver) == []
    await driver.press("u")
    assert any("no changes yet" in words for words in driver.told)
    await driver.press("U", "U", "U")
    assert titles(driver) == ["make_store", "report"]
    await driver.press("U")
    assert any("nothing to redo" in words for words in driver.told)
    # What is changed after an undo takes the place of what was undone.
    await driver.press("u", "u", "d")
    left = titles(driver)
    assert len(left) == 2
    await driver.press("U")
    assert titles(driver) == left


async def keys_pressed_faster_than_counting_hit_the_right_piece(driver, project):
    driver.app.pack_selection.add([LOAD, MAKE, REPORT])
    await driver.settle()
    await driver.pilot.press("d", "plus", "J", "J")
    await driver.settle()
    assert [(i.title, i.start_line, i.end_line) for i in driver.app.pack_selection.items] == [
        ("report", 9, 11),
        ("make_store", 1, 9),
    ]


async def grow_shrink_and_set_lines(driver, project):
    driver.app.pack_selection.add([LOAD])
    await driver.settle()
    await driver.press("plus")
    assert (driver.app.pack_selection.items[0].start_line, driver.app.pack_selection.items[0].end_line) == (5, 13)
    await driver.press("minus", "minus")
    assert (driver.app.pack_selection.items[0].start_line, driver.app.pack_selection.items[0].end_line) == (9, 9)
    await driver.press("e")
    await driver.type("nonsense")
    await driver.press("enter")
    assert "Enter two lines" in driver.text
    await driver.press(*["backspace"] * 8)
    await driver.type("2-4")
    await driver.press("enter")
    assert driver.app.pack_selection.items[0].start_line == 2
    assert "import json" in driver.app.screen.pack.markdown


async def a_piece_that_gets_no_longer_or_shorter_says_why(driver, project):
    whole = PackRequest("src/remote.py", 1, 3, "remote")
    driver.app.pack_selection.add([whole])
    await driver.settle()
    for _ in range(2):
        await driver.press("plus")
        assert driver.told == ["Grow: it is the whole file"]
    assert (driver.app.screen.current.start_line, driver.app.screen.current.end_line) == (1, 3)
    await driver.press("minus")
    assert driver.told == []
    await driver.press("minus")
    assert driver.told == ["Shrink: it is a single line"]
    await driver.press("plus")
    assert driver.told == []
    driver.app.pack_selection.change(())
    await driver.press("enter")
    assert driver.told == ["Enter: nothing is listed"]


async def over_budget_is_cut_and_said(driver, project):
    driver.app.pack_selection.add([LOAD, MAKE, REPORT])
    await driver.settle()
    await driver.press("b")
    await driver.type("110")
    await driver.press("enter")
    pack = driver.app.screen.pack
    assert 0 < pack.tokens <= 110
    assert not all(item.included for item in pack.items)
    assert "Omitted" in driver.text
    assert "fit" in driver.text


async def automatic_pack_takes_the_place_and_undo_brings_back(driver, project):
    driver.app.pack_selection.add([REPORT])
    await driver.settle()
    await driver.press("slash")
    await driver.type("load a record by name")
    await driver.press("enter")
    assert any(item.path == "src/store.py" for item in driver.app.pack_selection.items)
    assert driver.app.screen.pack.markdown.startswith("load a record by name\n\n### ")
    chosen = titles(driver)
    # From another mode, such as Memory.
    driver.app.pack_selection.add([PackRequest("gone.py", 1, 1, "gone")])
    await driver.press("u")
    assert titles(driver) == chosen
    await driver.press("U")
    assert titles(driver) == [*chosen, "gone"]
    await driver.press("u", "u")
    assert titles(driver) == ["report"]
    assert driver.app.screen.cm.pack_selection.question == ""
    await driver.press("U")
    assert titles(driver) == chosen
    assert driver.app.screen.cm.pack_selection.question == "load a record by name"


async def neighbours_come_after_all_that_was_chosen(driver, project):
    driver.app.pack_selection.add([MAKE, LOAD])
    await driver.settle()
    await driver.press("n")
    names = titles(driver)
    assert names[:2] == ["make_store", "Store.load"]
    assert "report" in names[2:]


async def copy_says_which_way(driver, project):
    way = clipboard.Copied("Sent to the terminal.", sure=False, file=Path("/x/clipboard.md"))
    with mock.patch.object(clipboard, "copy", return_value=way) as copy:
        await driver.press("c")
        assert not copy.mock_calls
        assert any("the pack is empty" in words for words in driver.told)
        driver.app.pack_selection.add([LOAD])
        await driver.settle()
        await driver.press("c")
        assert [call.args[0] for call in copy.mock_calls] == [driver.app.screen.pack.markdown]
        assert any("Sent to the terminal." in words for words in driver.told)


async def save_asks_before_it_replaces(driver, project):
    target = project / "out.md"
    driver.app.pack_selection.add([LOAD])
    await driver.settle()
    await driver.press("w")
    await driver.type("out.md")
    await driver.press("enter")
    assert target.read_text() == driver.app.screen.pack.markdown + "\n"
    target.write_text("mine")
    await driver.press("w", "enter")
    assert "exists" in driver.text
    await driver.press("n")
    assert target.read_text() == "mine"
    await driver.press("w", "enter", "y")
    assert target.read_text() == driver.app.screen.pack.markdown + "\n"
    await driver.press("w")
    await driver.type("no/such/folder/x.md")
    await driver.press("enter")
    assert "Folder not found" in driver.text


async def test_pack_and_search_are_found_again_next_time_even_after_a_kill(project):
    async with driving(project, mode="P") as driver:
        driver.app.pack_selection.add([LOAD, MAKE])
        await driver.settle()
        await driver.press("b")
        await driver.type("900")
        await driver.press("enter", "Q")
        await driver.type("Why?")
        await driver.press("enter")
        # Nobody quits: what was collected is written down by itself.
        await driver.until(lambda: load_state(project)[0].of("pack").get("question") == "Why?")
        await ask(driver, "load record")
        await driver.press("escape", "greater_than_sign", "t", "down", "right")
        wider = first_panel(driver)
        driver.app.state_writer.flush()
    async with driving(project) as driver:
        assert driver.app.current_mode == "search"
        screen = screen_of(driver)
        assert screen.query_input.value == "load record"
        assert screen.hit is not None
        assert screen.session.tuned == {"keyword_weight": 0.51}, "though it was not saved"
        assert "1 changed" in driver.text
        await driver.press("escape", "t")
        assert first_panel(driver) == wider
        await driver.press("r")
        assert not screen.session.tuned
        assert driver.app.pack_selection.items == (LOAD, MAKE)
        assert "Context²" in driver.text
        await driver.app.action_go("pack")
        await driver.settle()
        assert driver.app.screen.budget == 900
        assert driver.app.screen.pack.markdown.startswith("Why?")


async def vanished_file_is_named(driver, project):
    driver.app.pack_selection.add([LOAD, PackRequest("gone.py", 1, 5)])
    await driver.settle()
    assert "gone.py:1-5 skipped" in driver.text
    assert driver.app.screen.pack.items[0].included


async def enter_goes_to_the_source(driver, project):
    driver.app.pack_selection.add([LOAD])
    await driver.settle()
    await driver.press("enter")
    assert driver.app.current_mode == "symbols"
    assert "def load(self, name: str) -> dict:" in driver.text


def test_only_pieces_that_can_be_read_are_taken_up():
    good = {"path": "a.py", "start_line": 1, "end_line": 2, "title": "t", "why": ""}
    found = readable([good, {"path": 3}, {"path": "b", "start_line": 5, "end_line": 1}, "x", None])
    assert found == (PackRequest("a.py", 1, 2, "t"),)
    assert readable({"not": "a list"}) == ()


async def test_pieces_are_collected_moved_cut_and_taken_away(project):
    await each(
        project,
        pieces_tokens_bar_and_preview_at_every_size,
        reorder_drop_and_undo,
        keys_pressed_faster_than_counting_hit_the_right_piece,
        grow_shrink_and_set_lines,
        a_piece_that_gets_no_longer_or_shorter_says_why,
        automatic_pack_takes_the_place_and_undo_brings_back,
        neighbours_come_after_all_that_was_chosen,
        copy_says_which_way,
        save_asks_before_it_replaces,
        vanished_file_is_named,
        enter_goes_to_the_source,
        over_budget_is_cut_and_said,
        mode="P",
    )
