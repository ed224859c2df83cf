"""What other clients do comes on screen, and a lost daemon is found again: with real daemons."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import replace

import pytest

from cm_tui.daemon import bootstrap, subscribe
from cm_tui.daemon.open_engine import open_engine
from cm_tui.model import NarratedDecision, PackRequest
from cm_tui.tui.modes.pack.screen import PackScreen
from cm_tui.tui.modes.search.screen import SearchScreen
from tests.daemon.conftest import pid_of_daemon
from tests.tui.mode_driver import Driver, connected, driving, make_project, through_daemon


def results(driver: Driver) -> list[str]:
    return [hit.symbol for hit in driver.app.modes.screen(SearchScreen).results.rows]


@pytest.mark.process
async def test_what_other_clients_index_and_save_is_followed(owned, tmp_path):
    async with driving(owned, open_engine=through_daemon(owned)) as driver:
        await connected(driver)
        with open_engine(owned) as other:
            await symbols_and_pack_follow_another_client(driver, owned, other)
            await what_another_door_indexes_is_in_the_results_with_the_cursor_where_it_was(driver, owned, other)
            await profiles_that_another_door_saves_are_known_here(driver, other)
            await what_another_client_decides_is_counted_at_the_modes(driver, other)
    await a_project_that_was_never_indexed_is_indexed_by_itself(tmp_path)


async def symbols_and_pack_follow_another_client(driver, owned, other):
    await driver.press("3")
    assert "fresh.py" not in driver.text
    driver.app.pack_selection.add([PackRequest("src/remote.py", 1, 3, "Remote", "")])
    await driver.press("P")
    screen = driver.app.modes.screen(PackScreen)
    await driver.until(lambda: screen.pack is not None and "return None" in screen.pack.markdown)
    (owned / "fresh.py").write_text("def fresh():\n    return 1\n")
    text = (owned / "src/remote.py").read_text()
    (owned / "src/remote.py").write_text(text.replace("return None", "return 'afar'"))
    list(other.index())
    await driver.until(lambda: "afar" in screen.pack.markdown)
    await driver.press("3")
    await driver.until(lambda: "fresh.py" in driver.text)


async def what_another_door_indexes_is_in_the_results_with_the_cursor_where_it_was(driver, owned, other):
    await driver.press("2")
    await driver.type("load record")
    await driver.press("escape", "down")
    screen = driver.app.modes.screen(SearchScreen)
    here = screen.hit
    (owned / "src/fresh.py").write_text("def load_record_freshly(record):\n    return record\n")
    list(other.index())
    await driver.until(lambda: "load_record_freshly" in results(driver))
    assert screen.query_input.value == "load record"
    assert (screen.hit.path, screen.hit.symbol) == (here.path, here.symbol)
    await driver.until(lambda: driver.app.project.status.files == 7)


async def profiles_that_another_door_saves_are_known_here(driver, other):
    screen = driver.app.modes.screen(SearchScreen)
    other.save_profile(replace(other.profiles()["code"], limit=3))
    await driver.until(lambda: screen.session.profiles["code"].limit == 3)
    await driver.settle()
    assert screen.query_input.value == "load record"


async def what_another_client_decides_is_counted_at_the_modes(driver, other):
    rule = other.remember("Never push on fridays", category="Rule", actor="agent", agent="codex")
    fact = other.propose_fact("Money is counted in cents.", agent="codex")
    await driver.until(lambda: driver.badges == {"6": 1, "7": 1})
    other.approve_entry(other.entry(rule.id))
    await driver.until(lambda: driver.badges == {"7": 1})
    other.decide_narrated([fact.id], NarratedDecision("reject"))
    await driver.until(lambda: driver.badges == {})


async def a_project_that_was_never_indexed_is_indexed_by_itself(tmp_path):
    root = make_project(tmp_path / "new")
    (root / "extra.py").write_text("def extra():\n    return 1\n")
    async with driving(root, open_engine=through_daemon(root)) as driver:
        await connected(driver)
        await driver.until(lambda: bool(driver.app.project.status and driver.app.project.status.files == 6))
        assert "● hybrid" in driver.text


@pytest.mark.process
async def test_a_lost_owner_is_found_again_and_nothing_is_lost(owned):
    async with driving(owned, open_engine=through_daemon(owned), mode="2") as driver:
        await connected(driver)
        driver.app.pack_selection.add([PackRequest("src/remote.py", 1, 3, "Remote", "")])
        await driver.settle()
        for how in ("kill -9", "serve --stop", "hand-over"):
            await an_owner_is_lost(driver, how)


async def an_owner_is_lost(driver: Driver, how: str) -> None:
    screen = driver.app.modes.screen(SearchScreen)
    screen.query_input.value = ""
    await driver.type("load rec")
    before = results(driver)
    old = pid_of_daemon()
    if how == "kill -9":
        os.kill(old, signal.SIGKILL)
    else:
        bootstrap.request("POST", "/v1/shutdown", {"handover": how == "hand-over"})
    await driver.until(lambda: re.search("◌ (lost|reconnecting)", driver.text.splitlines()[0]))
    assert results(driver) == before, how
    if how == "hand-over":
        # What the newer version does that asked for it.
        bootstrap.start_daemon()
    await driver.pilot.press("o")
    await connected(driver)
    assert pid_of_daemon() != old, how
    await driver.type("rd")
    assert screen.query_input.value == "load record", how
    assert screen.session.problem is None, how
    assert results(driver), how
    assert len(driver.app.pack_selection) == 1, how
    assert any("Connected to the daemon again." in line.text for line in driver.app.activity_log.lines)
    driver.app.activity_log.lines.clear()


@pytest.mark.deep
async def test_without_an_owner_nobody_listens_and_all_works(project):
    async with driving(project, open_engine=through_daemon(project), mode="2") as driver:
        await driver.type("load record")
        assert results(driver)
        assert driver.app.project.daemon == "none"
        assert subscribe.jobs() == []
