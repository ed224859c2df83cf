"""From an episode back into its agent: the program runs over the terminal, or its command is copied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import SuspendNotSupported

from cm_tui import paths
from cm_tui.tui.app.app import CmApp
from tests.tui.mode_driver import Driver, driving
from tests.tui.recorded_sessions import record


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH: nothing is in it but what a test puts there, and there is no desktop."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "TMUX", "STY", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def agent(folder: Path, name: str, *, code: int = 0) -> Path:
    """A program that writes down where and with what it was started."""
    kept = folder / f"{name}.was"
    program = folder / name
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > "{kept}"\nexit {code}\n')
    program.chmod(0o755)
    return kept


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal that can be lent to a program; what happened to it."""
    happened: list[str] = []

    @contextmanager
    def suspend(_: CmApp) -> Iterator[None]:
        happened.append("lent")
        yield
        happened.append("back")

    monkeypatch.setattr(CmApp, "suspend", suspend)
    return happened


def copied() -> str:
    return (paths.state_dir() / "clipboard.md").read_text()


async def to_session(driver: Driver, name: str) -> None:
    """Put the cursor on a session."""
    await driver.press("5")
    screen = driver.app.screen
    screen.session_list.cursor = next(
        n for n, row in enumerate(screen.session_list.rows) if row.session and row.session.id == name
    )
    await driver.settle()


async def test_the_agent_runs_in_the_projects_folder_and_the_application_comes_back(
    told: Path, programs: Path, lent: list[str]
):
    codex, claude = agent(programs, "codex"), agent(programs, "claude", code=3)
    async with driving(told) as driver:
        await to_session(driver, "s1")
        await driver.press("R")
        assert lent == ["lent", "back"]
        assert codex.read_text().splitlines() == [str(told), "resume", "s1"]
        codex.unlink()
        await driver.press("enter", "down", "R")
        assert codex.read_text().splitlines()[1:] == ["resume", "s1"], "of an episode it is its session"
        await to_session(driver, "sub")
        codex.unlink()
        await driver.press("R")
        assert codex.read_text().splitlines()[1:] == ["resume", "s1"], "of a sub-agent's session it is the parent's"
        await to_session(driver, "old")
        await driver.press("R")
        assert claude.read_text().splitlines()[1:] == ["--resume", "old"]
        assert "claude ended with exit code 3" in driver.text.splitlines()[-1]
        await driver.press("enter", "r")
        assert driver.app.current_mode == "history"
        claude.unlink()
        await driver.press("R")
        assert claude.read_text().splitlines()[1:] == ["--resume", "old"], "the replay of an episode has the key too"


async def test_the_overview_shows_where_the_work_stopped_and_what_cannot_run_is_copied(
    told: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
):
    (told / "src" / "store.py").write_text("changed = 1\n")
    async with driving(told, size=(160, 50)) as driver:
        text = driver.text_in("#ov-work")
        for words in ("Where you left off", "codex", "Slashes", "run the tests", "pytest -q", "src/store.py"):
            assert words in text, words
        await driver.press("w")
        assert driver.app.current_mode == "episodes"
        assert driver.app.screen.session_key == "s1"
        assert driver.app.screen.story.episode.prompts == ("run the tests",)
        record(told, "a newer request", session="s2")
        await driver.press("1")
        assert "a newer request" in driver.text_in("#ov-work")
        assert "R there resumes it" in driver.text_in("#ov-work")
        decided = "No, always use `just check` before you commit"
        record(told, decided, session="s2")
        await driver.press("6", "1")
        assert driver.text_in("#ov-work").count("just check") == 1, "a decision that is the request is shown once"
        record(told, "asked elsewhere", session="s3", agent="some-agent")
        await driver.press("6", "1")
        assert "asked elsewhere" in driver.text_in("#ov-work")
        assert "w reads it in Episodes" in driver.text_in("#ov-work")
        assert "R there" not in driver.text_in("#ov-work"), "no command opens that agent"
        await driver.resize((160, 40))
        await to_session(driver, "s1")
        await driver.press("R")
        assert copied() == f"cd {told} && codex resume s1"
        assert "codex is not on the PATH; copied: codex resume s1" in driver.text.splitlines()[-1]
        # A program that lies in the repository is not taken, whatever the PATH is.
        kept = agent(told, "codex")
        monkeypatch.setenv("PATH", f"{told}:.:{programs}")
        await driver.press("R")
        assert not kept.exists()
        kept = agent(programs, "codex")
        with pytest.raises(SuspendNotSupported), driver.app.suspend():
            pass
        await driver.press("R")
        assert not kept.exists()
        assert "this terminal cannot be shared; copied: codex resume s1" in driver.text.splitlines()[-1]


async def test_without_a_session_there_is_no_block_and_what_is_no_id_or_has_no_agent_is_refused(
    project: Path, programs: Path, lent: list[str]
):
    kept = [agent(programs, name) for name in ("codex", "claude", "opencode", "cursor")]
    async with driving(project) as driver:
        assert not driver.app.screen.query_one("#ov-work").display
        await driver.press("w")
        assert "no session of the last 7 days" in driver.text.splitlines()[-1]
        await what_is_no_id_and_what_has_no_agent_is_refused(driver, project)
    assert not lent
    assert not any(one.exists() for one in kept)


async def what_is_no_id_and_what_has_no_agent_is_refused(driver: Driver, project: Path) -> None:
    for number, (session, fields) in enumerate((
        ("--dangerous", {}), ("a b; rm -rf ~", {}), ("$(id)", {}), ("sub/agent", {"parent": "-x"}), ("x" * 200, {}),
        ("chat", {"agent": "cursor"}), ("odd", {"agent": "evil\x1b[31m"}),
    )):  # fmt: skip
        record(project, f"case {number}", **{"session": session, **fields})
    await driver.press("5")
    screen = driver.app.screen
    rows = [n for n, row in enumerate(screen.session_list.rows) if row.session]
    assert len(rows) == 7
    for row in rows:
        screen.session_list.cursor = row
        await driver.settle()
        await driver.press("R")
        assert "Resume: " in driver.text.splitlines()[-1], screen.session
        assert "\x1b" not in driver.text
