"""Search: results as one types, the explanation, tuning, and the ways out."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from textual.app import App

from cm_tui.engine.local.engine import LocalEngine
from cm_tui.errors import StoreError
from cm_tui.model import Hit, ScorePart
from cm_tui.tui.modes.search.results import ResultList
from cm_tui.tui.modes.search.screen import SearchScreen
from cm_tui.tui.widgets.bars import cells_of, score_bar
from cm_tui.tui.widgets.score_explanation import explain
from tests.tui.mode_driver import driving, make_project

SIZES = [(80, 24), (120, 40), (200, 50)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def screen_of(driver) -> SearchScreen:
    assert isinstance(driver.app.screen, SearchScreen)
    return driver.app.screen


async def ask(driver, words: str) -> SearchScreen:
    await driver.press("2")
    await driver.type(words)
    return screen_of(driver)


@pytest.mark.parametrize("size", SIZES)
async def test_answers_come_while_typing(project, size):
    async with driving(project, size=size) as driver:
        screen = await ask(driver, "read a record by name")
        text = driver.text
        assert " Store class " in text
        assert re.search(r"src/store\.py:\d+-\d+", text)
        assert re.search(r"\d+ of \d+ candidates", text)
        assert screen.hit.path == "src/store.py"
        assert "def load(self, name: str) -> dict:" in text  # the preview, at its place
        if size[0] < 100:
            assert "sum of the parts" not in text
            await driver.press("escape", "v")
        assert "Why #1" in driver.text
        assert "keyword" in driver.text


async def test_the_parts_on_screen_add_up_to_the_score(project):
    async with driving(project, size=(200, 50)) as driver:
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


async def test_mode_and_profile_switch(project):
    async with driving(project) as driver:
        screen = await ask(driver, "store")
        await driver.press("escape", "m")
        assert screen.session.asked.result.mode == "keyword"
        assert all(part.group != "vector" for part in screen.hit.parts)
        await driver.press("m")
        assert screen.session.asked.result.mode == "vector"
        before = screen.session.profile.name
        await driver.press("p")
        assert screen.session.profile.name != before


async def test_tuning_ranks_again_without_retrieving(project):
    retrieved = []
    engine = LocalEngine.open(project)
    original = engine.retrieve

    def counting(query, **options):
        retrieved.append(query)
        return original(query, **options)

    engine.retrieve = counting
    async with driving(project, open_engine=lambda: engine) as driver:
        screen = await ask(driver, "load record")
        await driver.press("escape", "t", "down")
        questions, score = len(retrieved), screen.hit.score
        await driver.press("right", "right")
        assert len(retrieved) == questions
        assert screen.session.profile.keyword_weight == pytest.approx(0.56)
        assert screen.hit.score != score
        assert "1 changed" in driver.text
        await driver.press("r")
        assert screen.hit.score == pytest.approx(score)
        await driver.press("0", "full_stop", "9", "enter")
        assert screen.session.profile.keyword_weight == pytest.approx(0.9)
        await driver.press("backspace")
        assert screen.session.profile.keyword_weight == pytest.approx(0.46)


async def test_the_pool_is_retrieved_again(project):
    async with driving(project) as driver:
        screen = await ask(driver, "load record")
        await driver.press("escape", "t", *["down"] * 4, "left")
        assert screen.session.profile.pool == 190
        assert screen.session.asked is not None


async def test_tuning_is_saved_to_the_project(project):
    async with driving(project) as driver:
        await ask(driver, "load")
        await driver.press("escape", "t", "s")
        assert any("nothing was changed" in text for text in driver.told)
        await driver.press("down", "right", "s")
        assert "keyword_weight = 0.51" in (project / ".cm/config.toml").read_text()
        assert not screen_of(driver).session.tuned
        assert "code ·" in driver.text
        assert "code *" not in driver.text


async def test_a_rejected_number_is_an_error_where_the_results_are(project):
    engine = LocalEngine.open(project)

    def full(*_args, **_options):
        raise StoreError("The disk is full.", hint="Make room.")

    engine.rank = full
    async with driving(project, open_engine=lambda: engine) as driver:
        await ask(driver, "load")
        assert "✖ The disk is full. Make room." in driver.text


async def test_open_add_and_leave(project):
    async with driving(project) as driver:
        await ask(driver, "read a record by name")
        await driver.press("enter", "a")
        assert [item.title for item in driver.app.pack_selection.items] == ["Store"]
        assert "Pack 1" in driver.text
        await driver.press("up", "a")
        assert len(driver.app.pack_selection) == 1
        await driver.press("up", "enter")
        assert driver.app.current_mode == "symbols"
        assert "Where records are kept." in driver.text


async def test_copy_goes_through_the_clipboard(project, monkeypatch):
    copied = []

    def copy(text, write):
        from cm_tui.tui.terminal.clipboard import Copied

        copied.append(text)
        return Copied("Copied.", sure=True)

    monkeypatch.setattr("cm_tui.tui.terminal.clipboard.copy", copy)
    async with driving(project) as driver:
        screen = await ask(driver, "read a record by name")
        hit = screen.hit
        await driver.press("escape", "y")
        assert copied == [f"src/store.py:{hit.start_line}-{hit.end_line}"]


async def test_without_a_result_commands_say_why_not(project):
    async with driving(project) as driver:
        await driver.press("2", "escape", "a")
        assert any("there is no result" in text for text in driver.told)
        assert len(driver.app.pack_selection) == 0


@pytest.mark.parametrize("query", ["[bold]x[/foo]", "';drop table passage--", "???", "list[int]", "漢字かな " * 20])
async def test_odd_queries_and_names_are_only_text(project, query):
    async with driving(project, size=(80, 24)) as driver:
        await driver.press("2")
        screen = screen_of(driver)
        screen.query_input.value = query
        await driver.settle()
        assert driver.app.is_running
        screen.query_input.value = "odd value"
        await driver.settle()
        assert "we[ird]" in driver.text


async def test_the_query_is_found_again_next_time(project):
    async with driving(project) as driver:
        await ask(driver, "record")
        driver.app.state_writer.flush()
    async with driving(project, mode="") as driver:
        assert driver.app.current_mode == "search"
        assert screen_of(driver).query_input.value == "record"
        assert screen_of(driver).hit is not None


async def test_clearing_the_query_clears_the_answers(project):
    async with driving(project) as driver:
        screen = await ask(driver, "ab")
        await driver.press("backspace", "backspace")
        assert screen.results.rows == ()
        assert "Type a question or a name" in driver.text


async def test_rows_of_an_older_query_are_dimmed_while_a_newer_one_takes_its_time(project):
    engine, slow, go_on = LocalEngine.open(project), threading.Event(), threading.Event()
    retrieve = engine.retrieve

    def retrieve_slowly(query, **options):
        if slow.is_set():
            go_on.wait(60)
        return retrieve(query, **options)

    engine.retrieve = retrieve_slowly
    async with driving(project, open_engine=lambda: engine) as driver:
        screen = await ask(driver, "store")
        panel = screen.query_one("#results-panel")
        assert not panel.has_class("-waiting")
        slow.set()
        await driver.pilot.press("x")
        await driver.until(lambda: panel.has_class("-waiting"))
        assert "Searching…" in driver.text
        assert "Store class" in driver.text, "what was there stays until the answer comes"
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


async def test_a_hundred_thousand_rows_draw_only_what_is_seen():
    hits = tuple(make_hit(number) for number in range(100_000))
    app = ListApp()
    async with app.run_test(size=(70, 24)) as pilot:
        rows = app.query_one(Counting)
        rows.focus()
        rows.show(hits, limit=10, keep=False)
        await pilot.pause()
        assert rows.drawn <= 6 * 24
        for key in ("end", "home", "pagedown", "down"):
            rows.drawn = 0
            await pilot.press(key)
            assert rows.drawn <= 6 * 24
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
        assert f"{symbol} function" in line
        assert "pool.py:1-9" in line


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


async def test_tuned_numbers_are_found_again_though_they_were_not_saved(project):
    async with driving(project) as driver:
        await ask(driver, "load record")
        await driver.press("escape", "t", "down", "right")
        driver.app.state_writer.flush()
    async with driving(project) as driver:
        screen = screen_of(driver)
        assert screen.session.tuned == {"keyword_weight": 0.51}
        assert "1 changed" in driver.text
        await driver.press("escape", "t", "r")
        assert not screen.session.tuned


@pytest.mark.parametrize("size", SIZES)
async def test_the_border_between_the_panels_can_be_moved_and_stays(project, size):
    def first(driver):
        area = screen_of(driver).results.size
        return area.height if size[0] < 100 else area.width

    async with driving(project, mode="2", size=size) as driver:
        await driver.press("escape")
        before = first(driver)
        await driver.press("greater_than_sign", "greater_than_sign")
        wider = first(driver)
        assert wider > before
        driver.app.state_writer.flush()
    async with driving(project, size=size) as driver:
        assert first(driver) == wider
        await driver.press("escape", "less_than_sign", "less_than_sign")
        assert first(driver) == before
