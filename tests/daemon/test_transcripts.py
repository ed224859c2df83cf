"""Past sessions through `cm import`, and live ones through the daemon."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from cm_tui.daemon.followers import INTERVAL_S, TranscriptFollower
from cm_tui.engine.memory.importers import run
from cm_tui.engine.platform.journal.journal import Journal
from tests.cli.conftest import Shop
from tests.daemon.conftest import make_project, until
from tests.engine.importers.transcripts import Claude
from tests.fake_clock import FakeClock


class Places:
    """Where a test's agents keep their transcripts."""

    def __init__(self, base: Path) -> None:
        self.claude = base / "claude"
        self.environment = {
            "CLAUDE_CONFIG_DIR": str(self.claude),
            "CODEX_HOME": str(base / "codex"),
            "XDG_DATA_HOME": str(base / "data"),
        }


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "agents")


def prompts(root: Path) -> list[str]:
    return [event.data["prompts"][0] for event in Journal.of(root).read() if event.kind == "episode"]


def test_first_day(indexed: Shop, places: Places):
    """From nothing to an answer, through the daemon; where transcripts lie is this terminal's word, not the daemon's."""
    shop = indexed
    one = Claude(places.claude, shop.root)
    one.write(
        [
            *one.turn("Why do refunds take fourteen days?", "The bank needs ten of them."),
            {"type": "new kind"},
            b"damage\n",
        ]
    )
    planned = shop.cm("import", "--dry-run", "--json", **places.environment).json
    assert (planned["sessions"], planned["new"], planned["imported"]) == (1, 1, False)
    assert planned["sources"][0]["agent"] == "claude-code"
    told = shop.cm("import", "--dry-run", **places.environment)
    assert told.out.startswith("claude-code  1 session, 1 with something new")
    assert "`cm import` imports them" in told.err
    assert prompts(shop.root) == []
    done = shop.cm("import", "--json", **places.environment)
    assert (done.code, done.json["episodes"], done.json["unknown"]) == (0, 1, {"claude-code: record new kind": 1})
    again = shop.cm("import", **places.environment)
    assert "nothing new since the last import" in again.err
    found = shop.cm("search", "bank refunds ten", "--profile", "memory", "--json").json
    assert found["hits"][0]["source"] == "episode"

    def recalled() -> list[str]:
        found = shop.cm("recall", "reimbursement delay", "--json").json
        return found["notes"] if found["hits"] else ["nothing is found"]

    until(lambda: not recalled(), "vectors of what was imported")
    refused = shop.cm("import", "--agent", "nobody", **places.environment)
    assert (refused.code, "claude-code, codex, opencode" in refused.err) == (2, True)


def test_nothing_is_imported_where_nothing_is_to_be_recorded(shop: Shop, places: Places):
    one = Claude(places.claude, shop.root)
    one.write(one.turn("First", "One."))
    (shop.root / ".cm").mkdir()
    (shop.root / ".cm" / "config.toml").write_text("[agents]\nrecord = false\n")
    done = shop.cm("import", **places.environment)
    assert (done.code, "agents.record" in done.err) == (4, True)
    assert prompts(shop.root) == []


class _Dispatcher:
    """As much of a dispatcher as the follower asks."""

    def __init__(self) -> None:
        self.pool = self
        self.told: list[str] = []

    def opened(self) -> list[object]:
        return []

    def on_recorded(self, root: Path) -> None:
        self.told.append(str(root))


def test_the_daemon_follows_sessions_of_projects_that_were_imported(
    cm_home: Path, tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(run, "REST_SECONDS", 0.0)
    for name, value in places.environment.items():
        monkeypatch.setenv(name, value)
    root, other = make_project(tmp_path / "shop"), make_project(tmp_path / "other")
    one, foreign = Claude(places.claude, root), Claude(places.claude, other, "99999999-aaaa-4aaa-8aaa-111111111111")
    one.write(one.turn("First", "One."))
    foreign.write(foreign.turn("Foreign", "Else."))
    shop = Shop(root, cm_home)
    assert shop.cm("import", CM_DAEMON__USE="never", **places.environment).code == 0
    one.write(one.turn("Second", "Two."))
    dispatcher, follower = _Dispatcher(), TranscriptFollower()
    follower._dispatcher = cast("Any", dispatcher)
    follower.on_nudge(other)
    follower.on_nudge(root)
    monkeypatch.setenv("CM_MEMORY__FOLLOW_TRANSCRIPTS", "false")
    follower.look_at_all()
    assert (prompts(root), dispatcher.told) == (["First"], []), "following is switched off"
    monkeypatch.setenv("CM_MEMORY__FOLLOW_TRANSCRIPTS", "true")
    follower.look_at_all()
    assert (prompts(root), dispatcher.told) == (["First", "Second"], [str(root)])
    one.write([*one.turn("Third", "Three.")])
    follower.look_at_all()
    assert prompts(root) == ["First", "Second", "Third"]
    assert prompts(other) == []


def test_it_looks_by_itself_until_it_is_closed():
    dispatcher, clock = _Dispatcher(), FakeClock()
    follower = TranscriptFollower(clock=clock)
    follower.start(cast("Any", dispatcher))
    until(lambda: clock.monotonic() > 3 * INTERVAL_S, "some looks")
    follower.close()
    assert follower._thread is not None
    assert not follower._thread.is_alive()
