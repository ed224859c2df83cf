"""Symbols: what a person finds, sees and jumps to."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.model import FileEntry, ImportEdge, Page
from cm_tui.tui.terminal import clipboard
from cm_tui.tui.terminal.editor import command_for
from cm_tui.tui.widgets.code_nodes import FileIndex, highlighted
from cm_tui.tui.widgets.relations import of_importers
from tests.tui.mode_driver import PATIENCE, at, driving, each


async def find(driver, letters: str) -> None:
    await driver.press("slash")
    await driver.type(letters)
    await driver.press("enter")


SIZES = [(80, 24), (120, 40), (200, 50)]


@at((80, 24))
async def find_a_symbol_and_see_who_calls_it_at_every_size(driver, project):
    assert "src/" in driver.text
    assert "5 files" in driver.text
    await driver.press("slash")
    await driver.type("mkstor")
    assert "make_store" in driver.text
    await driver.press("enter")
    for size in SIZES:
        await driver.resize(size)
        text = driver.text
        assert "def make_store() -> Store:" in text
        assert "A fresh store." in text
        assert "report" in text
        assert "service.py:10" in text
        assert "same-file" in text


async def what_is_being_opened_is_named_until_it_is_there(driver, project):
    go_on, engine = threading.Event(), driver.app.tasks.engine
    source = engine.source

    def slowly(*values, **named):
        assert go_on.wait(PATIENCE)
        return source(*values, **named)

    driver.app.state.of("symbols").update(path="src/service.py", line=4, symbol=True)
    await driver.press("1")
    await driver.app.remove_mode("symbols")
    driver.app.add_mode("symbols", driver.app.MODES["symbols"])
    with mock.patch.object(engine, "source", slowly):
        await driver.pilot.press("3")
        await driver.until(lambda: "Opening src/service.py…" in driver.text)
        assert "Choose a symbol" not in driver.text
        go_on.set()
        await driver.settle()
    assert "def make_store() -> Store:" in driver.text


async def jump_along_a_call_and_back(driver, project):
    await find(driver, "make_store")
    await driver.press("tab")
    assert "store = make_store()" in driver.text
    await driver.press("enter")
    screen = driver.app.screen
    assert screen.shown.symbol.qualname == "report"
    assert screen.code.current.number == 10
    await driver.press("left_square_bracket")
    assert screen.shown.symbol.qualname == "make_store"
    await driver.press("right_square_bracket")
    assert screen.shown.symbol.qualname == "report"


async def enter_before_the_response_goes_to_what_was_typed(driver, project):
    await find(driver, "make_store")
    engine, go_on = driver.app.tasks.engine, threading.Event()
    symbols = engine.symbols

    def slowly(**filters):
        assert not filters.get("match") or go_on.wait(PATIENCE)
        return symbols(**filters)

    screen = driver.app.screen
    with mock.patch.object(engine, "symbols", slowly):
        await driver.pilot.press("slash", "ctrl+u", *"report", "enter")
        assert screen.shown.symbol.qualname == "make_store"
        go_on.set()
        await driver.settle()
    assert screen.shown.symbol.qualname == "report"
    assert screen.focused is screen.code


async def tab_leads_to_lists_and_letters_after_it_are_no_query(driver, project):
    screen = driver.app.screen
    for _ in range(4):
        await driver.press("tab")
        assert not isinstance(screen.focused, Input)
    await driver.press("j")
    assert not screen.finder.filter_input.value
    await driver.press("slash")
    assert screen.focused is screen.finder.filter_input
    await driver.press("tab")
    assert screen.focused is screen.code_tree


async def more_matches_load_as_one_scrolls(driver, project):
    await find(driver, "make_store")
    one = driver.app.screen.shown.symbol
    many = tuple(replace(one, qualname=f"make_store_{number}", start_line=number) for number in range(1, 451))

    def symbols(**filters):
        return Page(many[: filters["limit"]], len(many))

    with mock.patch.object(driver.app.tasks.engine, "symbols", symbols):
        await driver.press("slash")
        await driver.type("_")
        assert "200 of 450 symbols" in driver.text
        await driver.press("down", "end")
        assert "400 of 450 symbols" in driver.text
        assert driver.app.screen.code_tree.current.symbol.qualname == "make_store_200"
        await driver.press("end")
        assert "450 symbols" in driver.text
        assert "of 450" not in driver.text


async def depth_follows_callers_of_callers(driver, project):
    await find(driver, "make_store")
    before = [row.name for row in driver.app.screen.relation_list.rows]
    await driver.press("d")
    after = [row.name for row in driver.app.screen.relation_list.rows]
    assert before == ["report"]
    assert after == ["report", "everything"]
    assert "depth 2" in driver.text


async def calls_that_could_not_be_resolved_are_counted_and_listed(driver, project):
    (project / "src/basket.py").write_text(
        "class Basket:\n    def put(self, item):\n        pass\n\n\ndef load(basket: Basket, first, second):\n"
        "    basket.put(1)\n    first.put(2)\n    second.put(3)\n"
    )
    driver.app.lifecycle.start_index()
    await driver.settle()
    await find(driver, "Basket.put")
    screen = driver.app.screen
    assert [row.place for row in screen.relation_list.rows] == ["src/basket.py:7"]
    assert "2 more sites could not be resolved" in driver.text
    assert "n Unresolved" in driver.text.splitlines()[-1]
    await driver.press("n")
    assert [row.place for row in screen.relation_list.rows] == ["src/basket.py:8", "src/basket.py:9"]
    assert "unresolved calls of that name" in driver.text
    assert [key.qualname for key in screen.relation_list.rows[0].candidates] == ["Basket.put"]
    await driver.press("n")
    assert [row.place for row in screen.relation_list.rows] == ["src/basket.py:7"]
    await driver.press("n")
    await find(driver, "make_store")
    assert [row.name for row in screen.relation_list.rows] == ["report"]
    assert "Unresolved" not in driver.text.splitlines()[-1]


async def ambiguous_call_opens_its_candidates(driver, project):
    await find(driver, "everything")
    await driver.press("t", "tab")
    relation_list = driver.app.screen.relation_list
    ambiguous = next(i for i, row in enumerate(relation_list.rows) if row.resolution == "ambiguous")
    relation_list.cursor = ambiguous
    await driver.press("space")
    names = {(row.path, row.name) for row in relation_list.rows if row.candidate}
    assert names == {("src/store.py", "Store.sync"), ("src/remote.py", "Remote.sync")}
    await driver.press("down", "enter")
    assert driver.app.screen.shown.symbol.name == "sync"


async def imports_and_importers_jump_to_files(driver, project):
    await find(driver, "make_store")
    await driver.press("t", "t", "tab", "enter")
    assert driver.app.screen.shown.place.path == "src/store.py"
    await driver.press("t")
    assert [row.path for row in driver.app.screen.relation_list.rows] == ["src/service.py"]


async def tree_opens_folders_files_and_classes(driver, project):
    await driver.press("home")
    while "Store" not in [node.name for node in driver.app.screen.code_tree.rows]:
        node = driver.app.screen.code_tree.current
        if node.path in {"src/", "src/store.py"}:
            await driver.press("right")
        await driver.press("down")
    tree = driver.app.screen.code_tree
    tree.cursor = next(i for i, node in enumerate(tree.rows) if node.name == "Store")
    await driver.press("right")
    names = [node.name for node in tree.rows if node.symbol]
    assert names == ["Store", "load", "_read", "sync"]
    assert "Where records are kept." in driver.text
    await driver.press("left")
    assert [node.name for node in tree.rows if node.symbol] == ["Store"]


async def without_a_symbol_every_tab_says_what_is_listed_there(driver, project):
    await driver.anew("3")
    for _ in range(2):
        assert "Callers, callees and imports of a symbol are" in driver.text
        assert "Looking" not in driver.text
        await driver.press("t")


async def names_with_brackets_are_shown_as_they_are(driver, project):
    await find(driver, "odd")
    assert "x[b]y.py" in driver.text
    assert "def odd[T](value: list[int]) -> T:" in driver.text


async def add_row_and_symbol_to_the_pack(driver, project):
    await find(driver, "make_store")
    await driver.press("a", "tab", "a")
    assert [(i.path, i.title) for i in driver.app.pack_selection.items] == [
        ("src/service.py", "make_store"),
        ("src/service.py", "report"),
    ]
    assert "Context²" in driver.text


async def copy_place(driver, project):
    with mock.patch.object(clipboard, "copy", return_value=clipboard.Copied("Copied with xsel.", sure=True)) as copy:
        await find(driver, "make_store")
        await driver.press("down", "y")
        assert [call.args[0] for call in copy.mock_calls] == ["src/service.py:5"]
        assert any("Copied with xsel." in words for words in driver.told)


async def no_match_says_so_and_escape_brings_the_tree_back(driver, project):
    await driver.press("slash")
    await driver.type("zzqqxx")
    assert "No symbols match zzqqxx." in driver.text
    await driver.press("escape")
    assert "src/" in driver.text


async def what_letters_found_stays_when_the_index_has_news(driver, project):
    await driver.press("slash")
    await driver.type("zzqqxx")
    driver.app.lifecycle.refresh_status()
    await driver.settle()
    assert "No symbols match zzqqxx." in driver.text
    for _ in "zzqqxx":
        await driver.press("backspace")
    await driver.type("sync")
    await driver.press("down", "down")
    chosen, shown = driver.app.screen.code_tree.current.path, driver.app.screen.shown
    assert driver.app.screen.code_tree.cursor == 1
    (project / "src" / "store.py").write_text("def sync(): ...\ndef sync_all(): ...\n")
    driver.app.lifecycle.start_index()
    await driver.until(lambda: "sync_all" in {node.name for node in driver.app.screen.code_tree.rows})
    assert driver.app.screen.code_tree.current.path == chosen
    assert driver.app.screen.shown.place.path == shown.place.path


async def mouse_chooses_a_tab_and_a_row(driver, project):
    await find(driver, "make_store")
    lines = driver.text.split("\n")
    y = next(i for i, line in enumerate(lines) if "Callees" in line)
    await driver.pilot.click(offset=(lines[y].index("Callees") + 1, y))
    await driver.settle()
    assert driver.app.screen.relations.tabs.active == "callees"
    await driver.pilot.click(offset=(lines[y].index("Callers") + 1, y))
    await driver.settle()
    await driver.pilot.click(offset=(lines[y].index("Callers") + 4, y + 1))
    await driver.settle()
    assert driver.app.screen.shown.symbol.qualname == "report"


@at((80, 24))
async def zoom_shows_one_panel(driver, project):
    await find(driver, "make_store")
    await driver.press("z")
    assert "Files and symbols" not in driver.text
    assert "def make_store() -> Store:" in driver.text
    await driver.press("z")
    assert "Files and symbols" in driver.text


async def test_place_is_found_again_after_a_restart(project):
    async with driving(project, mode="3") as driver:
        await find(driver, "make_store")
        driver.app.state_writer.flush()
    async with driving(project) as driver:
        assert driver.app.current_mode == "symbols"
        assert driver.app.screen.shown.symbol.qualname == "make_store"


async def vanished_file_is_said_where_the_source_would_be(driver, project):
    await find(driver, "make_store")
    from cm_tui.tui.screens.messages import OpenPath

    driver.app.post_message(OpenPath("gone/away.py", 3))
    await driver.settle()
    assert "gone/away.py" in driver.text


async def test_before_there_is_an_index_the_tree_says_why(tmp_path):
    class Closed:
        root = tmp_path

    def refuse():
        raise CmError("The store is held by process 42.", hint="Close it first.")

    async with driving(tmp_path, mode="3", open_engine=refuse) as driver:
        assert "could not be opened" in driver.text


def test_tree_of_100_000_files_is_filled_on_opening():
    files = [
        FileEntry(f"d{n // 1000:03}/s{n // 100 % 10}/f{n}.py", "python", 1, 1, 1, generated=False)
        for n in range(100_000)
    ]
    tree = FileIndex(files)
    top = tree.children("", 0)
    assert len(top) == 100
    assert [node.name for node in tree.children("d007/", 1)] == [f"s{n}" for n in range(10)]
    assert len(tree.children("d007/s3/", 2)) == 100


def test_an_importing_statement_is_one_row_with_all_of_its_names():
    def edge(line: int, name: str | None, alias: str | None = None) -> ImportEdge:
        return ImportEdge("lib/command.js", line, "./option.js", name, alias, "lib/option.js", False, "import")

    rows = of_importers([edge(11, "Option"), edge(11, "DualOptions", "Dual"), edge(12, None)])
    assert [(row.name, row.line, row.place) for row in rows] == [
        ("lib/command.js", 11, "Option, DualOptions as Dual :11"),
        ("lib/command.js", 12, "./option.js :12"),
    ]
    assert rows[0].text == "imports ./option.js › Option, DualOptions as Dual"


def test_highlight_marks_what_matched():
    assert [(s.start, s.end) for s in highlighted("Database.connect", "conn").spans] == [(9, 13)]
    assert [(s.start, s.end) for s in highlighted("make_store", "mks").spans] == [(0, 1), (2, 3), (5, 6)]


def test_editor_commands(tmp_path):
    for name in ("vi", "code", "hx"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    file = Path("/p/a.py")

    def run(editor: str) -> list[str]:
        return command_for(file, 7, {"EDITOR": editor, "PATH": str(tmp_path)})

    assert run("vi -u NONE") == ["vi", "-u", "NONE", "+7", "/p/a.py"]
    assert run("code --wait") == ["code", "--wait", "--goto", "/p/a.py:7"]
    assert run("hx") == ["hx", "/p/a.py:7"]
    with pytest.raises(CmError, match="not on the PATH"):
        run("nosuch")
    with pytest.raises(CmError, match="No editor is set"):
        command_for(file, 7, {})


async def test_symbols_are_found_followed_and_taken(project):
    await each(
        project,
        find_a_symbol_and_see_who_calls_it_at_every_size,
        what_is_being_opened_is_named_until_it_is_there,
        jump_along_a_call_and_back,
        depth_follows_callers_of_callers,
        enter_before_the_response_goes_to_what_was_typed,
        tab_leads_to_lists_and_letters_after_it_are_no_query,
        more_matches_load_as_one_scrolls,
        ambiguous_call_opens_its_candidates,
        imports_and_importers_jump_to_files,
        tree_opens_folders_files_and_classes,
        without_a_symbol_every_tab_says_what_is_listed_there,
        names_with_brackets_are_shown_as_they_are,
        add_row_and_symbol_to_the_pack,
        copy_place,
        no_match_says_so_and_escape_brings_the_tree_back,
        mouse_chooses_a_tab_and_a_row,
        zoom_shows_one_panel,
        vanished_file_is_said_where_the_source_would_be,
        calls_that_could_not_be_resolved_are_counted_and_listed,
        what_letters_found_stays_when_the_index_has_news,
        mode="3",
    )
