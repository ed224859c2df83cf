"""Search: results as one types, the explanation, tuning, and the ways out."""

from __future__ import annotations

import re
import threading
from unittest import mock

import pytest
from textual import events
from textual.app import App

from cm_tui.engine.code.freshness import policy
from cm_tui.engine.search.vectors.index import VectorIndex
from cm_tui.errors import StoreError
from cm_tui.model import Hit, ScorePart
from cm_tui.tui.modes.search.results import ResultList
from cm_tui.tui.modes.search.screen import SearchScreen
from cm_tui.tui.terminal import clipboard
from cm_tui.tui.widgets.bars import cells_of, explain, score_bar
from tests.tui.mode_driver import PATIENCE, at, each


def screen_of(driver) -> SearchScreen:
    assert isinstance(driver.app.screen, SearchScreen)
    return driver.app.screen


async def ask(driver, words: str) -> SearchScreen:
    await driver.press("2")
    await driver.type(words)
    return screen_of(driver)


@at((80, 24), (200, 50))
async def answers_come_while_typing(driver, project):
    size = driver.app.size
    screen = await ask(driver, "read a record by name")
    text = driver.text
    assert " C Store " in text
    assert re.search(r"src/store\.py:\d+-\d+", text)
    assert re.search(r"\d+ of \d+ candidates", text)
    assert screen.hit.path == "src/store.py"
    assert "def load(self, name: str) -> dict:" in text  # the preview, at its place
    if size[0] < 100:
        assert "sum of the parts" not in text
        await driver.press("escape", "v")
    assert "Why #1" in driver.text
    assert "keyword" in driver.text


@at((200, 50))
async def the_parts_on_screen_add_up_to_the_score(driver, project):
    screen = await ask(driver, "load record")
    for _ in range(3):
        hit = screen.hit
        assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score, abs=1e-6)
        text = explain(hit, 100).plain
        assert f"{hit.score:+.4f}  ✓" in text
        for part in hit.parts:
            assert part.name in text
        await driver.press("escape", "down")


async def test_a_sum_that_does_not_add_up_is_shown_as_such():
    hit = make_hit(0, score=1.0)
    assert "≠" in explain(hit, 100).plain


async def mode_and_profile_switch(driver, project):
    with mock.patch.object(VectorIndex, "coverage", return_value=(2_102, 2_105)):
        screen = await ask(driver, "store")
    assert re.search(r"candidates · vectors for 2,102 of 2,105 ", driver.text)
    assert "▲" not in driver.text, "a line of its own would move the results after each save"
    await driver.press("escape", "m")
    assert screen.session.answer.result.mode == "keyword"
    assert all(part.group != "vector" for part in screen.hit.parts)
    await driver.press("m")
    assert screen.session.answer.result.mode == "vector"
    before = screen.session.profile.name
    await driver.press("p")
    assert screen.session.profile.name != before


async def tuning_ranks_again_without_retrieving(driver, project):
    engine = driver.app.tasks.engine
    with mock.patch.object(engine, "retrieve", wraps=engine.retrieve) as retrieve:
        screen = await ask(driver, "load record")
        await driver.press("escape", "t", "down")
        questions, score = retrieve.call_count, screen.hit.score
        await driver.press("right", "right")
        assert 0 < retrieve.call_count == questions
        assert screen.session.profile.keyword_weight == pytest.approx(0.56)
        assert screen.hit.score != score
        assert "1 changed" in driver.text
        await driver.press("r")
        assert screen.hit.score == pytest.approx(score)
        await driver.press("0", "full_stop", "9", "enter")
        assert screen.session.profile.keyword_weight == pytest.approx(0.9)
        await driver.press("backspace")
        assert screen.session.profile.keyword_weight == pytest.approx(0.46)


async def the_pool_is_retrieved_again(driver, project):
    screen = await ask(driver, "load record")
    await driver.press("escape", "t", *["down"] * 4, "left")
    assert screen.session.profile.pool == 190
    assert screen.session.answer is not None


async def tuning_is_saved_to_the_project(driver, project):
    await ask(driver, "load")
    await driver.press("escape", "t", "s")
    assert any("nothing was changed" in text for text in driver.told)
    await driver.press("down", "right", "s")
    assert "keyword_weight = 0.51" in (project / ".cm/config.toml").read_text()
    assert not screen_of(driver).session.tuned
    assert "code ·" in driver.text
    assert "code *" not in driver.text


async def pasted_lines_are_all_kept_and_counted(driver, project):
    await driver.press("2")
    query = screen_of(driver).query_input
    query.post_message(events.Paste("read a\n\n  record\tby\r\nname\n"))
    await driver.settle()
    assert query.value == "read a record by name"
    assert "3 lines pasted" in driver.text
    assert screen_of(driver).session.answer.candidates.query == "read a\n\n  record\tby\r\nname"
    await driver.press("backspace")
    assert "pasted" not in driver.text
    await driver.press("ctrl+u")
    query.post_message(events.Paste("one line"))
    await driver.settle()
    assert query.value == "one line"
    assert "pasted" not in driver.text
    await driver.press("escape")
    assert not query.has_focus
    driver.app.post_message(events.Paste("another line"))
    await driver.settle()
    assert (query.value, query.has_focus) == ("another line", True)
    await driver.press("ctrl+u")
    query.post_message(events.Paste("\n".join(["word"] * 10_000)))
    await driver.settle()
    assert len(query.value) == 19_999
    assert "4,000 lines pasted, cut" in driver.text
    await driver.press("ctrl+u")
    report = 'Records are lost\n\n```\n  File "/home/x/src/load.py", line 3, in load\n```\nValueError: no record\n\nThey are there before.'
    query.show_query("remembered from before")
    query.post_message(events.Paste(report))
    await driver.settle()
    assert "Read as a report: 1 frame, 1 error," in driver.text
    assert screen_of(driver).session.answer.candidates.query == report
    screen_of(driver).keep()
    assert driver.app.state.of("search")["query"] == report
    await driver.press("ctrl+u")
    query.show_query(report)
    assert query.query_text == report
    await driver.press("ctrl+u")
    # A terminal sends carriage returns.
    query.post_message(events.Paste(report.replace("\n", "\r")))
    await driver.until(lambda: query.query_text == report)
    await driver.until(lambda: "Read as a report: 1 frame, 1 error," in driver.text)
    await driver.press("enter")
    assert "❯ Records are lost" in driver.text
    await driver.press("slash", "ctrl+u")


async def what_the_engine_cannot_do_is_an_error_where_the_results_are(driver, project):
    full = StoreError("The disk is full.", hint="Make room.")
    with mock.patch.object(driver.app.tasks.engine, "rank", side_effect=full):
        await ask(driver, "load")
        assert "✖ The disk is full. Make room." in driver.text


async def open_add_and_leave(driver, project):
    await ask(driver, "read a record by name")
    await driver.press("enter", "a")
    assert [item.title for item in driver.app.pack_selection.items] == ["Store"]
    assert "Context¹" in driver.text
    await driver.press("up", "a")
    assert len(driver.app.pack_selection) == 1
    await driver.press("up", "enter")
    assert driver.app.current_mode == "symbols"
    assert "Where records are kept." in driver.text


async def a_symbol_below_its_comment_is_opened_and_not_the_file(driver, project):
    comment = "--- Strips blanks.\n-- @param s a text\n"
    (project / "trim.lua").write_text(f"{comment}function strip_blanks(s)\n    return s\nend\n")
    await driver.press("1", "i")
    await ask(driver, "strip_blanks")
    assert driver.app.screen.hit.start_line == 1
    await driver.press("enter", "enter")
    assert "strip_blanks  function · lua · lines 3-5" in driver.text_in("#symbol-head")


async def copy_goes_through_the_clipboard(driver, project):
    with mock.patch.object(clipboard, "copy", return_value=clipboard.Copied("Copied.", sure=True)) as copy:
        screen = await ask(driver, "read a record by name")
        hit = screen.hit
        await driver.press("escape", "y")
        assert [call.args[0] for call in copy.mock_calls] == [f"src/store.py:{hit.start_line}-{hit.end_line}"]


async def without_a_result_commands_say_why_not(driver, project):
    await driver.press("2", "escape", "a")
    assert any("no result" in text for text in driver.told)
    assert len(driver.app.pack_selection) == 0


@at((80, 24))
async def odd_queries_and_names_are_only_text(driver, project):
    await driver.press("2")
    screen = screen_of(driver)
    for query in ("[bold]x[/foo]", "';drop table passage--", "???", "list[int]", "漢字かな " * 20):
        screen.query_input.value = query
        await driver.settle()
        assert driver.text, query
        screen.query_input.value = "odd value"
        await driver.settle()
        assert "we[ird]" in driver.text, query


async def clearing_the_query_clears_the_answers(driver, project):
    screen = await ask(driver, "ab")
    await driver.press("backspace", "backspace")
    assert screen.results.rows == ()
    assert "Type a question or a name" in driver.text


async def rows_of_an_older_query_are_dimmed_while_a_newer_one_takes_its_time(driver, project):
    engine, go_on = driver.app.tasks.engine, threading.Event()
    retrieve = engine.retrieve

    def retrieve_slowly(query, **options):
        go_on.wait(PATIENCE)
        return retrieve(query, **options)

    screen = await ask(driver, "store")
    panel = screen.query_one("#results-panel")
    assert not panel.has_class("-waiting")
    with mock.patch.object(engine, "retrieve", retrieve_slowly):
        await driver.pilot.press("x")
        await driver.until(lambda: panel.has_class("-waiting"))
        assert "Searching…" in driver.text
        assert "C Store " in driver.text, "what was there stays until the answer comes"
        go_on.set()
        await driver.settle()
    assert not panel.has_class("-waiting")
    assert "Searching…" not in driver.text


# --- the list itself ---


def make_hit(number: int, *, score: float = 0.75, path: str = "src/module.py", symbol: str = "") -> Hit:
    parts = (
        ScorePart("keyword: load", 2.0, 0.25, 0.5, "BM25", "keyword", "load"),
        ScorePart("vector", 0.5, 1.0, 0.5, "cosine", "vector"),
        ScorePart("tests", 1.0, 0.25, -0.25, "a test", "adjust"),
    )
    return Hit(
        number + 1, "code", path, 1, 9, symbol or f"name_{number}", "function", "python", score, "x", 1, parts, number
    )


class Counting(ResultList):
    drawn = 0

    def draw_line(self, row, line, width):
        self.drawn += 1
        return super().draw_line(row, line, width)


class ListApp(App[None]):
    def compose(self):
        yield Counting()

    def get_theme_variable_defaults(self):
        from cm_tui.tui.theme.themes import DARK_PARTS

        return {**DARK_PARTS, "soft": "#cccccc", "muted": "#999999", "faint": "#555555"}


@pytest.mark.deep
async def test_a_hundred_thousand_rows_draw_only_what_is_seen():
    hits = tuple(make_hit(number) for number in range(100_000))
    app = ListApp()
    async with app.run_test(size=(70, 24)) as pilot:
        rows = app.query_one(Counting)
        rows.focus()
        rows.show(hits, limit=10, keep=False)
        for key in ("up", "end", "home", "pagedown", "down"):
            await pilot.press(key)
            rows.drawn = 0
            assert app.screen._compositor.render_strips()
            assert 0 < rows.drawn <= 6 * 24
        await pilot.press("end")
        assert rows.current.rank == 100_000
        assert rows.virtual_size.height == 200_000


async def test_more_is_asked_for_near_the_end():
    asked = []

    class Asking(ListApp):
        def on_result_list_more_requested(self, event):
            asked.append(event)

    app = Asking()
    async with app.run_test(size=(70, 24)) as pilot:
        rows = app.query_one(Counting)
        rows.focus()
        rows.show(tuple(make_hit(number) for number in range(60)), limit=10, keep=False)
        await pilot.press("down")
        assert not asked
        await pilot.press("end")
        await pilot.pause()
        assert asked


async def test_wide_characters_and_long_paths_keep_rows_in_line():
    path = "深い/" * 20 + "模块[1].py"
    app = ListApp()
    for width in (40, 60, 120):
        async with app.run_test(size=(width, 10)) as pilot:
            rows = app.query_one(Counting)
            rows.show((make_hit(0, path=path),), limit=10, keep=False)
            await pilot.pause()
            strips = app.screen._compositor.render_strips()
            assert all(strip.cell_length == width for strip in strips)
            assert "1].py" in "\n".join(strip.text for strip in strips)
        app = ListApp()


async def test_a_name_that_has_room_is_not_cut_for_the_sake_of_its_path():
    symbol, path = "ConnectionPool.close_idle", "packages/network/source/connections/pool.py"
    app = ListApp()
    async with app.run_test(size=(92, 10)) as pilot:
        app.query_one(Counting).show((make_hit(0, path=path, symbol=symbol),), limit=10, keep=False)
        await pilot.pause()
        line = app.screen._compositor.render_strips()[0].text
        assert f"ƒ {symbol}" in line
        assert "pool.py:1-9" in line


async def test_a_name_in_a_row_of_two_lines_has_the_room_beside_its_score():
    symbol, path = "ConnectionPool.close_idle_connections", "packages/network/source/connections/pool.py"
    app = ListApp()
    async with app.run_test(size=(54, 10)) as pilot:
        app.query_one(Counting).show((make_hit(0, path=path, symbol=symbol),), limit=10, keep=False)
        await pilot.pause()
        first, second = (strip.text for strip in app.screen._compositor.render_strips()[:2])
        assert f"ƒ {symbol} " in first
        assert "0.750" in first
        assert "…" in second
        assert "pool.py:1-9" in second
        assert "━" in second


def test_bars_are_as_long_as_scores():
    hit = make_hit(0)
    bar = score_bar(hit, 20, 1.0).plain
    assert bar.count("━") == 15
    assert bar.count("╌") == 5
    plain = score_bar(hit, 20, 1.0, plain=True).plain
    assert plain.count("█") + plain.count("▓") == 15
    assert cells_of([0.5, 0.5], 3) in ([2, 1], [1, 2])
    assert sum(cells_of([0.33, 0.33, 0.34], 10)) == 10


# --- what is remembered ---


def first_panel(driver) -> int:
    """Return the height or the width of the panel of the results, whichever the border beside it changes."""
    area = screen_of(driver).results.size
    return area.height if driver.app.size.width < 100 else area.width


@at((80, 24), (200, 50))
async def the_border_between_the_panels_is_moved(driver, project):
    await driver.press("2", "escape")
    before = first_panel(driver)
    await driver.press("greater_than_sign", "greater_than_sign")
    assert first_panel(driver) > before
    await driver.press("less_than_sign", "less_than_sign")
    assert first_panel(driver) == before


async def edits_are_found_without_a_daemon(driver, project):
    screen = await ask(driver, "halve an amount")
    assert screen.hit.symbol != "halve"
    (project / "src/halve.py").write_text("def halve(amount):\n    return amount / 2\n")
    await driver.type(" now")
    assert screen.hit.symbol == "halve"
    assert driver.app.project.edits == ""
    with mock.patch.object(policy, "QUICK_BYTES", 10):
        (project / "src/halve.py").write_text("def third(amount):\n    return amount / 3\n")
        for size in ((200, 50), (80, 24)):
            await driver.resize(size)
            await driver.press("backspace")
            assert "▲ 1 file changed since the last index run; ^r indexes them" in driver.text
            await driver.press("f3")
            assert "1 file changed, not indexed" in driver.text or size[0] < 200
            await driver.press("f2")
    await driver.press("ctrl+r")
    assert "changed since" not in driver.text
    assert "third" in {hit.symbol for hit in screen.session.hits}


async def test_questions_are_answered_explained_and_followed(project):
    await each(
        project,
        answers_come_while_typing,
        the_parts_on_screen_add_up_to_the_score,
        mode_and_profile_switch,
        tuning_ranks_again_without_retrieving,
        the_pool_is_retrieved_again,
        what_the_engine_cannot_do_is_an_error_where_the_results_are,
        odd_queries_and_names_are_only_text,
        rows_of_an_older_query_are_dimmed_while_a_newer_one_takes_its_time,
        the_border_between_the_panels_is_moved,
        open_add_and_leave,
        a_symbol_below_its_comment_is_opened_and_not_the_file,
        copy_goes_through_the_clipboard,
        without_a_result_commands_say_why_not,
        clearing_the_query_clears_the_answers,
        tuning_is_saved_to_the_project,
        pasted_lines_are_all_kept_and_counted,
        edits_are_found_without_a_daemon,
    )
