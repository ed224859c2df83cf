"""Health: checks, index, what was read by lines, and the session's log."""

from __future__ import annotations

from unittest import mock

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreBusyError
from cm_tui.model import Check, FileEntry
from cm_tui.tui.modes.health import texts
from tests.tui.mode_driver import at, driving, each

SIZES = [(80, 24), (120, 40), (200, 50)]


@at((80, 24))
async def checks_index_and_log_at_every_size(driver, project):
    for size in SIZES:
        await driver.resize(size)
        await driver.press("home")
        await driver.until(lambda: "✔ checks: all" in driver.text and "daemon.use is never" in driver.text)
        if size[1] < 40:
            await driver.press("pagedown")
        assert "full-text extension" in driver.text
        assert "✔ grammars" in driver.text
        if size[1] < 40:
            page = driver.app.screen.query_one("#health")
            await driver.press("home", "j", "j")
            assert page.scroll_y == 2, "the keys of lists scroll here as well"
            await driver.press("k")
            assert page.scroll_y == 1
        await driver.press("end")
        assert "Skipped" in driver.text
        assert "Every file could be parsed." in driver.text


async def update_and_full_run_are_logged(driver, project):
    await driver.press("i")
    assert "nothing changed, 5 files" in driver.text
    await driver.press("f")
    assert "Full index run started." in driver.text


async def reset_asks_first(driver, project):
    await driver.press("X", "n")
    assert driver.app.project.status.indexed
    await driver.press("X", "y")
    assert not driver.app.project.status.indexed
    assert "No index yet; i builds one." in driver.text
    await driver.press("i")
    assert driver.app.project.status.indexed
    assert "on disk" in driver.text


async def reset_keeps_episodes_unless_they_are_dropped(driver, project):
    data = EpisodeRecord(prompts=("sell boulders",), answer="sold").to_event_data()
    journal = Journal.of(project)
    journal.append("episode", data)
    await driver.anew("9")
    await driver.press("X")
    assert "1 episode" in driver.text
    assert "Episodes too (d)" in driver.text
    await driver.press("y")
    assert not driver.app.project.status.indexed
    assert sum(event.kind == "episode" for event in journal.read()) == 1
    await driver.press("i", "X", "d", "n")
    assert driver.app.project.status.indexed
    await driver.press("X", "d")
    assert "cannot" in driver.text
    await driver.press("y")
    assert not driver.app.project.status.indexed
    assert not list(journal.read())


async def rebuild_asks_first(driver, project):
    await driver.press("b", "y")
    assert "Rebuilding the index." in driver.text
    assert driver.app.project.status.indexed


async def test_failed_door_still_shows_checks_and_the_cause(project):
    def busy():
        raise StoreBusyError("Process 42 has the store.", hint="Close it first.")

    async with driving(project, mode="9", open_engine=busy) as driver:
        assert "Process 42 has the store." in driver.text
        assert "✔ grammars" in driver.text


async def failed_check_comes_first_with_how_to_mend_it(driver, project):
    checks = (Check("git", "ok", "fine"), Check("model", "failed", "m[0] is gone", "Install again [all]"))
    with mock.patch.object(Engine, "doctor", return_value=checks):
        await driver.anew("9")
    text = driver.text
    assert text.index("model") < text.index("✔ git")
    assert "failed: m[0] is gone" in text
    assert "→ Install again [all]" in text
    assert "1 failed" in text


def test_long_list_of_files_says_how_many():
    files = [FileEntry(f"f{n}.py", "python", 1, 1, 0, generated=False, error="bad") for n in range(150)]
    assert texts.files_text(files).plain.endswith("100 of 150 shown")


async def test_the_age_of_the_index_goes_on_while_one_looks(project, monkeypatch):
    modes, later = (("1", "overview"), ("9", "health")), [0.0]
    for _, module in modes:
        monkeypatch.setattr(f"cm_tui.tui.modes.{module}.screen.EVERY", 0.02)
    async with driving(project) as driver:
        indexed = driver.app.project.status.indexed_at
        for mode, _ in modes:
            monkeypatch.setattr("cm_tui.tui.state.project.time.time", lambda: indexed + later[0])
            await driver.press(mode)
            await driver.until(lambda: "just now" in driver.text)
            later[0] = 130.0
            await driver.until(lambda: "2 minutes ago" in driver.text)
            later[0] = 0.0


async def test_checks_runs_and_resets(project):
    await each(
        project,
        checks_index_and_log_at_every_size,
        update_and_full_run_are_logged,
        failed_check_comes_first_with_how_to_mend_it,
        rebuild_asks_first,
        reset_asks_first,
        reset_keeps_episodes_unless_they_are_dropped,
        mode="9",
    )
