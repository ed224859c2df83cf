"""When a daemon starts its program again: it has grown, rests, and has not done so just before."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cm_tui.config import DaemonConfig
from cm_tui.daemon import daemon_log, fresh_start
from cm_tui.daemon.daemon_state import DaemonState, Extensions
from cm_tui.daemon.fresh_start import EVERY_S, GROWN_BYTES, FreshStart, Handover
from cm_tui.daemon.narrator_runner import NarratorRunner
from cm_tui.daemon.transcript_follower import TranscriptFollower
from tests.fake_clock import FakeClock


class _Daemon:
    """A daemon as far as the decision sees it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes, self.idle_seconds, self.open = 100, 1000.0, 0
        self.config = DaemonConfig()
        self.projects = SimpleNamespace(opened=lambda: [object()] * self.open)
        monkeypatch.setattr(fresh_start, "resident", lambda: self.bytes)

    def due(self, handover: Handover | None, clock: FakeClock) -> FreshStart:
        fresh = FreshStart(cast("Any", self), handover, clock)
        assert not fresh.is_due()
        return fresh


def test_it_starts_again_once_it_has_grown_and_rests(monkeypatch: pytest.MonkeyPatch):
    daemon = _Daemon(monkeypatch)
    fresh = daemon.due(None, FakeClock())
    daemon.bytes += GROWN_BYTES
    assert fresh.is_due()
    daemon.open = 1
    assert not fresh.is_due()
    # The narrator would begin a pass after a minute without a request.
    daemon.open, daemon.idle_seconds = 0, 61.0
    assert not fresh.is_due()
    daemon.idle_seconds, daemon.bytes = 100.0, daemon.bytes - 1
    assert not fresh.is_due()


def test_it_does_not_start_again_just_after_it_has(monkeypatch: pytest.MonkeyPatch):
    daemon, clock = _Daemon(monkeypatch), FakeClock()
    fresh = daemon.due(Handover(0, 0, 0.0, 0.0, 0.0, 0, "", ()), clock)
    daemon.bytes += GROWN_BYTES
    clock.advance(EVERY_S - 1)
    assert not fresh.is_due()
    clock.advance(1)
    assert fresh.is_due()


def test_the_next_start_goes_on_with_what_the_last_one_knew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, owned: Path
):
    clock = FakeClock()
    before = DaemonState(DaemonConfig(), clock=clock)
    transcripts, narrator = TranscriptFollower(clock=clock), NarratorRunner(clock=clock)
    before.extensions = Extensions(background=(transcripts, narrator))
    transcripts.on_nudge(tmp_path)
    before.started, before.rested_since = 5.0, 7.0
    monkeypatch.setattr(daemon_log.errors, "count", 2)
    monkeypatch.setattr(daemon_log.errors, "last", "full disk")
    saved: dict[str, str] = {}
    monkeypatch.setattr(os, "execve", lambda _file, _arguments, environment: saved.update(environment))
    monkeypatch.setattr(os, "umask", lambda _: 0)
    first, second = os.pipe()
    fresh_start.start_again(FreshStart(before, None, clock).handover(first, second))
    assert os.get_inheritable(first)
    monkeypatch.setenv("CM_FRESH_START", saved["CM_FRESH_START"])
    daemon_log.errors.begin()
    handover = fresh_start.received()
    assert handover is not None
    assert "CM_FRESH_START" not in os.environ
    assert not os.get_inheritable(first)
    assert not os.get_inheritable(second)
    after = DaemonState(DaemonConfig(), clock=clock)
    transcripts, narrator = TranscriptFollower(clock=clock), NarratorRunner(clock=clock)
    after.extensions = Extensions(background=(transcripts, narrator))
    handover.resume(after)
    assert (after.started, after.rested_since) == (5.0, 7.0)
    assert (transcripts.followed(), narrator.followed()) == ([tmp_path], [])
    assert (daemon_log.errors.count, daemon_log.errors.last) == (2, "full disk")
    os.close(first)
    os.close(second)


def test_children_and_the_next_start_get_their_allocators(monkeypatch: pytest.MonkeyPatch):
    saved: dict[str, str] = {}
    monkeypatch.setattr(os, "execve", lambda _file, _arguments, environment: saved.update(environment))
    monkeypatch.setattr(os, "umask", lambda _: 0)
    monkeypatch.setattr(fresh_start, "_allocator", "")
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    fresh_start.forget_allocator()
    assert "PYTHONMALLOC" not in os.environ
    fresh_start.start_again()
    assert saved["PYTHONMALLOC"] == "malloc"
