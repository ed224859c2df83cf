"""What is on screen is of one moment: answers come late and in any order, keys in any order, and the screen is read."""

from __future__ import annotations

import random
import re
import threading
from pathlib import Path
from unittest import mock

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import StoreError
from cm_tui.tui.modes.history import commit_panel
from cm_tui.tui.screens.messages import OpenSymbol
from cm_tui.tui.widgets import rowlist
from cm_tui.tui.widgets.split import WAITING
from tests.gitrepo import Repo
from tests.templates import Template, index_with_history
from tests.tiers import examples
from tests.tui.mode_driver import Driver, driving, each, git

COMMITS = 5
LATE = frozenset({
    "source", "symbols", "symbols_at", "files", "files_at", "definitions", "callers", "callees", "dependencies",
    "importers", "symbol_history", "changes", "mainline",
})  # fmt: skip
"""What is answered when the test says so."""
OF_A_MOMENT = re.compile(r"(?:moment|caller|outer|only)_(\d)")
"""Names that the project has at one commit only, with its ordinal."""
NOT_THERE = re.compile(r"only_\d\.py is not")
"""Says of another moment's file what is true of this one."""


def text_at(ordinal: int) -> str:
    return f'''def target() -> str:
    """Of moment_{ordinal}."""
    return "moment_{ordinal}"


def caller_{ordinal}() -> str:
    return target()


def outer_{ordinal}() -> str:
    return caller_{ordinal}()
'''


def make_moments(root: Path) -> None:
    """Make a repository each commit of which has names of its own."""
    repo = Repo(root)
    for ordinal in range(1, COMMITS + 1):
        repo.write("src/shop.py", text_at(ordinal))
        (repo.root / f"only_{ordinal - 1}.py").unlink(missing_ok=True)
        repo.write(f"only_{ordinal}.py", f"HERE = {ordinal}\n")
        repo.commit(f"commit {ordinal}")


@pytest.fixture(scope="session")
def prepared_moments(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template(tmp_path_factory.mktemp("moments"), make_moments, index_with_history)


class Held:
    """An engine whose answers are ready, and are handed over when the test says so."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self.waiting: list[tuple[str, threading.Event]] = []
        self.holding = False
        self.late = LATE

    def __getattr__(self, name: str):
        found = getattr(self._engine, name)
        if name not in self.late:
            return found

        def late(*arguments, **options):
            answer = found(*arguments, **options)
            gate = threading.Event()
            with self._lock:
                if self.holding:
                    self.waiting.append((name, gate))
                else:
                    gate.set()
            gate.wait()
            return answer

        return late

    def hand_over(self, choose: random.Random | None = None) -> None:
        """Let one answer through, or all."""
        with self._lock:
            picked = [self.waiting.pop(choose.randrange(len(self.waiting)))] if choose and self.waiting else []
            if choose is None:
                picked, self.waiting = self.waiting, []
        for _, gate in picked:
            gate.set()

    def stop_holding(self) -> None:
        self.holding = False
        self.hand_over()


@pytest.fixture
def held(prepared_moments: Template, cm_home: Path) -> Held:
    return Held(Engine.open(prepared_moments.put_back(cm_home)))


def moments_in(driver: Driver, widget_id: str) -> set[int]:
    """The moments that a panel shows as if they were current: none where it says that it is being read."""
    widget = driver.app.screen.query_one(f"#{widget_id}")
    if not widget.display or not widget.region:
        return set()
    x, y, width, height = widget.region
    text = "\n".join(line[x : x + width] for line in driver.text.splitlines()[y : y + height])
    if widget.has_class(WAITING):
        assert "eading" in text, text
        return set()
    return {int(found) for found in OF_A_MOMENT.findall(NOT_THERE.sub("", text))}


def check(driver: Driver, steps: list[str]) -> None:
    """Every panel on screen is of the moment that is selected, or says that it is being read."""
    app, told = driver.app, f"after {' '.join(steps)}:\n{driver.text}"
    selected = app.revision.moment.ordinal if app.revision.moment else COMMITS
    if app.current_mode == "symbols":
        for panel in ("tree-panel", "symbol-head", "source-panel", "relations-panel"):
            assert moments_in(driver, panel) <= {selected}, f"{panel} at #{selected} {told}"
    elif app.current_mode == "history":
        point = app.screen.point
        wanted = {point.ordinal, point.ordinal - 1} if point else set()
        if app.screen.panel.tabs.active == "symbols":
            wanted.discard(point.ordinal - 1 if point else 0)
        for panel in ("history-panel", "detail-panel"):
            assert moments_in(driver, panel) <= wanted, f"{panel} at #{point.ordinal if point else None} {told}"


async def stand_at(driver: Driver, ordinal: int) -> None:
    app = driver.app
    app.revision.go(None if ordinal == COMMITS else app.moments_of_test[ordinal])
    await driver.pilot.pause()


async def show_target(driver: Driver) -> None:
    symbols = driver.app.tasks.engine.symbols(match="target").rows
    driver.app.moments_of_test = {point.ordinal: point for point in driver.app.tasks.engine.mainline().rows}
    driver.app.post_message(OpenSymbol(symbols[0].key))
    await driver.settle()


async def pause_until_held(driver: Driver, held: Held, name: str) -> None:
    await driver.until(lambda: any(waiting == name for waiting, _ in held.waiting))


async def callers_of_today_do_not_stand_beside_the_source_of_the_past(driver, held):
    await driver.press("3")
    await show_target(driver)
    await driver.press("d")
    assert {"caller_5", "outer_5"} <= {row.name for row in driver.app.screen.relation_list.rows}
    held.holding = True
    await stand_at(driver, 2)
    await pause_until_held(driver, held, "symbols_at")
    assert "Reading #2…" in driver.text
    assert not {1, 3, 4, 5} & moments_in(driver, "symbol-detail")
    check(driver, ["past"])
    held.stop_holding()
    await driver.settle()
    assert {"caller_2", "outer_2"} <= {row.name for row in driver.app.screen.relation_list.rows}
    assert moments_in(driver, "source-panel") == {2}


async def an_answer_of_now_that_comes_late_does_not_reach_the_past(driver, held):
    await driver.press("3")
    await show_target(driver)
    held.holding = True
    await driver.pilot.press("d")
    await pause_until_held(driver, held, "callers")
    await stand_at(driver, 2)
    held.hand_over()
    await driver.pilot.pause()
    check(driver, ["d", "past"])
    held.stop_holding()
    await driver.settle()
    assert {"caller_2", "outer_2"} <= {row.name for row in driver.app.screen.relation_list.rows}


async def symbols_of_another_commit_are_not_kept_for_the_next_look(driver, held):
    await driver.press("4")
    await driver.press("t")
    assert driver.app.screen.panel.tabs.active == "symbols"
    held.holding = True
    await driver.pilot.press("down")
    await pause_until_held(driver, held, "symbols_at")
    driver.app.screen.panel.activate("changes")
    await driver.pilot.press("down")
    await driver.hurry()
    held.stop_holding()
    await driver.settle()
    driver.app.screen.panel.activate("symbols")
    await driver.settle()
    assert moments_in(driver, "history-panel") == {3}


# --- what is checked out ---


async def the_header_names_the_branch_that_is_checked_out_while_the_index_is_of_another(driver, held):
    top = lambda: driver.text.splitlines()[0]  # noqa: E731 - read again and again
    await driver.until(lambda: "⎇ main" in top())
    assert "behind" not in top()
    held.late = LATE | {"status"}
    held.holding = True
    git(held.root, "checkout", "-q", "-b", "feature", "HEAD~2")
    await driver.until(lambda: "⎇ feature" in top() and "behind" in top())
    assert driver.app.project.status.branch == "main"
    held.stop_holding()
    driver.app.lifecycle.start_index()
    # Meanwhile the progress of the run has the place of the branch.
    await driver.until(lambda: "⎇ feature" in top() and "behind" not in top())
    git(held.root, "checkout", "-q", "main")
    await driver.until(lambda: "⎇ main" in top() and "behind" in top())


# --- the line ---


async def a_reading_of_the_line_that_is_on_its_way_does_not_put_the_cursor_back(driver, held):
    await driver.press("4")
    held.holding = True
    # What an index run tells of: the line is read again.
    driver.app.screen.commit_panel.refill()
    await pause_until_held(driver, held, "mainline")
    await driver.pilot.press("down", "down")
    await driver.pilot.pause()
    assert driver.app.screen.point.ordinal == 3
    held.stop_holding()
    await driver.settle()
    assert driver.app.screen.point.ordinal == 3


async def a_commit_whose_page_is_on_its_way_stays_under_the_cursor_when_the_line_is_read_again(driver, held):
    with mock.patch.object(rowlist, "PAGE", 2), mock.patch.object(commit_panel, "PAGE", 2):
        await driver.anew("4")
        await driver.press("end")
        held.holding = True
        driver.app.screen.commit_panel.refill()
        await pause_until_held(driver, held, "mainline")
        held.hand_over()
        # The line is there again, and only its first page: that of the cursor is on its way.
        await driver.until(lambda: driver.app.screen.commits.current is None)
        await pause_until_held(driver, held, "mainline")
        pages = len(held.waiting)
        driver.app.screen.commit_panel.refill()
        await driver.until(lambda: len(held.waiting) > pages and held.waiting[-1][0] == "mainline")
        held.waiting.pop()[1].set()
        await driver.hurry()
        held.stop_holding()
        await driver.settle()
        assert driver.app.screen.point.ordinal == 1


async def a_line_that_cannot_be_read_for_a_moment_comes_back_where_the_cursor_was(driver, held):
    await driver.press("4")
    await driver.press("down", "down", "down")

    with mock.patch.object(held, "mainline", side_effect=StoreError("The index is being made anew."), create=True):
        driver.app.screen.commit_panel.refill()
        await driver.settle()
        assert "The index is being made anew." in driver.text
    driver.app.lifecycle.refresh_status()
    await driver.settle()
    assert driver.app.screen.point.ordinal == 2


KEYS = ("0", "d", "t", "down", "down", "up", "tab", "enter", "v", "3", "6", "3", "6", "left_square_bracket", "s")


@pytest.mark.parametrize("seed", range(examples(6) // 3))
async def test_whatever_is_pressed_and_however_late_answers_are_one_moment_is_on_screen(held, seed):
    chance, steps = random.Random(seed), []
    size = chance.choice([(80, 24), (120, 40), (200, 50)])
    async with driving(held.root, open_engine=lambda: held, mode="3", size=size) as driver:
        await show_target(driver)
        held.holding = True
        try:
            await press_anything(driver, held, chance, steps)
        finally:
            held.stop_holding()
        await driver.settle()
        check(driver, [*steps, "rest"])
        assert not driver.app.screen.query(f".{WAITING}")


async def press_anything(driver: Driver, held: Held, chance: random.Random, steps: list[str]) -> None:
    """Press keys, stand at other moments and let answers through, in any order; check what is on screen each time."""
    for _ in range(60):
        what = chance.random()
        if what < 0.45:
            steps.append("answer")
            held.hand_over(chance)
        elif what < 0.65:
            steps.append(f"#{(ordinal := chance.randint(1, COMMITS))}")
            await stand_at(driver, ordinal)
        else:
            # In History, d asks what to drop.
            key = chance.choice([key for key in KEYS if key != "d" or driver.app.current_mode == "symbols"])
            steps.append(key)
            await driver.pilot.press(key)
        if chance.random() < 0.3:
            await driver.hurry()
        else:
            await driver.pilot.pause()
        check(driver, steps)


async def test_what_comes_late_is_of_the_moment_that_is_shown(held):
    await each(
        held,
        callers_of_today_do_not_stand_beside_the_source_of_the_past,
        an_answer_of_now_that_comes_late_does_not_reach_the_past,
        symbols_of_another_commit_are_not_kept_for_the_next_look,
        a_reading_of_the_line_that_is_on_its_way_does_not_put_the_cursor_back,
        a_commit_whose_page_is_on_its_way_stays_under_the_cursor_when_the_line_is_read_again,
        a_line_that_cannot_be_read_for_a_moment_comes_back_where_the_cursor_was,
        the_header_names_the_branch_that_is_checked_out_while_the_index_is_of_another,
        root=held.root,
        open_engine=lambda: held,
        before=held.stop_holding,
    )
