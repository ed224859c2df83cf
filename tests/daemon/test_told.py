"""What one client writes, others are told of: each method that has declared to write, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cm_tui.config import DaemonConfig
from cm_tui.daemon import dispatcher as dispatching
from cm_tui.daemon.daemon_state import DaemonState
from cm_tui.daemon.rpc import METHODS, Method, ProjectRef
from cm_tui.model import Page
from tests.cli.conftest import Shop

IN_UPKEEP = {"reset", "erase", "purge"}
"""They close the project, and tell when they are done with it."""


@pytest.fixture
def state(indexed: Shop) -> Iterator[DaemonState]:
    found = DaemonState(DaemonConfig())
    yield found
    found.jobs.close()
    found.dispatcher.sync_manager.close()
    found.projects.close()


def test_listeners_are_told_of_each_method_that_writes(
    state: DaemonState, indexed: Shop, monkeypatch: pytest.MonkeyPatch
):
    told: list[str] = []
    where = ProjectRef(str(indexed.root))
    monkeypatch.setattr(dispatching, "ask", lambda *_: Page((), 0))
    monkeypatch.setattr(dispatching.IndexCheck, "prepare", lambda *_: "")
    monkeypatch.setattr(Method, "unpack", lambda _, arguments: dict(arguments))
    monkeypatch.setattr(state.events, "publish", lambda name, /, **_: told.append(name))
    monkeypatch.setattr(state.dispatcher._work, "embed_recorded", lambda _: None)

    def told_of(name: str, **arguments: Any) -> list[str]:
        told.clear()
        state.dispatcher.call(name, where, arguments)
        return [*told]

    asked = [name for name, method in METHODS.items() if not method.streams and name not in IN_UPKEEP]
    assert len(asked) > 80
    for name in asked:
        writes = METHODS[name].declared.writes_of({})
        wanted = ["config"] * ("settings" in writes) + ["index"] * ("memory" in writes)
        assert told_of(name) == wanted, name
        assert told_of(name, dry_run=True) == [], name
    # Those that the list kept by hand had missed, among them some that need an index that reflects the files.
    for name in ("confirm_stale", "fix_stale", "write_note", "approve_entry", "merge_entries", "write_memory"):
        assert told_of(name) == ["index"], name


def test_a_write_is_told_once_it_is_done(state: DaemonState, indexed: Shop, monkeypatch: pytest.MonkeyPatch):
    told: list[tuple[str, bool]] = []
    where = ProjectRef(str(indexed.root))

    def publish(name: str, /, **_: Any) -> None:
        told.append((name, (indexed.root / ".cm/notes/topics/tax.md").exists()))

    monkeypatch.setattr(state.events, "publish", publish)
    state.dispatcher.call("append_note", where, {"text": "Tax is a share.", "name": "tax"})
    assert ("index", True) in told
    assert ("index", False) not in told


def test_what_writes_is_done_for_each_who_asks(state: DaemonState, indexed: Shop, monkeypatch: pytest.MonkeyPatch):
    """The same question at the same time is answered once, but two changes are two."""
    shared: list[str] = []
    monkeypatch.setattr(
        state.dispatcher._same, "get", lambda question, ask: ((shared.append(question[2]), ask())[1], "ok")
    )
    monkeypatch.setattr(dispatching, "ask", lambda *_: Page((), 0))
    monkeypatch.setattr(Method, "unpack", lambda _, arguments: dict(arguments))
    monkeypatch.setattr(state.dispatcher._work, "embed_recorded", lambda _: None)
    for name in ("search", "callers", "confirm_stale", "assemble", "run_definition", "status", "rank"):
        state.dispatcher.call(name, ProjectRef(str(indexed.root)), {})
    assert shared == ["search", "callers"]
