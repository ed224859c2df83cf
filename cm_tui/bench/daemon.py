"""The daemon: latency of both engines, searches beside an index run, many clients at once, kill -9, memory."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from cm_tui.bench.measure import percentiles, timed
from cm_tui.bench.speed import QUERIES
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError, NotFoundError

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
        bench = _Bench(Path(scratch), options)
        try:
            for part in (bench.memory, bench.engines, bench.beside_an_index_run, bench.crowd, bench.kills):
                part()
        finally:
            bench.end()
            os.environ.clear()
            os.environ.update(before)
    if options.json:
        print(json.dumps(bench.rows, indent=2))
    else:
        for row in bench.rows:
            print(f"| {row['name']} | {row['value']} |")
    return 1 if bench.failed else 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cm bench daemon", description=__doc__)
    parser.add_argument("--tree", type=Path, help="Folder to index; default: Python's own library, without its tests.")
    parser.add_argument("--clients", type=int, default=4, help="Clients that ask at once.")
    parser.add_argument("--operations", type=int, default=200, help="Questions and edits of each.")
    parser.add_argument("--kills", type=int, default=50, help="How often the daemon is killed.")
    parser.add_argument("--seed", type=int, default=1, help="Of the mixture and of the moments of killing.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    return parser.parse_args(list(argv))


class _Bench:
    """One set of measurements with a CM_HOME of its own."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.options = options
        self.rows: list[dict[str, str]] = []
        self.failed = False
        self.tree = folder / "tree"
        ignored = shutil.ignore_patterns(
            "site-packages", "test", "tests", "idlelib", "lib2to3", "__pycache__", "*.pyc", "*.so"
        )
        shutil.copytree(options.tree or sysconfig.get_path("stdlib"), self.tree, symlinks=True, ignore=ignored)
        for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-qm", "tree"]):
            identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
            subprocess.run(["git", *identity, *words], cwd=self.tree, check=True, capture_output=True)
        self.random = random.Random(options.seed)

    def row(self, name: str, value: str) -> None:
        """Keep a figure, and say it on the way."""
        self.rows.append({"name": name, "value": value})
        print(f"{name}: {value}", file=sys.stderr, flush=True)

    def open_engine(self) -> Engine:
        """An engine through the daemon."""
        from cm_tui.daemon.open_engine import open_engine

        return open_engine(self.tree)

    def end(self) -> None:
        """Leave no daemon behind."""
        from cm_tui.daemon import bootstrap

        bootstrap.stop_daemon()

    # --- the parts ---

    def memory(self) -> None:
        """Start, first index run, and what the daemon weighs in between."""
        from cm_tui.daemon import bootstrap

        started = time.perf_counter()
        bootstrap.start_daemon()
        self.row("start of the daemon, until it answers", f"{(time.perf_counter() - started) * 1000:.0f} ms")
        self.row("memory of a daemon that was asked nothing", _resident())
        engine = self.open_engine()
        summary = [step.summary for step in engine.index()][-1]
        assert summary is not None
        self.row(
            "full index through the daemon",
            f"{sum(summary.seconds.values()):.1f} s, {summary.files:,} files, {summary.passages:,} passages",
        )
        self.row("memory after that", _resident())
        bootstrap.stop_daemon()
        engine.search(QUERIES[0])
        self.row("memory of a daemon with this project open and the model warm", _resident())
        engine.close()

    def engines(self) -> None:
        """Cold commands and warm questions, straight and through the daemon."""
        from cm_tui.daemon import bootstrap
        from cm_tui.engine.local import LocalEngine

        command = [sys.executable, "-m", "cm_tui", "search", QUERIES[0], "--json"]

        def cold(**more: str) -> str:
            environment = {**os.environ, **more}
            runs = sorted(timed(command, cwd=self.tree, env=environment).seconds for _ in range(5))
            return f"{runs[0]:.2f} s (median of five {runs[2]:.2f} s)"

        self.row("cold `cm search`, daemon there", cold())
        bootstrap.stop_daemon()
        self.row("cold `cm search`, straight to the store", cold(CM_DAEMON__USE="never"))
        with LocalEngine.open(self.tree) as local:
            self.row("warm search, straight", _latency(self._asked(local)))
        remote = self.open_engine()
        self.row("warm search, through the daemon", _latency(self._asked(remote)))
        root = self.tree
        self.row("nudge", _latency([_milliseconds(lambda: bootstrap.notify(root)) for _ in range(100)]))
        behind = [_milliseconds(remote.stale_reason) for _ in range(100)]
        self.row("look whether the index is behind", _latency(behind))
        remote.close()

    def _asked(self, engine: Engine) -> list[float]:
        for query in QUERIES:
            engine.search(query)
        return [_milliseconds(partial(engine.search, query)) for _ in range(ROUNDS) for query in QUERIES]

    def beside_an_index_run(self) -> None:
        """Searches while everything is parsed again."""
        engine, other = self.open_engine(), self.open_engine()
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
            busy.append(_milliseconds(lambda: engine.search(self.random.choice(QUERIES))))
        thread.join()
        (_, idle95), (_, busy95) = percentiles(idle), percentiles(busy)
        self.row("searches when nothing else runs", _latency(idle))
        self.row(f"searches during a full index run ({len(busy)})", f"{_latency(busy)}: {busy95 / idle95:.1f} × idle")
        engine.close()
        other.close()

    def crowd(self) -> None:
        """Clients that ask and edit at once, beside an index run; then nothing may be lost or there twice."""
        names = [f"crowd_{number}" for number in range(self.options.clients)]
        started = time.perf_counter()
        with ThreadPoolExecutor(len(names) + 1) as pool:
            run = pool.submit(lambda: list(self.open_engine().index(full=True))[-1].summary)
            problems = [text for found in pool.map(self._client, names) for text in found]
            run.result()
        seconds = time.perf_counter() - started
        engine = self.open_engine()
        for name in names:
            for number in range(self._edits):
                problems += self._wrong(engine, f"{name}_edit_{number}")
        last = list(engine.index())[-1].summary
        if last is None or last.changed:
            problems.append("an index run afterwards found something to do")
        problems += self._different_from_scratch(engine)
        engine.close()
        total = self.options.clients * self.options.operations
        self.row(
            f"{self.options.clients} clients × {self.options.operations} operations beside a full index run",
            f"{seconds:.1f} s, {total / seconds:.0f} a second",
        )
        self.report("lost, doubled or failed among them", problems)

    @property
    def _edits(self) -> int:
        return int(self.options.operations) // 20

    def _client(self, name: str) -> list[str]:
        """One client's operations; gives what went wrong."""
        chance = random.Random(f"{name}{self.options.seed}")
        engine = self.open_engine()
        problems: list[str] = []
        asks: list[Callable[[], Any]] = [
            lambda: engine.search(chance.choice(QUERIES)), lambda: engine.symbols(match="parse", limit=20),
            lambda: engine.definitions("dumps"), lambda: engine.callers("loads"), lambda: engine.source("json/decoder.py", 1, 40),
            lambda: engine.rank(engine.retrieve("parse a date"), engine.profiles()["code"]), engine.status,
        ]  # fmt: skip
        for number in range(self.options.operations):
            try:
                if number % 20 == 10:
                    problems += self._edit(engine, f"{name}_edit_{number // 20}")
                else:
                    chance.choice(asks)()
            except NotFoundError:
                continue  # another tree than the default one need not have these names
            except (CmError, OSError) as error:
                problems.append(f"{name} {number}: {type(error).__name__}: {error}")
        engine.close()
        return problems

    def _edit(self, engine: Engine, name: str) -> list[str]:
        (self.tree / f"{name}.py").write_text(f"def {name}():\n    return {name!r}\n", encoding="utf-8")
        for _ in engine.index(paths=[f"{name}.py"]):
            pass
        return self._wrong(engine, name)

    def _wrong(self, engine: Engine, name: str) -> list[str]:
        found = engine.definitions(name).total
        return [] if found == 1 else [f"{name} is there {found} times"]

    def _different_from_scratch(self, engine: Engine) -> list[str]:
        """Whether the store that saw all this holds the same as a fresh one."""
        seen = _content(engine)
        for _ in engine.rebuild():
            pass
        fresh = _content(engine)
        return [
            f"{kind} differ from a fresh index: {seen[kind]} and {fresh[kind]}"
            for kind in fresh
            if seen[kind] != fresh[kind]
        ]

    def kills(self) -> None:
        """kill -9 at random moments of index runs; the next question must be answered, and nothing may be lost."""
        from cm_tui.daemon import bootstrap

        engine = self.open_engine()
        problems: list[str] = []
        recovered: list[float] = []
        for number in range(self.options.kills):
            report = bootstrap.health()
            assert report is not None
            name = f"killed_{number}"
            (self.tree / f"{name}.py").write_text(f"def {name}():\n    return 1\n", encoding="utf-8")
            timer = threading.Timer(self.random.uniform(0, 1.0), os.kill, (report["pid"], signal.SIGKILL))
            timer.start()
            try:
                for _ in engine.index(full=number % 5 == 0):
                    pass
                timer.join()
                recovered.append(_milliseconds(lambda: engine.search("parse")))
                problems += self._wrong(engine, name)
            except (CmError, OSError) as error:
                problems.append(f"kill {number}: {type(error).__name__}: {error}")
        problems += self._different_from_scratch(engine)
        engine.close()
        self.row(f"kill -9, {self.options.kills} times: the first answer after it", _latency(recovered))
        self.report("of them not recovered, or something lost", problems)

    def report(self, name: str, problems: Sequence[str]) -> None:
        """Keep how much went wrong, and say what."""
        self.failed = self.failed or bool(problems)
        self.row(name, f"{len(problems)}")
        for text in problems[:20]:
            print(f"  {text}", file=sys.stderr)


def _content(engine: Engine) -> dict[str, Any]:
    status = engine.status()
    symbols = Counter((symbol.path, symbol.qualname, symbol.start_line) for symbol in engine.symbols(limit=10**6).rows)
    return {
        "files": status.files, "symbols": sorted(symbols.items()), "references": status.references,
        "passages": status.passages, "vectors": status.embedded,
    }  # fmt: skip


def _milliseconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _latency(milliseconds: Sequence[float]) -> str:
    p50, p95 = percentiles(milliseconds)
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"


def _resident() -> str:
    from cm_tui.daemon import bootstrap

    report = bootstrap.health()
    return f"{report['memory_bytes'] / 1e6:,.0f} MB" if report else "no daemon"
