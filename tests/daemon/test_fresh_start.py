"""When a daemon starts its program again: it has grown, rests, and has not done so just before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cm_tui.config import DaemonConfig
from cm_tui.daemon import daemon_log, fresh_start
from cm_tui.daemon.daemon_state import DaemonState, Extensions
from cm_tui.daemon.followers import NarratorRunner, TranscriptFollower
from cm_tui.daemon.fresh_start import GROWN_BYTES, REST_S, FreshStart, Handover
from cm_tui.daemon.long_work import HISTORY
from cm_tui.model import Cancel, Progress
from tests.fake_clock import FakeClock
from tests.waiting import until


class _Daemon:
    """A daemon as far as the decision sees it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes, self.quiet_seconds = 100, REST_S
        self.used: list[str] = []
        self.queues: list[str] = []
        self.config = DaemonConfig()
        self.followers = [SimpleNamespace(is_waiting=False)]
        unused = SimpleNamespace(store="unused", users=0)
        self.projects = SimpleNamespace(
            opened=lambda: [unused, *(SimpleNamespace(store=one, users=1) for one in self.used)]
        )
        self.jobs = SimpleNamespace(unfinished=lambda: [SimpleNamespace(queue=one, store="a") for one in self.queues])
        monkeypatch.setattr(fresh_start, "resident", lambda: self.bytes)

    def due(self, handover: Handover | None, clock: FakeClock) -> FreshStart:
        fresh = FreshStart(cast("Any", self), handover, clock)
        assert not fresh.is_due()
        return fresh


def _until_cancelled(cancel: Cancel) -> Iterator[Progress]:
    until(lambda: cancel.is_set, "the end")
    cancel.check()
    yield from ()


def test_it_starts_again_once_it_has_grown_and_rests(monkeypatch: pytest.MonkeyPatch):
    daemon = _Daemon(monkeypatch)
    fresh = daemon.due(None, FakeClock())
    daemon.bytes += GROWN_BYTES
    assert fresh.is_due()
    daemon.used = ["a"]
    assert not fresh.is_due()
    # Reading the history can go on later; all else would have to begin again.
    daemon.queues = [HISTORY]
    assert fresh.is_due()
    daemon.used = ["a", "b"]
    assert not fresh.is_due()
    daemon.used, daemon.queues = ["a"], [HISTORY, "#vectors"]
    assert not fresh.is_due()
    daemon.used, daemon.queues, daemon.quiet_seconds = [], [], 59.0
    daemon.bytes += 20 * GROWN_BYTES
    assert not fresh.is_due()
    daemon.quiet_seconds = 61.0
    assert fresh.is_due()
    # The narrator begins a pass after a minute without a request, and would have to wait for another one.
    daemon.followers[0].is_waiting = True
    assert not fresh.is_due()
    daemon.quiet_seconds = 76.0
    assert fresh.is_due()
    daemon.bytes -= 20 * GROWN_BYTES
    daemon.quiet_seconds, daemon.bytes = 100.0, daemon.bytes - 1
    assert not fresh.is_due()


def test_it_does_not_start_again_just_after_it_has(monkeypatch: pytest.MonkeyPatch):
    daemon, clock = _Daemon(monkeypatch), FakeClock()
    fresh = daemon.due(Handover(0, 0, 0.0, 0.0, 0.0, 0, "", (), ()), clock)
    daemon.bytes += GROWN_BYTES
    clock.advance(REST_S - 1)
    assert not fresh.is_due()
    clock.advance(1)
    assert fresh.is_due()
    # The more there is to return, the sooner.
    clock.advance(-REST_S / 2)
    assert not fresh.is_due()
    daemon.bytes += GROWN_BYTES
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
    for name in ("long", "longer"):
        before.jobs.submit(tmp_path / "store", tmp_path / name, "history", _until_cancelled, lane=HISTORY)
    passed_on = FreshStart(before, None, clock).end_histories()
    assert passed_on is not None
    fresh_start.start_again(replace(passed_on, lock=first, listener=second))
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
    read: list[str] = []
    monkeypatch.setattr(after.dispatcher, "read_history", lambda where: read.append(where.folder))
    FreshStart(after, handover, clock).begin()
    assert read == [str(tmp_path / "long"), str(tmp_path / "longer")]
    os.close(first)
    os.close(second)


def test_a_request_while_histories_end_puts_the_start_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, owned: Path):
    clock = FakeClock()
    daemon = DaemonState(DaemonConfig(), clock=clock)
    clock.advance(REST_S)

    def steps(cancel: Cancel) -> Iterator[Progress]:
        until(lambda: cancel.is_set, "the end")
        with daemon.visit():
            yield from ()

    read: list[str] = []
    monkeypatch.setattr(daemon.dispatcher, "read_history", lambda where: read.append(where.folder))
    job = daemon.jobs.submit(tmp_path / "store", tmp_path / "long", "history", steps, lane=HISTORY)
    until(lambda: job.state == "running", "the job")
    assert FreshStart(daemon, None, clock).end_histories() is None
    assert read == [str(tmp_path / "long")]


@pytest.mark.parametrize(
    ("asked", "goes_on"),
    [([True], True), ([True, False], False), ([False, True], False), ([False], False)],
    ids=["it rests", "stopped meanwhile", "stopped before", "stopped"],
)
def test_a_daemon_that_is_asked_to_end_does_not_start_again(asked: list[bool], goes_on: bool):
    state = DaemonState(DaemonConfig(), clock=FakeClock())
    for again in asked:
        state.leave(handover=again, again=again)
    state.done.wait(60)
    assert state.starts_again == goes_on
