"""Pipelines are run soon after something happened, and once in a while though nothing did."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from cm_tui.daemon.followers import PIPELINES_QUIET_S, IngestionRunner
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import IngestOutcome, IngestRun
from tests.daemon.conftest import make_project
from tests.fake_clock import FakeClock

PIPELINE = "name: keep\ntriggers: [onAction]\nroutes: [{writeTo: 'kv://last'}]\n"


class Asked:
    """Stands for the way to projects, and counts how often their pipelines are run."""

    def __init__(self) -> None:
        self.pool = self
        self.runs = 0
        self.outcome: IngestOutcome | None = None

    def opened(self) -> list[object]:
        return []

    def call(self, name: str, *_: Any, **__: Any) -> tuple[IngestRun, ...]:
        assert name == "ingest_pending"
        self.runs += 1
        return (IngestRun("a", "keep", "onAction", 0.0, self.outcome, "a.py"),) if self.outcome else ()


def test_pipelines_run_when_something_happened_and_once_in_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root, asked, clock = make_project(tmp_path / "shop"), Asked(), FakeClock()
    runner = IngestionRunner(clock=clock)
    runner._dispatcher = cast("Any", asked)
    runner.on_nudge(root)

    def runs_after(seconds: float) -> int:
        clock.advance(seconds)
        runner.look_at_all()
        return asked.runs

    Journal.of(root).append("hook.edit", {"session": "s", "root": str(root), "paths": ["a.py"]}, head=None)
    assert runs_after(0) == 0, "there is no pipeline"
    (root / ".cm/ingestion").mkdir(parents=True)
    (root / ".cm/ingestion/keep.yaml").write_text(PIPELINE)
    assert runs_after(0) == 1
    assert runs_after(PIPELINES_QUIET_S - 1) == 1
    assert runs_after(1) == 2
    Journal.of(root).append("hook.edit", {"session": "s", "root": str(root), "paths": ["b.py"]}, head=None)
    assert runs_after(1) == 3
    monkeypatch.setenv("CM_CONTEXT__INGEST", "false")
    assert runs_after(PIPELINES_QUIET_S * 2) == 3


def test_runs_that_failed_are_counted_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    root, asked, clock = make_project(tmp_path / "shop"), Asked(), FakeClock()
    (root / ".cm/ingestion").mkdir(parents=True)
    (root / ".cm/ingestion/keep.yaml").write_text(PIPELINE)
    Journal.of(root).append("hook.edit", {"session": "s", "root": str(root), "paths": ["a.py"]}, head=None)
    runner = IngestionRunner(clock=clock)
    runner._dispatcher = cast("Any", asked)
    runner.on_nudge(root)
    caplog.set_level("INFO", logger="cm_tui.daemon.followers")
    for asked.outcome in ("done", "failed"):
        runner.look_at_all()
    assert [one.getMessage().rpartition(": ")[2] for one in caplog.records] == [
        "pipelines ran 1 times, 0 failed", "pipelines ran 1 times, 1 failed",
    ]  # fmt: skip
