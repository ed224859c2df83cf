"""History under the application: it fills in by itself, is dropped on request, and may be rewritten while one looks."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.tui.modes.history.prompts import prune_arguments
from tests.gitrepo import Repo
from tests.tui.mode_driver import PATIENCE, at, driving, each, starting
from tests.tui.story import tell
from tests.tui.test_history_mode import go_to, rows, side


@pytest.fixture
def unread(tmp_path, cm_home) -> Repo:
    """A story that nobody indexed yet."""
    return tell(tmp_path / "story")


def known(driver) -> int:
    history = driver.app.project.history
    return history.known if history else -1


# --- without a daemon ---


@pytest.mark.deep
async def test_history_fills_in_by_itself_as_far_back_as_the_configuration_wants_it(unread, monkeypatch):
    monkeypatch.setenv("CM_HISTORY__ENABLED", "false")
    async with driving(unread.root, mode="4") as driver:
        assert known(driver) == 0
        assert "b reads the rest" in driver.text
    monkeypatch.delenv("CM_HISTORY__ENABLED")
    monkeypatch.setenv("CM_HISTORY__DEPTH", "5")
    async with driving(unread.root, mode="4") as driver:
        await driver.until(lambda: known(driver) == 5)
    monkeypatch.setenv("CM_HISTORY__DEPTH", "0")
    async with driving(unread.root, mode="4") as driver:
        await driver.until(lambda: known(driver) == 16)
        await driver.settle()
        assert "whole history, since" in side(driver, right=False)
        await go_to(driver, "#2")
        assert rows(driver) == [("~", "one", "changed")]
        unread.write("step/m9.py", "def m9():\n    return 9\n")
        unread.commit("meanwhile")
        await driver.press("i")
        await driver.until(lambda: known(driver) == 17)


async def test_it_can_be_stopped_and_does_not_begin_again_by_itself(unread):
    reached, go = threading.Event(), threading.Event()
    engine = Engine.open(unread.root)
    original, runs = engine.catch_up, []

    def slow(cancel):
        runs.append(1)
        for number, progress in enumerate(original(cancel=cancel)):
            yield progress
            if not number:
                reached.set()
                go.wait(PATIENCE)

    engine.catch_up = slow
    async with driving_slowly(unread, engine) as driver:
        await driver.until(lambda: reached.is_set() and driver.app.project.reading is not None)
        await driver.pilot.press("4")
        await driver.until(lambda: "x stops" in driver.text)
        await driver.pilot.press("x")
        go.set()
        await driver.settle()
        assert known(driver) < 16
        unread.write("step/m9.py", "def m9():\n    return 9\n")
        unread.commit("meanwhile")
        await driver.press("i")
        assert len(runs) == 1
        await driver.press("b")
        await driver.until(lambda: known(driver) == 17)


async def test_what_is_there_is_shown_while_the_history_is_read_and_the_rest_comes_by_itself(unread):
    reached, go = threading.Event(), threading.Event()
    engine = Engine.open(unread.root)
    original, lives = engine.catch_up, []

    def slow(cancel):
        for number, progress in enumerate(original(cancel=cancel)):
            yield progress
            if not number:
                reached.set()
                go.wait(PATIENCE)

    engine.catch_up = slow
    life = engine.symbol_history
    engine.symbol_history = lambda *values, **named: lives.append(1) or life(*values, **named)
    async with driving_slowly(unread, engine) as driver:
        await driver.until(lambda: reached.is_set() and driver.app.project.reading is not None)
        await driver.pilot.press("4")
        await driver.until(lambda: "x stops" in driver.text)
        await driver.pilot.press("end")
        await driver.until(lambda: "History is being read: " in side(driver))
        assert "cannot be shown" not in driver.text
        assert "backfill" not in driver.text
        driver.app.screen.open_life("one")
        await driver.until(lambda: "earlier versions follow" in driver.text)
        asked = len(lives)
        for known_so_far in (3, 4, 5):
            history = driver.app.project.history
            driver.app.project.history = replace(history, known=known_so_far)
            driver.app.screen.project_changed()
            await driver.pilot.pause()
        assert len(lives) == asked, "it is not read again with each commit"
        go.set()
        await driver.until(lambda: known(driver) == 16)
        await driver.settle()
        assert "being read" not in driver.text
        assert len(lives) > asked
        await driver.press("escape", "end")
        driver.app.screen.activate("changes")
        await driver.settle()
        assert rows(driver)


def driving_slowly(repo, engine):
    return starting(repo.root, open_engine=lambda: engine)


async def test_an_index_is_made_anew_only_when_nobody_reads_the_past_into_it(unread):
    reached, go = threading.Event(), threading.Event()
    engine = Engine.open(unread.root)
    original = engine.catch_up

    def slow(cancel):
        for number, progress in enumerate(original(cancel=cancel)):
            yield progress
            if not number and not reached.is_set():
                reached.set()
                go.wait(PATIENCE)

    engine.catch_up = slow
    async with driving_slowly(unread, engine) as driver:
        await driver.until(lambda: reached.is_set() and not driver.app.tasks.indexing)
        driver.app.lifecycle.start_rebuild()
        assert not driver.app.tasks.indexing
        go.set()
        await driver.settle()
        assert driver.app.project.index_error is None
        driver.app.lifecycle.refresh_history()
        await driver.until(lambda: known(driver) == 16)


# --- dropping ---


@at((80, 24), (200, 50))
async def history_is_dropped_after_it_was_counted_and_asked(driver, story):
    await go_to(driver, "#4")
    await driver.press("d", "enter")
    text = " ".join(driver.text.replace("│", " ").split())
    assert "Remove 3 commits, " in text
    assert "#4" in text
    await driver.press("n")
    assert known(driver) == 16
    await driver.press("d", "enter", "y")
    await driver.until(lambda: known(driver) == 13)
    await driver.settle()
    assert any("3 commits" in words and "was removed" in words for words in driver.told)
    assert "was removed" in side(driver, right=False)
    await go_to(driver, "#2")
    assert "was removed" in side(driver)
    assert not rows(driver)
    await driver.press("b")
    await driver.until(lambda: known(driver) == 16)
    await driver.settle()
    assert rows(driver) == [("~", "one", "changed")]


async def standing_in_what_was_dropped_says_so_in_symbols(driver, story):
    await go_to(driver, "#2")
    await driver.press("enter", "3", "4", "d")
    await driver.type("#5")
    await driver.press("enter", "y")
    await driver.until(lambda: known(driver) == 12)
    await driver.press("3")
    await driver.until(lambda: "was removed" in driver.text)


async def all_of_it_and_nothing_of_it(driver, story):
    await driver.press("b")
    await driver.until(lambda: known(driver) == 16)
    await driver.settle()
    await driver.press("d")
    for words in ("9000d", "#1"):
        await driver.type(words)
        await driver.press("enter")
        assert any("Nothing to remove" in told for told in driver.told)
        driver.app.clear_notifications()
        await driver.press("d")
    await driver.type("no-such-ref")
    await driver.press("enter")
    assert driver.app.screen.query("#prompt-hint.-wrong")
    for _ in range(len("no-such-ref")):
        await driver.press("backspace")
    await driver.type("all")
    await driver.press("enter")
    assert "Remove 15 commits" in driver.text
    await driver.press("y")
    await driver.until(lambda: known(driver) == 0)
    await driver.press("i")
    assert known(driver) <= 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("all", {"everything": True}),
        ("30d", {"older_than": "30d"}),
        ("2 Y", {"older_than": "2 Y"}),
        ("d30", {"before": "d30"}),
        ("30d1", {"before": "30d1"}),
        ("#3", {"before": "#3"}),
    ],
)
def test_what_an_answer_means(answer, expected):
    assert prune_arguments(answer) == expected


# --- rewritten meanwhile ---


async def history_that_is_rewritten_while_one_stands_in_it_is_told(driver, story):
    await go_to(driver, "#15")
    await driver.press("enter")
    story.git("reset", "-q", "--hard", "HEAD~4")
    story.write("shop/else.py", "def elsewhere():\n    return 1\n")
    story.commit("another way")
    await driver.press("i")
    await driver.settle()
    assert driver.app.revision.moment.ordinal == 12
    assert "off the mainline, 3 after #12" in driver.text
    assert any("History was rewritten: #15" in words for words in driver.told)
    await driver.press("home")
    await driver.until(lambda: known(driver) == 13)
    await driver.settle()
    assert rows(driver) == [("+", "elsewhere", "added")]
    await driver.press("3")
    assert "off the mainline, 3 after #12" in driver.text or "◀ PAST  here you see now" in driver.text
    await driver.press("0", "slash")
    await driver.type("elsewhere")
    await driver.press("enter")
    assert "return 1" in driver.text


@at((80, 24))
async def a_commit_that_git_removed_leads_back_to_now(driver, story):
    await driver.press("enter")
    assert driver.app.revision.moment.ordinal == 13
    story.git("commit", "-q", "--amend", "-m", "amended")
    story.git("reflog", "expire", "--expire=now", "--all")
    story.git("gc", "-q", "--prune=now")
    # What was read of it once would still be in memory.
    engine = driver.app.tasks.engine._engine
    engine.__dict__.pop("_history")
    engine.__dict__.pop("_repository")
    await driver.press("i")
    await driver.settle()
    assert driver.app.revision.moment is None
    assert any("showing the current state" in words for words in driver.told)
    assert "amended" in driver.text


# --- who called what is gone ---


@at((80, 24))
async def the_callers_before_a_removal_are_rows_that_lead_there(driver, story):
    story.write(
        "shop/late.py",
        "from shop.cart import gone\n\n\ndef early():\n    return 1\n\n\ndef late():\n    return gone()\n",
    )
    story.commit("late comes")
    story.git("rm", "-q", "shop/late.py")
    story.write("shop/cart.py", "def one(x=1):\n    return x\n")
    story.commit("gone for good")
    await driver.press("i")
    await driver.until(lambda: known(driver) == 15)
    driver.app.screen.open_life("gone")
    await driver.settle()
    found = driver.app.screen.rows.rows
    at = next(number for number, row in enumerate(found) if row.name.startswith("Called before it was removed by 1"))
    assert "at #14" in found[at].name
    caller = found[at + 1]
    assert (caller.mark, caller.name, caller.place) == ("←", "late", "shop/late.py:9")
    await driver.press("end")
    assert driver.app.screen.row == caller
    assert "late" in driver.text
    assert "return gone()" in driver.text
    await driver.press("o")
    assert driver.app.current_mode == "symbols"
    assert driver.app.revision.moment.ordinal == 14
    assert driver.app.screen.shown.symbol.qualname == "late"


async def test_a_line_that_changes_meanwhile(story):
    await each(
        story,
        history_that_is_rewritten_while_one_stands_in_it_is_told,
        a_commit_that_git_removed_leads_back_to_now,
        the_callers_before_a_removal_are_rows_that_lead_there,
        mode="4",
        root=story.root,
    )


async def test_history_is_dropped_and_read_again(story):
    await each(
        story,
        history_is_dropped_after_it_was_counted_and_asked,
        standing_in_what_was_dropped_says_so_in_symbols,
        all_of_it_and_nothing_of_it,
        mode="4",
        root=story.root,
    )
