"""Filters and suggestions in the search mode, by keys."""

from __future__ import annotations

from tests.tui.mode_driver import at, each
from tests.tui.test_search_mode import ask, screen_of


@at((80, 24))
async def filters_narrow_the_results_and_are_shown(driver, project):
    screen = await ask(driver, "sync path:src/remote.py")
    assert {hit.path for hit in screen.session.hits} == {"src/remote.py"}
    assert "path:src/remote.py" in driver.text.split("Results")[1]
    assert "· path:src/remote.py" in driver.text
    await driver.press(*["backspace"] * len(" path:src/remote.py"))
    assert {hit.path for hit in screen.session.hits} > {"src/remote.py"}
    assert "path:src" not in driver.text


@at((120, 40))
async def kinds_alone_are_listed(driver, project):
    screen = await ask(driver, "kind:class")
    assert [hit.symbol for hit in screen.session.hits] == ["Remote", "Store"]
    assert "▲ No words to rank by: 2 passages match, listed by path and line." in " ".join(driver.text.split())
    await driver.press("enter", "down", "enter")
    assert driver.app.current_mode == "symbols"


@at((80, 24), (200, 50))
async def an_unknown_kind_is_said_with_those_that_there_are(driver, project):
    await ask(driver, "sync kind:clas")
    words = " ".join(driver.text.split())
    assert "Did you mean kind:class? Available: module," in words
    assert "macro, section." in words
    assert screen_of(driver).session.hits


@at((80, 24))
async def a_suggestion_is_taken_by_a_key_while_typing_and_from_the_results(driver, project):
    screen = await ask(driver, "how does make_stroe work")
    assert "▲ Did you mean make_store? ^b uses it." in driver.text
    assert "^b Correct" in driver.text
    await driver.press("ctrl+b")
    assert screen.query_input.value == "how does make_store work"
    assert "Did you mean" not in driver.text
    assert "Correct" not in driver.text
    assert "src/service.py" in {hit.path for hit in screen.session.hits}
    screen.query_input.value = "make_stroe path:src"
    await driver.settle()
    await driver.press("escape", "c")
    assert screen.query_input.value == "path:src make_store"
    await driver.press("c")
    assert any("every name in the query is known" in text for text in driver.told)


@at((80, 24))
async def hostile_filters_leave_the_screen_whole(driver, project):
    await driver.press("2")
    screen = screen_of(driver)
    for query in ("path:../../etc", "path:[", 'path:"src', "path:[bold]x[/] store", "in:" + "x" * 3000):
        screen.query_input.value = query
        await driver.settle()
        assert driver.text, query
        assert screen.session.problem is None, query
        screen.query_input.value = "load path:src"
        await driver.settle()
        assert screen.hit is not None, query


async def test_filters_and_suggestions(project):
    await each(
        project,
        filters_narrow_the_results_and_are_shown,
        kinds_alone_are_listed,
        an_unknown_kind_is_said_with_those_that_there_are,
        a_suggestion_is_taken_by_a_key_while_typing_and_from_the_results,
        hostile_filters_leave_the_screen_whole,
    )
