"""Leaving, and being killed: the screen goes at once, and what was there is found again."""

from __future__ import annotations

import signal
import sys

import pytest

from cm_tui.paths import state_dir
from cm_tui.tui.state.remembered import load_state

if sys.platform == "win32":
    pytest.skip("needs a pseudo terminal", allow_module_level=True)

from tests.tui.terminal import Terminal

pytestmark = pytest.mark.process
CTRL_O = "\x0f"
LEFT_SCREEN = b"\x1b[?1049l"

APPLICATION = """
import sys, time
from pathlib import Path
from cm_tui.config import Config
from cm_tui.engine.api.engine import Engine
from cm_tui.tui.app.app import CmApp, run

root, begun, go = map(Path, sys.argv[1:])

def open_engine():
    engine = Engine.open(root)
    index = engine.index
    def slow(**options):
        for progress in index(**options):
            yield progress
            begun.touch()
            while not go.exists():
                time.sleep(0.01)
    engine.index = slow
    return engine

sys.exit(run(CmApp(open_engine, root, Config())))
"""


@pytest.mark.deep
def test_the_screen_is_gone_before_a_step_of_the_index_run_ends(project, tmp_path):
    begun, go = tmp_path / "begun", tmp_path / "go"
    with Terminal(APPLICATION, str(project), str(begun), str(go)) as terminal:
        terminal.until(begun.exists)
        terminal.press("q")
        terminal.until(lambda: LEFT_SCREEN in terminal.drawn)
        terminal.until(lambda: b"finishing the current step" in terminal.drawn.partition(LEFT_SCREEN)[2])
        assert terminal.process.poll() is None
        go.touch()
        terminal.until(lambda: terminal.process.poll() is not None)
        assert terminal.process.returncode == 0


def test_ctrl_c_cuts_the_wait(project, tmp_path):
    begun = tmp_path / "begun"
    with Terminal(APPLICATION, str(project), str(begun), str(tmp_path / "never")) as terminal:
        terminal.until(begun.exists)
        terminal.press("q")
        terminal.until(lambda: b"finishing the current step" in terminal.drawn)
        terminal.process.send_signal(signal.SIGINT)
        terminal.until(lambda: terminal.process.poll() is not None)
        assert terminal.process.returncode == 130
        assert b"Traceback" not in terminal.drawn


@pytest.mark.deep
def test_without_work_nothing_is_said_on_leaving(project, tmp_path):
    begun, go = tmp_path / "begun", tmp_path / "go"
    go.touch()
    with Terminal(APPLICATION, str(project), str(begun), str(go)) as terminal:
        terminal.until(lambda: b"Up to date" in terminal.drawn)
        terminal.press("q")
        terminal.until(lambda: terminal.process.poll() is not None)
        assert terminal.process.returncode == 0
        assert b"Traceback" not in terminal.drawn


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.deep)])
def test_a_signal_gives_the_terminal_back_and_keeps_what_was_typed(project, tmp_path, number):
    go = tmp_path / "go"
    go.touch()
    with Terminal(APPLICATION, str(project), str(tmp_path / "begun"), str(go)) as terminal:
        terminal.until(lambda: b"Up to date" in terminal.drawn)
        terminal.press("2")
        terminal.until(lambda: b"Ask the code" in terminal.drawn)
        terminal.press("add_tax")
        terminal.until(lambda: b"add_tax" in terminal.drawn)
        terminal.process.send_signal(number)
        terminal.until(lambda: terminal.process.poll() is not None)
        terminal.until(lambda: LEFT_SCREEN in terminal.drawn)
        assert terminal.process.returncode == 128 + number
        assert b"Traceback" not in terminal.drawn
    assert load_state(project)[0].screens["search"]["query"] == "add_tax"


DEFECTIVE = f"""
{APPLICATION.partition("sys.exit")[0]}
from cm_tui.cli.failures import guarded

def quit(self):
    held = "value-of-a-variable"
    raise KeyError("defect")

CmApp._quit = quit
sys.exit(guarded(lambda: run(CmApp(open_engine, root, Config()))))
"""


def test_a_defect_is_reported_as_by_a_command_and_shows_no_values(project, tmp_path):
    go = tmp_path / "go"
    go.touch()
    with Terminal(DEFECTIVE, str(project), str(tmp_path / "begun"), str(go)) as terminal:
        terminal.until(lambda: b"Up to date" in terminal.drawn)
        terminal.press("q")
        terminal.until(lambda: terminal.process.poll() is not None)
        terminal.until(lambda: b"The details are in" in terminal.drawn)
        assert terminal.process.returncode == 1
        said = terminal.drawn.partition(LEFT_SCREEN)[2]
    assert b"Internal error: KeyError: 'defect'" in said
    assert b"value-of-a-variable" not in said
    assert "KeyError: 'defect'" in (state_dir() / "error.log").read_text()


@pytest.mark.parametrize("is_told", [True, False])
def test_an_application_ends_with_its_terminal(project, tmp_path, is_told):
    go = tmp_path / "go"
    go.touch()
    with Terminal(APPLICATION, str(project), str(tmp_path / "begun"), str(go)) as terminal:
        terminal.until(lambda: b"Up to date" in terminal.drawn)
        terminal.hang_up()
        if is_told:
            terminal.process.send_signal(signal.SIGHUP)
        assert terminal.process.wait(60) == 128 + signal.SIGHUP


def test_a_killed_application_is_found_again_as_it_was(project, tmp_path):
    def kept() -> dict:
        return load_state(project)[0].screens.get("search", {})

    go = tmp_path / "go"
    go.touch()
    with Terminal(APPLICATION, str(project), str(tmp_path / "begun"), str(go)) as terminal:
        terminal.until(lambda: b"Up to date" in terminal.drawn)
        terminal.press("2")
        terminal.until(lambda: b"Ask the code" in terminal.drawn)
        terminal.press("record")
        terminal.until(lambda: kept().get("query") == "record")
        terminal.press(CTRL_O)
        terminal.until(lambda: kept().get("search_mode") == "keyword")
        terminal.kill()
    assert load_state(project)[0].mode == "search"
