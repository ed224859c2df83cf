"""The daemon: latency of both engines, searches beside an index run, many clients at once, kill -9, memory."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cm_tui.bench.daemon_load import Load
from cm_tui.bench.daemon_project import DaemonProject, latency, milliseconds
from cm_tui.bench.measure import percentiles, timed
from cm_tui.bench.speed import QUERIES
from cm_tui.engine.api.engine import Engine

ROUNDS = 10


def main(argv: Sequence[str]) -> int:
    """Run the measurements and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        1 when work was lost or done twice, or a killed daemon was not recovered.
    """
    options = _options(argv)
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        os.environ.update(CM_HOME=str(Path(scratch) / "home"), CM_DAEMON__USE="auto")
        project = DaemonProject(Path(scratch), options)
        latencies, load = _Latencies(project), Load(project)
        try:
            for part in (latencies.memory, latencies.engines, latencies.beside_an_index_run, load.crowd, load.kills):
                part()
        finally:
            project.end()
            os.environ.clear()
            os.environ.update(before)
    if options.json:
        print(json.dumps(project.rows, indent=2))
    else:
        for row in project.rows:
            print(f"| {row['name']} | {row['value']} |")
    return 1 if project.failed else 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cm bench daemon", description=__doc__)
    parser.add_argument("--tree", type=Path, help="Folder to index; default: Python's own library, without its tests.")
    parser.add_argument("--clients", type=int, default=4, help="Clients that ask at once.")
    parser.add_argument("--operations", type=int, default=200, help="Questions and edits of each.")
    parser.add_argument("--kills", type=int, default=50, help="How often the daemon is killed.")
    parser.add_argument("--seed", type=int, default=1, help="Of the mixture and of the moments of killing.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    return parser.parse_args(list(argv))


class _Latencies:
    """Measures how long questions take, and what the daemon weighs."""

    def __init__(self, project: DaemonProject) -> None:
        self._project = project

    def memory(self) -> None:
        """Start, first index run, and what the daemon weighs in between."""
        from cm_tui.daemon import bootstrap

        started = time.perf_counter()
        bootstrap.start_daemon()
        self._project.row("start of the daemon, until it answers", f"{(time.perf_counter() - started) * 1000:.0f} ms")
        self._project.row("memory of a daemon that was asked nothing", _resident())
        engine = self._project.open_engine()
        summary = [step.summary for step in engine.index()][-1]
        assert summary is not None
        self._project.row(
            "full index through the daemon",
            f"{sum(summary.seconds.values()):.1f} s, {summary.files:,} files, {summary.passages:,} passages",
        )
        self._project.row("memory after that", _resident())
        bootstrap.stop_daemon()
        engine.search(QUERIES[0])
        self._project.row("memory of a daemon with this project open and the model warm", _resident())
        engine.close()

    def engines(self) -> None:
        """Cold commands and warm questions, straight and through the daemon."""
        from cm_tui.daemon import bootstrap
        from cm_tui.engine.local.engine import LocalEngine

        command = [sys.executable, "-m", "cm_tui", "search", QUERIES[0], "--json"]

        def cold(**more: str) -> str:
            environment = {**os.environ, **more}
            runs = sorted(timed(command, cwd=self._project.tree, env=environment).seconds for _ in range(5))
            return f"{runs[0]:.2f} s (median of five {runs[2]:.2f} s)"

        self._project.row("cold `cm search`, daemon there", cold())
        bootstrap.stop_daemon()
        self._project.row("cold `cm search`, straight to the store", cold(CM_DAEMON__USE="never"))
        with LocalEngine.open(self._project.tree) as local:
            self._project.row("warm search, straight", latency(self._asked(local)))
        remote = self._project.open_engine()
        self._project.row("warm search, through the daemon", latency(self._asked(remote)))
        root = self._project.tree
        self._project.row("nudge", latency([milliseconds(lambda: bootstrap.notify(root)) for _ in range(100)]))
        behind = [milliseconds(remote.stale_reason) for _ in range(100)]
        self._project.row("look whether the index is behind", latency(behind))
        remote.close()

    def _asked(self, engine: Engine) -> list[float]:
        for query in QUERIES:
            engine.search(query)
        return [milliseconds(partial(engine.search, query)) for _ in range(ROUNDS) for query in QUERIES]

    def beside_an_index_run(self) -> None:
        """Searches while everything is parsed again."""
        engine, other = self._project.open_engine(), self._project.open_engine()
        idle = self._asked(engine)
        busy: list[float] = []
        over = threading.Event()

        def index() -> None:
            for _ in other.index(full=True):
                pass
            over.set()

        thread = threading.Thread(target=index)
        thread.start()
        while not over.is_set():
            busy.append(milliseconds(lambda: engine.search(self._project.random.choice(QUERIES))))
        thread.join()
        (_, idle95), (_, busy95) = percentiles(idle), percentiles(busy)
        self._project.row("searches when nothing else runs", latency(idle))
        self._project.row(
            f"searches during a full index run ({len(busy)})", f"{latency(busy)}: {busy95 / idle95:.1f} × idle"
        )
        engine.close()
        other.close()


def _resident() -> str:
    from cm_tui.daemon import bootstrap

    report = bootstrap.health()
    return f"{report['memory_bytes'] / 1e6:,.0f} MB" if report else "no daemon"
