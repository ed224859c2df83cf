"""Health: the daemon, its jobs and log, and the layers of freshness; with real daemons."""

from __future__ import annotations

import os
import re
import signal
import threading

import pytest

from cm_tui.counts import count
from cm_tui.daemon.open_engine import open_engine
from cm_tui.errors import CancelledError
from tests.daemon.conftest import pid_of_daemon
from tests.embedding_endpoint import listening
from tests.tui.mode_driver import PATIENCE, connected, driving, through_daemon

pytestmark = pytest.mark.process
SIZES = [(80, 24), (120, 40), (200, 50)]


_LAYERS = ("● daemon", "staleness check", "○ git hooks")
"""The daemon's own, and those of git and of the system, which come with another answer."""


async def test_owner_layers_log_and_git_hooks_and_a_lost_owner(owned):
    async with driving(owned, open_engine=through_daemon(owned), mode="9", size=SIZES[0]) as driver:
        await connected(driver)
        with open_engine(owned) as other:
            other.search("load")  # keeping it up to date begins with the first question
        for size in SIZES:
            await driver.resize(size)
            await driver.press("home")
            await driver.until(lambda: all(one in driver.text for one in _LAYERS))
            assert f"{pid_of_daemon()}, cm " in driver.text
            assert "since" in driver.text
            assert "autostart" in driver.text
            await driver.until(lambda: "Up to date." in driver.text)
            if size[1] < 40:
                await driver.press("pagedown")
            # A long path is wrapped.
            assert f"opened{owned}" in re.sub(r"[\s│]", "", driver.text_in("#health-daemon-log"))
            assert "✔   1 index" in driver.text or size[1] < 40
        await driver.press("home")
        await git_hooks_are_installed_and_removed_after_a_question(driver, owned)
        await a_lost_owner_is_said_and_the_next_one_shown(driver)


async def git_hooks_are_installed_and_removed_after_a_question(driver, owned):
    hook = owned / ".git/hooks/post-commit"
    await driver.until(lambda: "g installs git hooks" in driver.text)
    await driver.press("g", "n")
    assert not hook.exists()
    await driver.press("g", "y")
    assert hook.exists()
    await driver.until(lambda: "G removes the git hooks" in driver.text)
    assert "● git hooks" in driver.text
    await driver.press("g")
    assert any("the hooks are already installed" in words for words in driver.told)
    await driver.press("G", "y")
    assert not hook.exists()
    await driver.until(lambda: "○ git hooks" in driver.text)


async def a_lost_owner_is_said_and_the_next_one_shown(driver):
    old = pid_of_daemon()
    await driver.until(lambda: f"{old}, cm " in driver.text)
    os.kill(old, signal.SIGKILL)
    await driver.until(lambda: "reconnecting" in driver.text)
    await connected(driver)
    await driver.until(lambda: f"{pid_of_daemon()}, cm " in driver.text)
    assert "The daemon was lost" in driver.text
    assert "Connected to the daemon again." in driver.text


async def test_a_job_is_listed_with_how_far_it_is_and_cancelled(owned, monkeypatch):
    goes_on = threading.Event()
    goes_on.set()

    def in_time(_: str) -> list[float]:
        goes_on.wait(PATIENCE)
        return [1.0, 0.0, 0.5]

    with listening() as endpoint:
        endpoint.vector = in_time
        settings = {"PROVIDER": "openai", "MODEL": "m", "BASE_URL": endpoint.url, "API_KEY": "k", "BATCH_SIZE": "1"}
        for name, value in settings.items():
            monkeypatch.setenv(f"CM_EMBEDDING__{name}", value)
        async with driving(owned, open_engine=through_daemon(owned), mode="9") as driver:
            await connected(driver)
            await driver.until(lambda: endpoint.heard and not driver.app.tasks.indexing)
            # What an earlier daemon left without vectors is embedded first.
            await driver.until(lambda: not driver.app.screen.active_jobs)
            await driver.press("c")
            assert any("no job is running" in words for words in driver.told)
            held_up = (
                f"def held_up_{n}(one, two):\n" + "    one = two + one\n" * 12 + "    return one\n" for n in range(40)
            )
            (owned / "more.py").write_text("\n\n".join(held_up))
            goes_on.clear()
            with open_engine(owned) as other:
                steps = other.index(full=True)
                next(steps)
                await driver.until(lambda: "c cancels one" in driver.text)
                # What was recorded may be waiting to be embedded as well.
                assert f"◐ {count(len(driver.app.screen.active_jobs), 'job')}" in driver.text
                await cancels_each_job(driver)
                goes_on.set()
                with pytest.raises(CancelledError):
                    list(steps)
                await driver.until(lambda: "cancelled" in driver.text and "◐" not in driver.text)
                await a_run_of_another_client_shows_how_far_it_is_in_every_mode(driver, other, goes_on)


async def cancels_each_job(driver):
    """Which of them is the one that was asked for is not to be seen."""
    for place, job in enumerate([*driver.app.screen.active_jobs]):
        await driver.pilot.press("c")
        await driver.until(lambda: "⏎ cancels it" in driver.text)
        await driver.pilot.press(*["down"] * place, "enter")
        asked = f"Job {job.id} was asked to stop"
        await driver.until(lambda asked=asked: any(asked in words for words in driver.told))


async def a_run_of_another_client_shows_how_far_it_is_in_every_mode(driver, other, goes_on):
    await driver.press("1")
    goes_on.clear()
    steps = other.index(full=True)
    next(steps)
    await driver.until(lambda: bool(driver.app.project.job) and "◐" in driver.text.splitlines()[0])
    await driver.pilot.press("ctrl+g")
    await driver.until(lambda: any("another client" in line.text for line in driver.app.activity_log.lines))
    goes_on.set()
    with pytest.raises(CancelledError):
        list(steps)
    await driver.until(lambda: not driver.app.project.job and driver.app.project.progress is None)
