"""The shell around the modes: first run, errors, cancelling, commands, keys, themes, memory."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from cm_tui.config import Config, TuiConfig
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import RefusedError, StoreBusyError, StoreDamagedError
from cm_tui.model import PackRequest
from cm_tui.model.dates import age
from cm_tui.model.status import KnownProject
from cm_tui.tui.app.app import CmApp
from cm_tui.tui.screens.app_commands import APP_COMMANDS
from cm_tui.tui.screens.app_dialogs import project_row
from cm_tui.tui.screens.commands import key_name
from cm_tui.tui.screens.mode_list import TITLES
from cm_tui.tui.screens.small_lists import CommandPalette
from cm_tui.tui.state.pack_selection import PackSelection
from cm_tui.tui.state.remembered import AppState, load_state, save_state, state_file
from cm_tui.tui.theme.themes import style_sheets
from cm_tui.tui.widgets.text import count, duration, elide_middle, fit, short_count, size
from tests.tui.mode_driver import PATIENCE, Driver, at, driving, each, make_project, starting

SIZES = [(80, 24), (120, 40), (200, 50)]


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A project that was never indexed."""
    return make_project(tmp_path / "fresh")


# --- overview ---


async def test_a_first_index_run_shows_where_it_is_and_can_be_cancelled_and_resumed(fresh):
    reached, go = threading.Event(), threading.Event()
    engine = Engine.open(fresh)
    original = engine.index

    def slow(**options):
        for number, progress in enumerate(original(**options)):
            yield progress
            if not number:
                reached.set()
                go.wait(PATIENCE)

    engine.index = slow
    async with starting(fresh, open_engine=lambda: engine, size=(80, 24)) as driver:
        await driver.until(lambda: reached.is_set() and driver.app.project.progress)
        await driver.until(lambda: all(words in driver.text for words in ("about", "5 files", "◐")))
        await driver.pilot.press("x")
        go.set()
        await driver.settle()
        assert "Stopped. Completed work is kept" in driver.text
        await driver.press("i")
        for size_ in SIZES:
            await driver.resize(size_)
            await driver.press("home")
            text = driver.text
            assert "1 Overview" in text
            assert "● hybrid" in text
            assert "files       5" in text
            await driver.press("end")
            assert "Up to date" in text + driver.text
            assert "python" in driver.text
        assert driver.app.project.plan.files == 5


async def test_what_waits_is_counted_once_after_each_change(project, monkeypatch):
    counted = []
    narrated = Engine.narrated
    monkeypatch.setattr(Engine, "narrated", lambda *args, **options: counted.append(1) or narrated(*args, **options))
    async with driving(project) as driver:
        assert len(counted) == 1, "the index was current"
        await driver.press("3", "6", "1")
        assert len(counted) == 1, "nothing has changed"
        (project / "new.py").write_text("def new():\n    return 1\n")
        await driver.press("i")
        assert len(counted) == 2
    (project / "newer.py").write_text("def newer():\n    return 1\n")
    engine, go = Engine.open(project), threading.Event()
    original = engine.index

    def slow(**options):
        for progress in original(**options):
            yield progress
            if progress.stage == "parse":
                go.wait(PATIENCE)

    engine.index = slow
    async with starting(project, open_engine=lambda: engine) as driver:
        await driver.hurry()
        await driver.until(lambda: driver.app.project.progress and driver.app.project.progress.stage == "parse")
        await driver.hurry()
        await driver.until(lambda: len(counted) == 3)
        go.set()
        await driver.settle()
        assert len(counted) == 4, "the run has found something"


async def files_left_out_can_be_listed(driver, project):
    (project / "package-lock.json").write_text("{}")
    (project / "picture.bin").write_bytes(bytes(range(256)) * 10)
    await driver.press("i")
    await driver.press("s")
    assert "picture.bin" in driver.text
    await driver.press("escape")
    assert "picture.bin" not in driver.text


async def test_a_project_that_does_not_open_says_why_and_a_damaged_store_is_built_anew_by_key(project):
    errors = (
        StoreBusyError("Another cm has this project open (process 12).", hint="Close it, then try again."),
        RefusedError("/ is not a project.", hint="Choose a folder of your own."),
        StoreDamagedError("The store is damaged.", hint="Build it anew."),
    )
    failing, mended = list(errors), []

    def open_engine():
        if failing and not mended:
            raise failing[0]
        return Engine.open(project)

    async with driving(project, open_engine=open_engine, mend=lambda: mended.append(True), size=(80, 24)) as driver:
        for number, error in enumerate(errors):
            failing[:] = errors[number:]
            await driver.press("r")
            assert error.message in driver.text
            assert error.hint in driver.text
            assert "✖ not open" in driver.text
            key = re.search(r"(\d)  Health", driver.text)
            assert key
            await driver.press(key[1])
            assert "9 Health" in driver.text
            await driver.press("1")
        await driver.press("b")
        assert "Delete this project's index and rebuild it" in driver.text
        await driver.press("n")
        assert not mended
        await driver.press("b", "y")
        assert mended
        assert "● hybrid" in driver.text


# --- commands, keys, help ---


@at((80, 24))
async def help_lists_every_command_of_a_mode(driver, project):
    await driver.press("question_mark")
    assert "Help · Overview" in driver.text
    seen = driver.text
    for _ in range(6):
        await driver.press("pagedown")
        seen += driver.text
    for command in APP_COMMANDS:
        assert command.help in seen
    await driver.press("escape")
    assert "Help · Overview" not in driver.text


async def the_overview_fits_after_a_resize_in_another_mode(driver, project):
    await driver.press("1")
    for room in ((200, 50), (80, 24), (120, 40)):
        await driver.press("2")
        await driver.resize(room)
        await driver.press("f1")
        driver.app.screen.query_one("#overview").scroll_end(animate=False)
        await driver.settle()
        bars = [
            line for line in driver.text_in("#ov-languages").splitlines() if "━" in line or "─" in line.strip("╭╮╰╯─")
        ]
        assert bars
        assert all(re.search(r"[a-z]+ +[━─]+ +\d+ ", line) for line in bars), room
        told = driver.app.screen.query_one("#ov-project").content.plain
        assert driver.app.project.status.model in told, "there is room for it"


async def the_palette_finds_commands_and_runs_them(driver, project):
    await driver.press("ctrl+p")
    await driver.type("Health")
    await driver.until(lambda: "Daemon, jobs, freshness" in driver.text)
    await driver.press("enter")
    assert driver.app.current_mode == "health"


async def what_a_mode_and_the_application_both_offer_is_listed_once(driver, project):
    labels = [label for label, *_ in CommandPalette(driver.app.screen)._rows()]
    assert labels.count("Search") == 1
    assert "Update" in labels
    assert "Update index" not in labels
    assert {"Overview", "History", "Quit"} <= set(labels)


@pytest.mark.deep
async def test_keys_come_from_the_configuration(project):
    config = Config(tui=TuiConfig(keys={"app.search": "g", "search.tune": "x"}))
    async with driving(project, config=config) as driver:
        await driver.press("g")
        assert driver.app.current_mode == "search"
        await driver.press("escape", "x")
        assert driver.app.screen.has_class("-tuning")
        assert "x Tune" in driver.text


async def tabs_and_key_bar_take_clicks(driver, project):
    await driver.pilot.click("Header", offset=(driver.text.splitlines()[0].index("2 Sear"), 0))
    await driver.settle()
    assert driver.app.current_mode == "search"
    await driver.press("escape")
    await driver.pilot.click("KeyBar", offset=(driver.text.splitlines()[-1].index("Tune"), 0))
    await driver.settle()
    assert driver.app.screen.has_class("-tuning")


async def where_no_memory_is_stale_the_key_says_so(driver, project):
    await driver.press("f1", "t")
    assert any("no memory names missing code" in told for told in driver.told)


async def a_timer_that_starts_late_fires(driver, project):
    """On a busy machine, a timer starts later than it should have ended."""
    fired = []
    driver.app.set_timer(1e-9, lambda: fired.append(True))
    await driver.until(lambda: bool(fired))


def test_key_names():
    assert [key_name(key) for key in ("ctrl+p", "question_mark", "a", "shift+left")] == ["^p", "?", "a", "shift+←"]


# --- themes, state ---


async def test_other_themes_draw_every_mode_whatever_was_in_the_state_file(project):
    file = state_file(project)
    file.parent.mkdir(parents=True)
    file.write_text("{ not json")
    async with driving(project) as driver:
        # A message goes from the screen after four seconds; what warned is kept.
        assert any("could not be read and is ignored" in line.text for line in driver.app.activity_log.lines)
        assert driver.app.current_mode == "overview"
        for theme in ("cm-light", "nord", "ansi-dark"):
            driver.app.theme = theme
            for key in ("2", "f3", "f4", "f5", "f1"):
                await driver.press(key)
                assert driver.text
        driver.app.state_writer.flush()
    async with driving(project) as driver:
        assert driver.app.theme == theme


@pytest.mark.deep
async def test_without_colour_bars_use_characters(project, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with driving(project, mode="2") as driver:
        await driver.type("load record")
        assert "█" in driver.text
        assert "▓" in driver.text


@pytest.mark.parametrize("content", ["[]", '{"mode": 3}', '{"screens": {"search": 1}}', '{"theme": []}'])
def test_states_of_the_wrong_shape_are_ignored(tmp_path, content):
    file = state_file(tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text(content)
    state, note = load_state(tmp_path)
    assert state == AppState()
    assert note


@pytest.mark.deep
async def test_what_an_earlier_release_called_time_is_found_again_as_history(project):
    file = state_file(project)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mode": "time", "screens": {"time": {"tab": "symbols"}}}))
    keys = {"app.time": "f10", "time.zoom": "H", "time.find": "F", "history.find": "f"}
    async with driving(project, config=Config(tui={"keys": keys})) as driver:
        assert driver.app.current_mode == "history"
        assert any("app.time is now app.history" in words for words in driver.told)
        assert driver.app.screen.panel.tabs.active == "symbols"
        await driver.press("H")
        assert driver.app.screen.has_class("-zoomed")
        await driver.press("H", "F")
        assert driver.app.screen.focused is not driver.app.screen.commit_panel.filter_input
        await driver.press("f")
        assert driver.app.screen.focused is driver.app.screen.commit_panel.filter_input
        await driver.press("escape", "1", "f10")
        assert driver.app.current_mode == "history"
        driver.app.state_writer.flush()
    assert json.loads(file.read_text())["mode"] == "history"
    assert "time" not in json.loads(file.read_text())["screens"]


def test_state_is_written_whole_and_read_back(tmp_path):
    state = AppState(mode="search", theme="nord", screens={"search": {"query": "ä"}})
    save_state(tmp_path, state)
    assert load_state(tmp_path) == (state, "")
    folder = state_file(tmp_path).parent
    assert [item.suffix for item in folder.iterdir()] == [".json"]
    assert json.loads(state_file(tmp_path).read_text())["mode"] == "search"


# --- small parts ---


def test_the_pack_selection_takes_nothing_twice():
    changes = []
    pack_selection = PackSelection(lambda: changes.append(1), lambda: None)
    assert pack_selection.add([PackRequest("a.py", 1, 20), PackRequest("a.py", 3, 5)]) == 1
    assert pack_selection.add([PackRequest("a.py", 2, 4)]) == 0
    assert pack_selection.add([PackRequest("a.py", 15, 30)]) == 1
    assert len(changes) == 2


def test_text_helpers_count_cells():
    assert elide_middle("abcdefghij", 5) == "ab…ij" or len(elide_middle("abcdefghij", 5)) == 5
    assert fit("漢字", 3).startswith("漢")
    assert short_count(12_031) == "12.0k"
    assert count(1, "file") == "1 file"
    assert count(2, "file") == "2 files"
    assert duration(200) == "3 min 20 s"
    assert size(1_400_000) == "1.4 MB"
    assert age(7200) == "2 hours ago"


def test_a_known_project_says_how_long_ago_it_was_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    row = KnownProject(
        "i", "shop", "", ("/home/a/shop",), (), indexed=True, recorded=False, last=1_800_000_000.0 - 7200
    )
    assert project_row(row, 80).plain.rstrip().endswith("2 hours ago")
    moved = replace(row, roots=(), gone=("/home/someone/with/a/long/way/to/the/projects/fastify",))
    assert re.search(r" gone: \S*…\S*/fastify +2 hours ago", project_row(moved, 72).plain)


def test_style_sheets_are_found():
    assert "app.tcss" in {Path(sheet).name for sheet in style_sheets()}


@pytest.mark.process
def test_the_first_frame_waits_for_nothing_heavy():
    heavy = ["duckdb", "numpy", "onnxruntime", "hnswlib", "pygit2", "tree_sitter", "fastembed", "pygments.lexers"]
    code = f"import sys, cm_tui.tui.app.app, cm_tui.tui.modes.overview.screen; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_guide_lists_every_key_id():
    guide = (Path(__file__).parents[2] / "cm_tui/docs/application.md").read_text(encoding="utf-8")
    ids = set(re.findall(r"`([a-z]+\.[a-z-]+)`", guide.split("## Your own keys", 1)[1].split("\n## ", 1)[0]))
    commands = [command.id for command in APP_COMMANDS]
    for name in TITLES:
        screen = importlib.import_module(f"cm_tui.tui.modes.{name}.screen")
        commands += [command.id for command in getattr(screen, f"{name.title()}Screen").mode_commands]
    assert ids - {"app.time", "app.narrator"} == set(commands)


@pytest.mark.deep
async def test_words_are_small_and_do_not_stay_over_the_next_mode(project):
    app = CmApp(lambda: Engine.open(project), project, Config())
    try:
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            driver = Driver(app, pilot)
            await driver.settle()
            app.tell("Added to the pack: load")
            await driver.until(lambda: "Added to the pack: load" in driver.text)
            assert max(toast.outer_size.width for toast in app.screen.query("Toast")) < 40
            await driver.press("2")
            assert not driver.told
    finally:
        app.tasks.close()


async def test_commands_keys_and_mouse(project):
    await each(
        project,
        files_left_out_can_be_listed,
        help_lists_every_command_of_a_mode,
        the_overview_fits_after_a_resize_in_another_mode,
        the_palette_finds_commands_and_runs_them,
        what_a_mode_and_the_application_both_offer_is_listed_once,
        tabs_and_key_bar_take_clicks,
        where_no_memory_is_stale_the_key_says_so,
        a_timer_that_starts_late_fires,
    )
