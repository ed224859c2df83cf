"""The overview of a fresh project offers past sessions, and imports them."""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.journal import Journal
from tests.engine.importers.transcripts import Claude, Codex
from tests.tui.mode_driver import driving


async def test_past_sessions_are_offered_once_and_imported(project: Path, transcripts: Path):
    claude, codex = Claude(transcripts / "claude", project), Codex(transcripts / "codex", project)
    claude.write(claude.turn("First", "One."))
    codex.write([codex.meta(), *codex.turn("Second", "Two.")])
    async with driving(project) as driver:
        await driver.press("f1")
        assert "m  Import 2 past sessions of Claude Code and Codex" in driver.text
        await driver.press("m")
        await driver.until(lambda: any("2 episodes of 2 sessions recorded." in told for told in driver.told))
        assert "past session" not in driver.text.partition("Next")[2].partition("recorded")[0]
        await driver.press("m")
        assert any("no past session was found" in told for told in driver.told)
    recorded = [event.data["prompts"] for event in Journal.of(project).read() if event.kind == "episode"]
    assert sorted(recorded) == [["First"], ["Second"]]
    claude.write(claude.turn("Third", "Three."))
    async with driving(project) as driver:
        await driver.press("f1")
        # From now on the daemon follows.
        assert "Import" not in driver.text


async def test_where_there_are_none_nothing_is_offered(project: Path):
    async with driving(project) as driver:
        await driver.press("f1", "M")
        assert "past session" not in driver.text
        assert any("no session is being imported" in told for told in driver.told)
