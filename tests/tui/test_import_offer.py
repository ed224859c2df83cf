"""The overview of a fresh project offers past sessions, and imports them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.journal.journal import Journal
from tests.engine.importers.transcripts import Claude, Codex
from tests.tui.mode_driver import PATIENCE, driving, make_project, starting


async def test_past_sessions_are_offered_once_and_imported(project: Path, transcripts: Path):
    claude, codex = Claude(transcripts / "claude", project), Codex(transcripts / "codex", project)
    claude.write(claude.turn("First", "One."))
    codex.write([codex.meta(), *codex.turn("Second", "Two.")])
    async with driving(project) as driver:
        await driver.press("f1")
        assert "m  Import 2 past sessions of Claude Code and Codex" in driver.text
        with Engine.open(project) as other:
            other.propose_fact("Money is counted in cents.", agent="codex")
        assert driver.badges == {}, "nothing tells of it yet"
        await driver.press("m")
        await driver.until(lambda: any("2 episodes of 2 sessions recorded." in told for told in driver.told))
        await driver.until(lambda: driver.badges == {"7": 1})
        assert "past session" not in driver.text.partition("Next")[2].partition("recorded")[0]
        await driver.press("m")
        assert any("past sessions found are already imported" in told for told in driver.told)
    recorded = [event.data["prompts"] for event in Journal.of(project).read() if event.kind == "episode"]
    assert sorted(recorded) == [["First"], ["Second"]]
    claude.write(claude.turn("Third", "Three."))
    async with driving(project) as driver:
        await driver.press("f1")
        # From now on the daemon follows.
        assert "Import" not in driver.text


async def test_episodes_offers_past_sessions_where_nothing_was_recorded(project: Path, transcripts: Path):
    claude, codex = Claude(transcripts / "claude", project), Codex(transcripts / "codex", project)
    claude.write(claude.turn("First", "One."))
    codex.write([codex.meta(), *codex.turn("Second", "Two.")])
    async with driving(project, mode="5") as driver:
        shown = " ".join(driver.text_in("SessionList").split())
        assert "2 past sessions wait to be" in shown
        assert "m imports them" in shown
        await driver.press("m")
        await driver.until(lambda: any("2 episodes of 2 sessions recorded." in told for told in driver.told))
        await driver.until(lambda: "Second" in driver.text)


async def test_sessions_that_are_deleted_soon_are_copied_after_a_question(
    project: Path, transcripts: Path, cm_home: Path
):
    claude = Claude(transcripts / "claude", project)
    claude.write(claude.turn("First", "One."))
    copies = cm_home / "state" / "rescue"
    async with driving(project) as driver:
        await driver.press("f1")
        assert "R  Keep copies: 1 session is deleted within 5 days" in driver.text
        await driver.press("R")
        assert "Keep private copies" in driver.text
        await driver.press("n")
        assert not copies.exists()
        await driver.press("R", "y")
        await driver.until(lambda: any("1 transcript copied, 0 copied before." in told for told in driver.told))
        assert "within 5 days" not in driver.text
        assert len(list(copies.rglob("*.jsonl.gz"))) == 1
        claude.file.unlink()
        await driver.press("m")
        await driver.until(lambda: any("1 episode of 1 session recorded." in told for told in driver.told))


async def test_none_is_said_and_sessions_that_were_held_since_the_start_are_found(project: Path, transcripts: Path):
    async with driving(project, mode="5") as driver:
        assert "No sessions recorded yet. `cm agent install" in " ".join(driver.text.split())
        await driver.press("m")
        assert any("no past sessions to import" in told for told in driver.told)
        await driver.press("f1", "M")
        assert "past session" not in driver.text
        assert any("no session is being imported" in told for told in driver.told)
        await driver.press("m")
        assert any("past sessions found are already imported" in told for told in driver.told)
        claude = Claude(transcripts / "claude", project)
        claude.write(claude.turn("First", "One."))
        await driver.press("m")
        await driver.until(lambda: any("1 episode of 1 session recorded." in told for told in driver.told))


async def test_an_offer_that_another_client_took_imports_nothing(project: Path, transcripts: Path):
    claude = Claude(transcripts / "claude", project)
    claude.write(claude.turn("First", "One."))
    async with driving(project) as driver:
        await driver.press("f1")
        assert "m  Import 1 past session" in driver.text
        for _ in driver.app.tasks.engine.import_sessions():
            pass
        await driver.press("m")
        await driver.until(lambda: any("Nothing new to import" in told for told in driver.told))


class Slow:
    """An engine whose index run and whose look for sessions stop until they are told to go on."""

    def __init__(self, root: Path) -> None:
        self.engine = Engine.open(root)
        self.reached, self.go, self.found = threading.Event(), threading.Event(), threading.Event()
        index, imports = self.engine.index, self.engine.imports

        def slow_index(**options):
            for number, progress in enumerate(index(**options)):
                yield progress
                if not number:
                    self.reached.set()
                    self.go.wait(PATIENCE)

        def slow_imports(**options):
            self.found.wait(PATIENCE)
            return imports(**options)

        self.engine.index, self.engine.imports = slow_index, slow_imports


@pytest.fixture
def fresh(tmp_path: Path, cm_home: Path) -> Path:
    """A project that was never indexed."""
    return make_project(tmp_path / "fresh")


async def test_the_offer_stands_there_while_the_first_run_is_on(fresh: Path, transcripts: Path):
    claude = Claude(transcripts / "claude", fresh)
    claude.write(claude.turn("First", "One."))
    slow = Slow(fresh)
    async with starting(fresh, open_engine=lambda: slow.engine) as driver:
        await driver.until(lambda: slow.reached.is_set() and driver.app.project.progress)
        await driver.pilot.press("m")
        await driver.until(lambda: any("still looking for past sessions" in told for told in driver.told))
        assert not any("past sessions found" in told for told in driver.told)
        slow.found.set()
        await driver.until(lambda: "m  Import 1 past session of Claude Code" in driver.text)
        assert driver.app.tasks.indexing
        await driver.pilot.press("m")
        slow.go.set()
        await driver.until(lambda: any("1 episode of 1 session recorded." in told for told in driver.told))


async def test_only_x_stops_the_first_run_and_says_so(fresh: Path):
    slow = Slow(fresh)
    slow.found.set()
    async with starting(fresh, open_engine=lambda: slow.engine) as driver:
        await driver.until(lambda: slow.reached.is_set() and driver.app.project.progress)
        await driver.pilot.press("question_mark", "escape", "escape", "escape")
        slow.go.set()
        await driver.settle()
        assert driver.app.project.summary is not None
        assert "Stopped" not in driver.text
    slow = Slow(fresh)
    slow.found.set()
    async with starting(fresh, open_engine=lambda: slow.engine) as driver:
        await driver.until(lambda: slow.reached.is_set() and driver.app.project.progress)
        await driver.pilot.press("x")
        await driver.until(lambda: any("Stopping the index run" in told for told in driver.told))
        slow.go.set()
        await driver.settle()
        assert "Stopped. Completed work is kept" in driver.text
