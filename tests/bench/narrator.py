"""The narrator over many episodes: a whole pass, one more session, memory, and a reader beside it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cm_tui.engine.platform.journal.journal import Journal
from tests.bench import narrator_journal
from tests.bench.measure import percentiles, timed

_TURNS = 10
"""Of one more session."""
_READING = "import sys; from tests.bench.narrator import read_json; read_json(sys.argv[1])"
_PASSING = "import sys; from tests.bench.narrator import one_pass; one_pass(sys.argv[1])"


def main(argv: Sequence[str]) -> int:
    """Run the measurements and print a table, or JSON.

    Args:
        argv: see `--help`.
    """
    parser = argparse.ArgumentParser(prog="just bench narrator", description=__doc__)
    parser.add_argument("--episodes", type=int, default=100_000, help="How many.")
    parser.add_argument("--growth", action="store_true", help="Also of an eighth, a quarter and a half of them.")
    parser.add_argument("--rounds", type=int, default=20, help="How many sessions are added, one by one.")
    parser.add_argument("--no-reader", action="store_true", help="Nobody asks anything beside a pass.")
    parser.add_argument("--seed", type=int, default=1, help="Of all that is made up.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    counts = [options.episodes // part for part in (8, 4, 2, 1)] if options.growth else [options.episodes]
    rows: list[dict[str, Any]] = []
    for count in counts:
        before = dict(os.environ)
        with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
            os.environ.update(CM_HOME=str(Path(scratch) / "home"), CM_DAEMON__USE="never", CM_NARRATOR__AUTO="false")
            try:
                bench = _Bench(Path(scratch) / "tree", count, options)
                bench.run()
                rows += bench.rows
            finally:
                _stop_daemon()
                os.environ.clear()
                os.environ.update(before)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(f"| {row['episodes']:,} | {row['name']} | {row['value']} |")
    return 0


def read_json(root: str) -> None:
    """Read a journal's JSON and nothing else: what a pass is compared with."""
    begun = time.perf_counter()
    count = sum(1 for _ in Journal.of(Path(root)).read())
    print(json.dumps({"seconds": time.perf_counter() - begun, "episodes": count}))


def one_pass(root: str) -> None:
    """Make a whole pass; prints what it took, and what memory is left with the process."""
    from cm_tui.engine.api.engine import Engine
    from cm_tui.engine.platform.store import memory

    with Engine.open(Path(root)) as engine:
        engine.episode_stats()
        engine.rest()
        resting, begun = _resident_mb(), time.perf_counter()
        report = list(engine.narrate())[-1].narrated
        seconds = time.perf_counter() - begun
        engine.rest()
        memory.release_memory()
        assert report is not None
        said = {"seconds": seconds, "episodes": report.episodes, "observations": report.observations}
        print(json.dumps({**said, "waiting": report.waiting, "before_mb": resting, "after_mb": _resident_mb()}))


class _Bench:
    def __init__(self, root: Path, count: int, options: argparse.Namespace) -> None:
        self.rows: list[dict[str, Any]] = []
        self._root = root
        self._count = count
        self._options = options

    def run(self) -> None:
        self._root.mkdir(parents=True)
        (self._root / "a.py").write_text("def gravel():\n    return 1\n")
        subprocess.run(["git", "init", "-q", str(self._root)], check=True)
        size = narrator_journal.write(
            Journal.of(self._root), self._count, root=self._root, now=time.time(), seed=self._options.seed
        )
        self._row("journal", f"{size / self._count:,.0f} bytes an episode")
        self._index()
        self._whole()
        self._more()
        if not self._options.no_reader:
            self._beside()

    def _index(self) -> None:
        """Make a store, and read the episodes into it, as is done with or without a narrator."""
        from cm_tui.engine.api.engine import Engine

        os.environ["CM_EMBEDDING__PROVIDER"] = "none"
        with Engine.open(self._root) as engine:
            for _ in engine.index():
                pass
            begun = time.perf_counter()
            engine.episode_stats()
            self._row(
                "for comparison: the tables of episodes",
                f"{time.perf_counter() - begun:.1f} s where they are not read yet",
            )

    def _whole(self) -> None:
        alone = json.loads(self._child(_READING)[0])
        stdout, peak = self._child(_PASSING)
        told = json.loads(stdout)
        seconds, per = told["seconds"], 1000 * told["seconds"] / self._count
        self._row("for comparison: the journal's JSON alone", f"{alone['seconds']:.1f} s", seconds=alone["seconds"])
        self._row(
            "a whole pass",
            f"{seconds:.1f} s, {per:.2f} s per 1,000 episodes, {seconds / alone['seconds']:.1f} times the JSON alone; "
            f"{told['observations'] / self._count:.1f} observations an episode, {told['waiting']:,} proposals",
            seconds=seconds, per_1000=per, ratio=seconds / alone["seconds"],
        )  # fmt: skip
        said = f"{peak:,.0f} MB at most with its processes; {told['before_mb']:,.0f} MB before, {told['after_mb']:,.0f} MB after"
        self._row("memory", said, peak_mb=peak, before_mb=told["before_mb"], after_mb=told["after_mb"])

    def _child(self, code: str) -> tuple[str, float]:
        run = timed([sys.executable, "-c", code, str(self._root)], cwd=self._root, env=dict(os.environ))
        return run.stdout, run.peak_bytes / 1e6

    def _more(self) -> None:
        """Add sessions one by one."""
        from cm_tui.engine.api.engine import Engine

        journal = Journal.of(self._root)
        with Engine.open(self._root) as engine:
            list(engine.narrate())
            reads, passes, nothing, lists = [], [], [], []
            for number in range(self._options.rounds):
                narrator_journal.append_session(journal, number, _TURNS, root=self._root)
                reads.append(_ms(engine.episode_stats))
                passes.append(_ms(lambda: list(engine.narrate())))
                nothing.append(_ms(lambda: list(engine.narrate())))
                lists.append(_ms(partial(engine.narrated, limit=200)))
        half, nearly_all = percentiles(passes)
        beside, _ = percentiles(reads)
        self._row(
            f"one more session of {_TURNS} turns",
            f"p50 {half:.0f} ms, p95 {nearly_all:.0f} ms; the tables of episodes take {beside:.0f} ms of the same: "
            f"{half / beside:.1f} times",
            p50_ms=half, p95_ms=nearly_all, ratio=half / beside,
        )  # fmt: skip
        for name, times in (("nothing new", nothing), ("a list of proposals", lists)):
            half, nearly_all = percentiles(times)
            self._row(name, f"p50 {half:.1f} ms, p95 {nearly_all:.1f} ms", p50_ms=half, p95_ms=nearly_all)

    def _beside(self) -> None:
        """Ask a daemon while it makes a whole pass, and while it does nothing."""
        from cm_tui.daemon.open_engine import open_engine
        from cm_tui.engine.api.engine import Engine

        with Engine.open(self._root) as engine:
            engine._db.execute("DELETE FROM narrator_position")
        os.environ["CM_DAEMON__USE"] = "auto"
        asked = open_engine(self._root)
        try:
            questions: dict[str, Callable[[], object]] = {
                "a list": partial(asked.episodes, limit=100),
                "a search": partial(asked.search, "gravel", mode="keyword"),
            }
            for ask in questions.values():
                for _ in range(20):
                    ask()
            quiet = {name: [_ms(ask) for _ in range(200)] for name, ask in questions.items()}
            done = threading.Event()
            told: list[float] = []
            thread = threading.Thread(target=_narrate, args=(self._root, done, told), daemon=True)
            thread.start()
            busy: dict[str, list[float]] = {name: [] for name in questions}
            while not done.is_set():
                for name, ask in questions.items():
                    busy[name].append(_ms(ask))
            thread.join()
        finally:
            asked.close()
            _stop_daemon()
            os.environ["CM_DAEMON__USE"] = "never"
        for name, times in quiet.items():
            alone, during = percentiles(times), percentiles(busy[name])
            self._row(
                f"{name} beside a whole pass of {told[0]:.1f} s in the daemon",
                f"p50 {during[0]:.1f} ms, p95 {during[1]:.1f} ms; {during[0] / alone[0]:.2f} and {during[1] / alone[1]:.2f} "
                "times those without it",
                p50_ms=during[0], p95_ms=during[1], p50_ratio=during[0] / alone[0], p95_ratio=during[1] / alone[1],
            )  # fmt: skip

    def _row(self, name: str, value: str, **figures: float) -> None:
        self.rows.append({"episodes": self._count, "name": name, "value": value, **figures})
        print(f"{self._count:,} episodes: {name}: {value}", file=sys.stderr, flush=True)


def _narrate(root: Path, done: threading.Event, told: list[float]) -> None:
    from cm_tui.daemon.open_engine import open_engine

    engine = open_engine(root)
    begun = time.perf_counter()
    try:
        list(engine.narrate())
    finally:
        told.append(time.perf_counter() - begun)
        done.set()
        engine.close()


def _ms(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _stop_daemon() -> None:
    from cm_tui.daemon import bootstrap

    bootstrap.stop_daemon()
