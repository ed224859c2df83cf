"""History: keys are pressed on real repositories with a real past, and the screen is read."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from unittest import mock

import pytest

from cm_tui.daemon.subscribe import jobs
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import NotFoundError
from cm_tui.model import CommitPoint
from cm_tui.model.dates import day
from cm_tui.tui.modes.history import detail_panel, view
from cm_tui.tui.modes.history.detail_panel import DetailPanel
from cm_tui.tui.modes.history.prompts import named_revision
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.state.revision import name_of
from tests.daemon.conftest import daemons_allowed
from tests.gitrepo import Repo
from tests.tui.mode_driver import PATIENCE, at, connected, driving, each, through_daemon
from tests.tui.story import tell

SMALL = (80, 24)


@pytest.fixture
def fresh_story(tmp_path: Path, cm_home: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Nothing is known of it yet, and its history is read when somebody asks for it."""
    monkeypatch.setenv("CM_HISTORY__ENABLED", "false")
    return tell(tmp_path / "story")


async def go_to(driver, ref: str) -> None:
    await driver.press("colon")
    await driver.type(ref)
    await driver.press("enter")


def side(driver, *, right: bool = True) -> str:
    """What stands on one side of the screen, without borders and line breaks."""
    edge = driver.app.screen.commit_panel.outer_size.width
    lines = (line[edge:] if right else line[:edge] for line in driver.text.splitlines())
    return " ".join("".join(" " if character in "│╭╮╰╯─" else character for character in " ".join(lines)).split())


def rows(driver) -> list[tuple[str, str, str]]:
    return [(row.mark, row.name, row.word) for row in driver.app.screen.rows.rows if row.mark]


def test_a_number_is_the_commit_that_the_list_shows_before_it_is_a_name():
    class Asked:
        """Knows commits of a list of 1,700, and one whose name begins with digits."""

        def resolve(self, ref: str) -> str:
            if ref.startswith("#") and int(ref[1:]) > 1_700:
                raise NotFoundError(f"Commit not found: {ref}.")
            return ref

    for typed, found in (("1700", "#1700"), ("1,700", "#1700"), ("#1,700", "#1700"), ("#17", "#17"), ("2000", "2000")):
        assert named_revision(Asked(), typed) == found  # type: ignore[arg-type,comparison-overlap]
    for other in ("1234567", "12h", "2021-03-04", "v1,2", "HEAD~20"):
        assert named_revision(Asked(), other) == other  # type: ignore[arg-type,comparison-overlap]
    with pytest.raises(NotFoundError, match="#1701"):
        named_revision(Asked(), "1,701")  # type: ignore[arg-type]


# --- the line ---


@at((80, 24), (200, 50))
async def the_line_and_what_the_newest_commit_changed(driver, story):
    text = driver.text
    assert "16 commits" in text
    assert "step 11" in text
    assert "#16" in text
    assert rows(driver) == [("~", "m2", "changed")]
    assert "return 11" in text
    assert "-    return 8" in text


async def moving_the_point_moves_every_panel(driver, story):
    await go_to(driver, "3")
    assert ("−", "gone", "removed") in rows(driver)
    assert ("±", "one", "signature") in rows(driver)
    assert "close what is gone" in driver.text
    await driver.press("down")
    assert rows(driver) == [("~", "one", "changed")]
    assert "+    return 11" in driver.text
    await driver.press("t")
    assert [name for _, name, _ in rows(driver)] == ["one", "gone", "user"]
    # What is there is no change of that commit.
    shown = [line.content.plain for line in driver.app.screen.detail.diff.rows]
    assert shown
    assert all(line.startswith(" ") for line in shown)
    driver.app.screen.rows.focus()
    await driver.press("down", "v", "v")
    assert [row.name for row in driver.app.screen.detail.relations.rows] == ["user"]
    assert "shop/user.py:5" in driver.text


async def the_difference_of_another_commit_is_never_shown_as_current(driver, story):
    seen, end = [], detail_panel.end_waiting

    def ended(panel: DetailPanel) -> None:
        seen.append((panel._row, driver.app.screen.rows.current))
        end(panel)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detail_panel, "end_waiting", ended)
        await driver.press("down", "down", "up", "end", "home")
    assert len(seen) >= 5
    assert all(row == current for row, current in seen)


async def what_changed_since_an_age_or_a_day(driver, story):
    for words, said in (
        ("2w", "no commit before 2w"),
        ("3 days ago", "no commit before 3 days ago"),
        ("yesterday", "no commit before"),
    ):
        await driver.press("w", "ctrl+u")
        await driver.type(words)
        await driver.press("enter")
        assert said in side(driver)
        assert "compared with #1" in driver.text
        await driver.press("m", "m")
    await go_to(driver, "2 moons")
    told = " ".join(driver.text_in("#prompt-hint").split())
    assert "Give a branch, a tag, a commit, #17, a date such as 2021-03-04, or an age such as 2w." in told
    await driver.press("escape")


async def the_first_commit_added_everything(driver, story):
    await driver.press("end")
    assert rows(driver) == [("+", "one", "added"), ("+", "gone", "added"), ("+", "user", "added")]


async def two_points_side_by_side(driver, story):
    await go_to(driver, "#2")
    await driver.press("m")
    await go_to(driver, "v1")
    assert "compared with #2" in driver.text
    found = {(mark, name) for mark, name, _ in rows(driver)}
    assert {("±", "one"), ("~", "gone")} <= found
    assert "from #2 to #4" in driver.text
    await driver.press("escape")
    assert "compared with" not in driver.text
    moved = [row for row in rows(driver) if row[0] == "→"]
    assert moved == [("→", "user", "from shop/user.py")]


# --- names of moments ---


async def refs_dates_and_what_is_off_the_line(driver, story):
    screen = driver.app.screen
    await go_to(driver, "v1")
    assert screen.point.ordinal == 4
    await go_to(driver, "HEAD~1")
    assert screen.point.ordinal == 15
    await go_to(driver, story.git("rev-parse", "--short", "HEAD~13"))
    assert screen.point.ordinal == 3
    await go_to(driver, "side")
    aside = story.git("rev-parse", "side")
    assert (screen.point.ordinal, screen.point.sha, screen.commits.current.ordinal) == (2, aside, 2)
    assert "off the mainline, 1 commit after #2" in side(driver)
    # Another row is that row, and so is this one when the cursor comes back to it.
    await driver.press("down")
    assert screen.point.ordinal == 1
    await driver.press("up")
    assert (screen.point.ordinal, screen.point.ahead) == (2, 0)


@at((80, 24))
async def a_commit_off_the_line_is_named_as_a_whole_at_80_columns(driver, story):
    aside = story.git("rev-parse", "side")
    words = f"{aside[:8]} {day(int(story.git('show', '-s', '--format=%ct', 'side')))}, off the mainline, 1 after #2"
    await go_to(driver, "side")
    await driver.press("enter")
    assert f"◀ PAST  {words}" in driver.text
    assert driver.app.revision.at == aside
    await driver.press("3")
    assert f"◀ PAST  {words}" in driver.text
    await driver.press("2")
    assert "◀ PAST  here you see now" in driver.text
    longest = CommitPoint(46_177, aside, 1_635_700_000, "A", "b", ahead=1_843)
    # What the bar has room for, beside its own words.
    assert len(name_of(longest)) <= 80 - len(" ◀ PAST  ") - len(" 0 back to now ")


async def a_name_of_nothing_is_asked_again_with_the_reason(driver, story):
    point = driver.app.screen.point
    for ref in ("nosuch", "--help", "$(rm -rf)", "2024-99-99", "..", "#999"):
        await go_to(driver, ref)
        assert "Go to" in driver.text, ref
        assert driver.app.screen.query("#prompt-hint.-wrong"), ref
        await driver.press("escape")
        assert driver.app.screen.point == point, ref


async def commits_are_found_by_words(driver, story):
    await driver.press("slash")
    await driver.type("eleven")
    await driver.until(lambda: driver.app.screen.point.ordinal == 2)
    await driver.settle()
    assert rows(driver) == [("~", "one", "changed")]
    await driver.type("zzz")
    await driver.until(lambda: "No commits match" in driver.text)
    await driver.press("escape")
    assert "16 commits" in driver.text


# --- the past in other modes ---


@at((80, 24), (200, 50))
async def standing_in_the_past_shows_everywhere_and_one_key_leads_back(driver, story):
    await go_to(driver, "#2")
    await driver.press("enter", "3")
    assert "◀ PAST  #2" in driver.text
    await driver.press("slash")
    await driver.type("gone")
    await driver.press("enter")
    screen = driver.app.screen
    assert screen.shown.place.path == "shop/cart.py"
    assert "return one()" in driver.text
    assert [row.name for row in screen.relation_list.rows] == ["user"]
    await driver.press("a")
    assert not driver.app.pack_selection.items
    assert any("past revision" in words for words in driver.told)
    await driver.press("2", "escape")
    assert "here you see now" in driver.text
    await driver.press("0", "3")
    assert "PAST" not in driver.text
    assert "return 2" in driver.text


async def the_tree_shows_the_files_of_the_moment(driver, story):
    await driver.press("3", "home", "right")
    assert "client.py" in driver.text
    await driver.press("4")
    await go_to(driver, "#1")
    await driver.press("s", "3")
    assert "2 files" in driver.text
    assert "client.py" not in driver.text
    assert "user.py" in driver.text
    await driver.pilot.click("RevisionBar")
    await driver.settle()
    assert "client.py" in driver.text


# --- lives ---


@at((80, 24), (200, 50))
async def the_life_of_a_symbol_with_its_gap(driver, story):
    await driver.press("L")
    if "of which symbol" not in driver.text:
        await driver.press("L")
    for _ in range(30):
        await driver.press("backspace")
    await driver.type("gone")
    await driver.press("enter")
    words = [(mark, word) for mark, _, word in rows(driver)]
    assert words == [("+", "added"), ("−", "removed"), ("+", "added again")]
    shown = driver.text_in("#history-list")
    assert all(f"{row.lead}{row.name[:3]}" in shown for row in driver.app.screen.rows.rows if row.lead)
    await driver.press("down", "enter")
    assert driver.app.screen.point.ordinal == 3


async def who_called_what_is_gone(driver, story):
    story.write("shop/cart.py", "def one(x=1):\n    return x\n")
    story.commit("gone for good")
    await driver.press("i")
    driver.app.screen.open_life("side_of_nothing")
    await driver.settle()
    assert "side_of_nothing" in driver.text
    await driver.press("b")
    driver.app.screen.open_life("gone")
    await driver.settle()
    assert [mark for mark, _, _ in rows(driver)] == ["+", "−", "+", "−"]
    assert "gone" in driver.text


async def a_lifeline_stands_beside_a_symbol(driver, story):
    await driver.press("3", "slash")
    await driver.type("gone")
    await driver.press("enter")
    await driver.until(lambda: "added again once" in driver.text)
    line = next(line for line in driver.text.splitlines() if "added again once" in line)
    assert "┿" in line
    assert "·" in line
    assert "━" in line
    await driver.press("L")
    assert driver.app.current_mode == "history"
    assert [word for _, _, word in rows(driver)] == ["added", "removed", "added again"]


# --- drift and news ---


EDITED = "def one(x=1):\n    return x + 1\n\n\ndef brand_new():\n    return 3\n"
DRIFTED = {("one", "drifted"), ("gone", "tombstoned"), ("brand_new", "unindexed")}


def drifted(driver) -> set[tuple[str, str]]:
    """Rows of the tab that is shown."""
    return {(name, word) for _, name, word in rows(driver)}


def footer(driver) -> str:
    return driver.text.splitlines()[-1]


@at((80, 24))
async def drift_is_listed_and_mended_by_its_key(driver, story):
    await driver.press("t", "t", "t")
    assert "no drift" in side(driver)
    assert "Fix" not in footer(driver)
    await driver.press("v")
    assert driver.told == ["Panel: no symbol under the cursor"]
    story.write("shop/cart.py", EDITED)
    await driver.press("1", "4")
    assert drifted(driver) == DRIFTED
    assert "i Fix drift" in footer(driver)
    await driver.press("i")
    assert "no drift" in side(driver)
    assert "Fix" not in footer(driver)


async def drift_shows_on_every_tab_and_is_looked_for_when_its_tab_is_opened(driver, story):
    story_text = (story.root / "shop/cart.py").read_text()
    story.write("shop/cart.py", EDITED)
    await driver.press("1", "4")
    assert driver.app.screen.panel.tabs.active == "changes"
    assert "i Fix drift" in footer(driver)
    assert driver.app.screen.panel.tabs.counts["drift"] == "3"
    story.write("shop/cart.py", story_text)
    await driver.press("t", "t", "t")
    assert "no drift" in side(driver)
    assert "Fix" not in footer(driver)
    story.write("shop/cart.py", EDITED)
    await driver.press("t", "t", "t", "t", "t")
    assert drifted(driver) == DRIFTED
    story.write("shop/cart.py", story_text)


async def drift_comes_by_itself_while_somebody_looks(driver, story):
    with mock.patch.object(view, "LOOK_AGAIN", 0.05), mock.patch.object(view, "DRIFT_AGAIN", 0.1):
        await driver.anew("4")
        await driver.press("t", "t", "t")
        story.write("shop/cart.py", EDITED)
        await driver.until(lambda: drifted(driver) == DRIFTED)
        await driver.press("down", "down")
        cursor = driver.app.screen.rows.cursor
        (story.root / "shop/user.py").unlink(missing_ok=True)
        story.write("zzz.py", "def zzz():\n    return 1\n")
        await driver.until(lambda: ("zzz", "unindexed") in drifted(driver))
        assert cursor > 0


@pytest.mark.process
async def test_through_an_owner_that_does_not_watch_drift_stays_until_it_is_mended(story, cm_home, monkeypatch):
    monkeypatch.setenv("CM_WATCH__ENABLED", "false")
    with daemons_allowed(cm_home):
        async with driving(story.root, mode="4", open_engine=through_daemon(story.root)) as driver:
            await connected(driver)
            # What keeps it fresh begins by comparing everything.
            engine = driver.app.tasks.engine
            await driver.until(lambda: not engine.freshness().behind and all(job.state == "done" for job in jobs()))
            story.write("shop/cart.py", EDITED)
            await driver.press("1", "4", "t", "t", "t")
            assert drifted(driver) == DRIFTED
            driver.app.screen.rows.focus()
            for _ in DRIFTED:
                # Nothing that is shown of a row mends it.
                await driver.press("down", "v", "v", "v", "v")
            await driver.press("1", "4")
            assert drifted(driver) == DRIFTED
            assert engine.drift().total == 3
            await driver.press("i")
            await driver.until(lambda: "no drift" in side(driver))


async def test_a_project_that_is_opening_is_not_said_to_have_no_index():
    assert ProjectView(engine="open").why_not_searchable == "Opening the project…"


@at((80, 24))
async def at_the_smallest_size_the_footer_has_what_is_done_in_time(driver, story):
    for entry in ("? Help", "⏎ View", "t Tab", "v Panel", "o Open", "L Life", "m Mark", "w Since"):
        assert entry in footer(driver)
    assert "b Read" not in footer(driver)
    driver.app.tasks.engine.prune(everything=True)
    driver.app.lifecycle.history_dropped()
    await driver.settle()
    assert "b Read" in footer(driver)


async def test_since_the_person_last_looked_and_since_a_commit_that_was_reset_away(story):
    async with driving(story.root, mode="4") as driver:
        await driver.press("w", "enter")
        assert driver.told
    story.write("shop/news.py", "def news():\n    return 1\n")
    story.commit("news")
    old = story.git("rev-parse", "HEAD")
    async with driving(story.root, mode="4") as driver:
        await driver.press("w", "enter")
        assert rows(driver) == [("+", "news", "added")]
        assert "compared with #16" in driver.text
        await driver.press("w", "enter")
        assert rows(driver) == [("+", "news", "added")]
    story.git("reset", "-q", "--hard", "HEAD~3")
    async with driving(story.root, mode="4") as driver:
        await driver.press("w", "enter")
        assert f"compared with {old[:8]}" in driver.text
        assert driver.app.screen.loader.span == (old, story.git("rev-parse", "HEAD"))
        assert f"from {old[:8]} to #14" in driver.text
        assert old not in driver.text.replace("\n", "")


# --- the mouse ---


async def the_mouse_moves_the_point_marks_nothing_and_chooses_tabs_and_rows(driver, story):
    screen = driver.app.screen

    async def click(words: str) -> None:
        lines = driver.text.split("\n")
        y = next(index for index, line in enumerate(lines) if words in line)
        await driver.pilot.click(offset=(lines[y].index(words) + 1, y))
        await driver.settle()

    await click("close what is gone")
    assert screen.point.ordinal == 3
    assert driver.app.revision.moment is None
    await click("ƒ gone")
    assert screen.row.name == "gone"
    assert "-def gone():" in driver.text
    await click("Callers")
    assert [row.name for row in screen.detail.relations.rows] == ["user"]
    await click("Drift")
    assert screen.panel.tabs.active == "drift"
    await click("·  3 ")
    assert driver.app.revision.moment.ordinal == 3


# --- reading history, and what has none ---


@pytest.mark.deep
async def test_history_is_read_by_key_shows_how_far_it_is_and_can_be_stopped(fresh_story):
    reached, go = threading.Event(), threading.Event()
    engine = Engine.open(fresh_story.root)
    original = engine.backfill

    def slow(**options):
        for number, progress in enumerate(original(**options)):
            yield progress
            if not number:
                reached.set()
                go.wait(PATIENCE)

    engine.backfill = slow
    async with driving(fresh_story.root, mode="4", size=SMALL, open_engine=lambda: engine) as driver:
        await go_to(driver, "#2")
        assert "b reads the rest" in driver.text
        await driver.pilot.press("b")
        await driver.until(lambda: reached.is_set() and driver.app.project.reading)
        await driver.pilot.pause()
        assert "x stops" in driver.text
        assert re.search(r"◔ (history )?\d+%", driver.text)
        await driver.pilot.press("x")
        go.set()
        await driver.settle()
        assert not driver.app.project.history.complete
        assert "x stops" not in driver.text
        await driver.press("b")
        assert "b reads the rest" not in driver.text
        assert driver.app.project.history.complete
        assert rows(driver) == [("~", "one", "changed")]


async def test_a_folder_without_git_says_so(tmp_path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.py").write_text("def a(): pass\n")
    async with driving(tmp_path / "plain", mode="4", size=SMALL) as driver:
        assert "no git repository" in side(driver, right=False)
        await driver.press("b")
        assert any("no git repository" in words for words in driver.told)


async def test_before_the_first_commit_there_is_no_line(tmp_path):
    repo = Repo(tmp_path / "unborn")
    repo.write("a.py", "def a(): pass\n")
    async with driving(repo.root, mode="4", size=SMALL) as driver:
        assert "no commit" in driver.text.lower()
        await driver.press("colon")
        assert any("no commits yet" in words for words in driver.told)


@pytest.mark.deep
async def test_a_shallow_clone_says_where_it_ends(fresh_story, tmp_path):
    fresh_story.git("clone", "-q", "--depth", "5", f"file://{fresh_story.root}", str(tmp_path / "shallow"))
    async with driving(tmp_path / "shallow", mode="4") as driver:
        await driver.press("b")
        assert "5 commits" in driver.text
        assert "shallow" in driver.text.lower()
        await driver.press("end")
        assert driver.app.screen.point.ordinal == 1


async def a_commit_made_meanwhile_comes_with_the_next_index_run(driver, story):
    await driver.press("down")
    story.write("step/m9.py", "def m9():\n    return 9\n")
    story.commit("meanwhile")
    await driver.press("i")
    assert "17 commits" in driver.text
    assert driver.app.screen.point.ordinal == 15
    await driver.press("home")
    assert rows(driver) == [("+", "m9", "added")]


@pytest.mark.deep
async def test_without_colour_signs_remain(story, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with driving(story.root, mode="4") as driver:
        await driver.press("m", "down", "down", "enter")
        text = driver.text
        assert "│◆ 16" in text
        assert "││ 15" in text
        assert "│◀ 14" in text


async def themes_and_zoom(driver, story):
    for theme in ("cm-light", "nord", driver.app.theme):
        driver.app.theme = theme
        await driver.press("z")
        assert "Changes" not in driver.text
        await driver.press("z")
        assert "Changes" in driver.text


async def test_the_line_its_commits_and_the_past_in_other_modes(story):
    await each(
        story,
        the_line_and_what_the_newest_commit_changed,
        moving_the_point_moves_every_panel,
        the_difference_of_another_commit_is_never_shown_as_current,
        what_changed_since_an_age_or_a_day,
        the_first_commit_added_everything,
        two_points_side_by_side,
        refs_dates_and_what_is_off_the_line,
        a_commit_off_the_line_is_named_as_a_whole_at_80_columns,
        a_name_of_nothing_is_asked_again_with_the_reason,
        commits_are_found_by_words,
        standing_in_the_past_shows_everywhere_and_one_key_leads_back,
        the_tree_shows_the_files_of_the_moment,
        the_life_of_a_symbol_with_its_gap,
        a_lifeline_stands_beside_a_symbol,
        the_mouse_moves_the_point_marks_nothing_and_chooses_tabs_and_rows,
        themes_and_zoom,
        at_the_smallest_size_the_footer_has_what_is_done_in_time,
        drift_comes_by_itself_while_somebody_looks,
        mode="4",
        root=story.root,
    )


@pytest.mark.deep
async def test_what_changes_meanwhile_is_shown(story):
    await each(
        story,
        a_commit_made_meanwhile_comes_with_the_next_index_run,
        drift_shows_on_every_tab_and_is_looked_for_when_its_tab_is_opened,
        drift_is_listed_and_mended_by_its_key,
        who_called_what_is_gone,
        mode="4",
        root=story.root,
    )
