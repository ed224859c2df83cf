"""The list of 100,000 commits, paging only: the engine's `mainline` is a fake here that makes commits up.

Everything else about history is tested on real repositories, in `test_history_mode.py`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.model import CommitPoint, HistoryStatus, Page
from cm_tui.tui.modes.history.commit_panel import CommitList
from cm_tui.tui.widgets.rowlist import KEPT, PAGE, PagedRows
from tests.tui.mode_driver import at, each

LENGTH = 100_000


def moment(ordinal: int) -> CommitPoint:
    return CommitPoint(ordinal, f"{ordinal:040x}", 1_500_000_000 + 600 * ordinal, "Ann Example", f"subject {ordinal}")


class LongLine:
    """A real engine, but for a line of 100,000 commits."""

    def __init__(self, project) -> None:
        self.engine = Engine.open(project)
        self.asked: list[tuple[str, int | None, int]] = []
        self.engine.mainline = self.mainline
        self.engine.history = self.history
        self.engine.changes = lambda before, after, limit=1000: Page((), 0, f"asked {before} {after[-6:]}")

    def history(self) -> HistoryStatus:
        newest = moment(LENGTH)
        return HistoryStatus(
            newest, LENGTH, 40_000, moment(60_001), newest, complete=False, running=False, blobs=0,
            text="history known back to 2018-09-04, 40,000 of 100,000 commits",
        )  # fmt: skip

    def mainline(self, *, match: str = "", before: int | None = None, limit: int = 200) -> Page[CommitPoint]:
        self.asked.append((match, before, limit))
        top = LENGTH if before is None else before - 1
        if not match:
            return Page(tuple(moment(n) for n in range(top, max(0, top - limit), -1)), LENGTH)
        found = [n for n in range(LENGTH, 0, -1) if match in f"subject {n}"]
        return Page(tuple(moment(n) for n in found if n <= top)[:limit], len(found))


@pytest.fixture
def long_line(project) -> LongLine:
    return LongLine(project)


@at((80, 24), (200, 50))
async def only_pages_that_are_looked_at_are_read(driver, long_line):
    assert "100,000 2019-" in driver.text
    assert "100,000 commits" in driver.text
    assert len(long_line.asked) == 1
    await driver.press("end")
    assert "subject 1 " in driver.text or driver.text.count("subject") > 3
    assert driver.app.screen.point == moment(1)
    await driver.press("pageup", "home")
    assert driver.app.screen.point == moment(LENGTH)
    assert {limit for _, _, limit in long_line.asked} == {PAGE}
    assert len(long_line.asked) <= 4


async def scrolling_asks_about_the_moment_it_ends_at(driver, long_line):
    for _ in range(30):
        await driver.pilot.press("down")
    await driver.settle()
    assert driver.app.screen.point == moment(LENGTH - 30)
    assert f"asked #{LENGTH - 31}" in driver.text


async def what_is_not_known_is_drawn_otherwise_and_said(driver, long_line):
    said = " ".join(driver.text.replace("│", " ").split())
    assert "40,000 of 100,000 commits" in said
    screen = driver.app.screen
    screen.commit_panel.go(moment(60_001))
    await driver.press("down")
    rows = {line.split()[1]: line[:3] for line in driver.text.splitlines() if " 60,00" in line or line[1:2] in "·╌"}
    assert rows["60,002"] == "│· "
    assert rows["60,000"] == "│╌ "


async def found_commits_load_further_as_one_scrolls(driver, long_line):
    await driver.press("slash")
    await driver.type("77")
    screen = driver.app.screen
    await driver.until(lambda: screen.commits.filter_words == "77")
    await driver.settle()
    total = sum("77" in str(n) for n in range(1, LENGTH + 1))
    assert f"{PAGE} of {total:,} commits" in driver.text
    await driver.press("enter", "end")
    await driver.settle()
    assert len(screen.commits.rows) == 2 * PAGE
    here = screen.point
    await driver.press("escape")
    assert screen.point == here
    assert len(screen.commits.rows) == LENGTH


def test_a_subject_has_the_room_and_a_day_of_late_has_no_year(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("time.time", lambda: 1_764_300_000.0)
    commits, subject = CommitList(), "pack, health, guides: plain words for undo"
    now, before = (replace(moment(30), subject=subject, time=time) for time in (1_764_000_000, 1_735_000_000))
    narrow = commits.draw(now, 56).plain
    assert narrow.startswith(("· 30 11-24 ", "╌ 30 11-24 "))
    assert subject[:38] in narrow
    assert "Ann" not in narrow
    assert " 2024-12 " in commits.draw(before, 56).plain
    wide = commits.draw(now, 98).plain
    assert all(words in wide for words in ("2025-11-24", subject, "Ann Example"))


def test_pages_that_were_not_looked_at_for_long_are_let_go():
    wanted: list[int] = []
    rows: PagedRows[int] = PagedRows(100 * PAGE, wanted.append)
    for number in range(100):
        assert rows[number * PAGE] is None
        assert rows[number * PAGE + 1] is None
        rows.put(number, range(number * PAGE, (number + 1) * PAGE))
        assert rows[number * PAGE + 7] == number * PAGE + 7
    assert wanted == list(range(100))
    assert rows.loaded == KEPT
    assert rows[0] is None
    assert wanted[-1] == 0
    rows.give_up(0)
    assert rows[0] is None
    assert wanted[-2:] == [0, 0]
    assert rows[-1] == 100 * PAGE - 1


async def test_a_long_line_is_read_as_one_looks(long_line):
    await each(
        long_line,
        only_pages_that_are_looked_at_are_read,
        scrolling_asks_about_the_moment_it_ends_at,
        what_is_not_known_is_drawn_otherwise_and_said,
        found_commits_load_further_as_one_scrolls,
        mode="4",
        root=long_line.engine.root,
        open_engine=lambda: long_line.engine,
        before=long_line.asked.clear,
    )
