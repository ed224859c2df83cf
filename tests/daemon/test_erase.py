"""Erasing through the daemon, which has the store open: what it remembers goes too, and it comes back by no way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from cm_tui.daemon.open_engine import open_engine, secrets_of_all
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from tests.daemon.conftest import pid_of_daemon, until
from tests.earlier_filter import nothing_redacted

SECRET = "xox" + "b-283746501928-Kq7RzmW2pLx9"


def say(root: Path, prompt: str) -> list[Event]:
    journal = Journal.of(root)
    who = {"root": str(root), "session": "s", "agent": "codex"}
    with nothing_redacted():
        asked = journal.append("hook.prompt", {**who, "prompt": prompt})
        stop = journal.append("hook.stop", {**who, "answer": "ok"})
        return [asked, stop, journal.append("episode", {**who, "prompts": [prompt], "stop": stop.id})]


def stored(home: Path, text: str) -> list[str]:
    return [str(path) for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.process
def test_an_open_store_forgets(shop_root: Path, owned: Path):
    root, cm_home = shop_root, owned
    engine = open_engine(root)
    events = say(root, "feed the zanzibar tortoise")
    with nothing_redacted():
        leak = Journal.of(root).append("hook.prompt", {"prompt": f"with {SECRET}", "session": "t"})
    list(engine.index())
    profile = engine.profiles()["memory"]
    candidates = engine.retrieve("zanzibar tortoise", profile="memory")
    assert engine.rank(candidates, profile).hits
    assert stored(cm_home, "zanzibar")
    assert [one.id for one in engine.secrets().findings] == [leak.id]
    assert [one.id for one in secrets_of_all().findings] == [leak.id]
    pid = pid_of_daemon()
    report = engine.erase([events[2].id], found=True)
    assert [event.id for event in report.events] == [*(event.id for event in events), leak.id]
    assert pid_of_daemon() == pid
    assert stored(cm_home, "zanzibar") == stored(cm_home, SECRET) == []
    assert engine.rank(candidates, profile).hits == ()
    assert engine.search("zanzibar tortoise", profile="memory").hits == ()
    assert engine.search("add_tax").hits
    assert engine.episodes().total == 0
    list(engine.rebuild())
    os.kill(pid, signal.SIGKILL)
    assert engine.search("zanzibar tortoise", profile="memory").hits == ()
    assert secrets_of_all().findings == ()
    until(lambda: stored(cm_home, "zanzibar") == [], "the daemon to close what it opened")
    engine.close()
