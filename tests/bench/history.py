"""Reading history: speed beside git's own, growth of the store, latency, a branch switch, and checks against fresh indexes."""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.graph.generation_tables import PARTIAL_QUESTIONS
from cm_tui.model import SymbolKey
from tests.bench import beside
from tests.bench.beside import timed, used
from tests.bench.chart import Chart
from tests.bench.history_check import differs
from tests.bench.measure import percentiles
from tests.bench.releases import git, make_history

ROUNDS = 20
_SWITCH = 100
_STOPS = 8
"""At how many lengths of the known history the store is looked at."""
_TARGET_MS = 50
_PLOTTED = {
    "symbols at a moment, first 50": "symbols",
    "callers at another moment each time": "callers, new revision",
    "callers, the next ones at that moment": "callers, same revision",
    "life of a symbol": "history of a symbol",
}


def main(argv: Sequence[str]) -> int:
    """Run the measurements and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        1 when a revision's answers are not those of an index of its checkout.
    """
    options = _options(argv)
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        os.environ.update(
            CM_HOME=str(Path(scratch) / "home"), CM_DAEMON__USE="never", CM_EMBEDDING__PROVIDER="none",
            CM_HISTORY__ENABLED="false", GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull,
        )  # fmt: skip
        try:
            bench = _Bench(Path(scratch), options)
            bench.run()
        finally:
            os.environ.clear()
            os.environ.update(before)
    if options.json:
        print(json.dumps(bench.rows, indent=2))
    else:
        for name, value in bench.rows.items():
            print(f"| {name} | {value} |")
    return 1 if bench.failed else 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench history", description=__doc__)
    parser.add_argument("--repository", type=Path, help="A git repository; it is cloned, and not written to.")
    parser.add_argument(
        "--releases", type=Path,
        help="A folder of wheels of one project: a history is made of them, a commit for every file that changes.",
    )  # fmt: skip
    parser.add_argument("--depth", type=int, help="Commits of the mainline that are read; all when not given.")
    parser.add_argument("--short", action="store_true", help="Only reading, tags off the mainline, and those branches.")
    parser.add_argument("--branch", action="append", default=[], help="Also switch to this branch of it and back.")
    parser.add_argument("--tags", type=int, default=12, help="Tags off the mainline that are asked about.")
    parser.add_argument("--samples", type=int, default=5, help="Revisions that are compared with a fresh index.")
    parser.add_argument("--seed", type=int, default=1, help="Of what is sampled and asked.")
    parser.add_argument("--plots", type=Path, help="A folder to draw the figures into, as SVG.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    if (options.repository is None) == (options.releases is None):
        parser.error("name --repository or --releases")
    return options


@dataclass(frozen=True, slots=True)
class _Question:
    """A question about several things, the first of them to warm up."""

    name: str
    ask: Callable[[Any], object]
    words: Sequence[Any]
    warm: int = 1

    def time(self) -> tuple[float, float]:
        """Milliseconds of half of them, and of nearly all; not a number where there is nothing to ask about."""
        for word in self.words[: self.warm]:
            self.ask(word)
        spent = [timed(partial(self.ask, word))[1] * 1000 for word in self.words[self.warm :]]
        return percentiles(spent) if spent else (math.nan, math.nan)


class _Bench:
    """Measurements on one repository."""

    def __init__(self, scratch: Path, options: argparse.Namespace) -> None:
        self._scratch = scratch
        self._options = options
        self._random = random.Random(options.seed)
        self.rows: dict[str, Any] = {}
        self._series: defaultdict[str, defaultdict[str, list[tuple[float, float]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        """Points by unit and name."""
        self.failed = False
        self._root = scratch / "repository"
        if options.repository is not None:
            git(scratch, "clone", "-q", "--no-hardlinks", str(options.repository.resolve()), str(self._root))
        else:
            make_history(self._root, options.releases)
        self._name = (options.repository or options.releases).resolve().name

    def run(self) -> None:
        """Run all of them, on one store."""
        with closing(Engine.open(self._root)) as engine:
            _, seconds = timed(lambda: list(engine.index()))
            self.rows["index of HEAD, s"] = round(seconds, 2)
            self._backfill(engine)
            if not self._options.short:
                self._latency(engine)
                self._check(engine)
            names = beside.tags(engine, self._root, self._options.tags, self._random)
            self.rows |= beside.ask(
                engine, names, used(engine), self._series["s, first answer"]["by files that differ"]
            )
            wrong = [
                name for name in names[:: max(1, len(names) // 3)] if differs(engine, self._root, self._scratch, name)
            ]
            self.rows["of them compared with a fresh index, differ"] = ", ".join(wrong) or "none"
            self.failed |= bool(wrong)
            if not self._options.short:
                self._switch(engine)
            for branch in self._options.branch:
                self.rows |= beside.switch(engine, self._root, branch, self._options.depth)
        if self._options.plots is not None:
            self._plot(self._options.plots)

    def _backfill(self, engine: Engine) -> None:
        """Read the whole mainline; at some lengths the clock stands still while the store is looked at."""
        length = engine.history().length
        log = min(
            timed(lambda: git(self._root, "log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames"))[1]
            for _ in range(3)
        )
        before, seconds, due = used(engine), 0.0, 1
        self._series["s"]["reading history"].append((0, 0))
        self._series["MB"]["store"].append((0, before))
        began = time.perf_counter()
        for step in engine.backfill(depth=self._options.depth):
            if due <= _STOPS and not self._options.short and step.done >= due * length / _STOPS:
                seconds += time.perf_counter() - began
                self._look(engine, step.done, seconds)
                due = int(step.done * _STOPS / length) + 1
                began = time.perf_counter()
        seconds += time.perf_counter() - began
        status, after = engine.history(), used(engine)
        self.rows |= {
            "commits on the line": length,
            "known": status.known,
            "file contents of the past": status.blobs,
            "git log --first-parent --raw, s": round(log, 2),
            "reading the past, s": round(seconds, 2),
            "commits a second": round(status.known / seconds),
            "file contents a second": round(status.blobs / seconds),
            "times git log": round(seconds / log, 1),
            "used blocks of the store before, MB": round(before, 1),
            "used blocks of the store after, MB": round(after, 1),
            "growth per 1,000 commits, MB": round((after - before) * 1e3 / max(1, length), 2),
            "growth per 1,000 file contents, MB": round((after - before) * 1e3 / max(1, status.blobs), 2),
        }

    def _look(self, engine: Engine, known: int, seconds: float) -> None:
        """Note what reading has cost so far, and what questions cost now."""
        self._series["s"]["reading history"].append((known, seconds))
        self._series["MB"]["store"].append((known, used(engine)))
        length = engine.history().length
        for question in self._questions(engine, length - known + 1, length):
            if question.name in _PLOTTED:
                half, _ = question.time()
                if not math.isnan(half):
                    self._series["ms"][_PLOTTED[question.name]].append((known, half))

    def _latency(self, engine: Engine) -> None:
        for question in self._questions(engine, 1, engine.history().length):
            half, most = question.time()
            self.rows[f"{question.name}, ms p50 / p95"] = f"{half:.0f} / {most:.0f}"

    def _questions(self, engine: Engine, first: int, last: int) -> Iterator[_Question]:
        revisions = [f"#{self._random.randint(first, last)}" for _ in range(ROUNDS + 1)]
        middle = f"#{(first + last + 1) // 2}"
        of = {ref: engine.symbols_at(ref, kind="function", limit=5000).rows for ref in {*revisions, middle}}
        keys = [(ref, self._random.choice(of[ref]).key) for ref in revisions if of[ref]]
        there = [(middle, self._random.choice(of[middle]).key) for _ in range(2 * ROUNDS) if of[middle]]
        now = engine.symbols(kind="function", limit=5000).rows
        names = [self._random.choice(now).name for _ in range(ROUNDS + 1) if now]

        def callers(pair: tuple[str, SymbolKey]) -> object:
            return engine.callers(pair[1], at=pair[0])

        yield _Question("symbols at a moment, first 50", lambda ref: engine.symbols_at(ref, limit=50), revisions)
        yield _Question("files at a moment", engine.files_at, revisions)
        yield _Question("callers at another moment each time", callers, keys)
        yield _Question("callers, the next ones at that moment", callers, there[: PARTIAL_QUESTIONS - 1])
        yield _Question("callers at a moment asked more often", callers, there, warm=ROUNDS)
        yield _Question("life of a symbol", engine.symbol_history, names)
        yield _Question("changes between two moments", lambda ref: engine.changes(ref, "HEAD", limit=100), revisions)
        yield _Question("a page of the line", lambda ref: engine.mainline(before=int(ref[1:])), revisions)

    def _plot(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        where = f"{self._name}, {self.rows['commits on the line']:,} commits"
        for name, title, up, target in (
            ("reading", "Reading history", "s", None),
            ("growth", "Size of the store", "MB", None),
            ("latency", "Questions about history, p50", "ms", _TARGET_MS),
            ("tags", "First answer about a tag off the mainline", "s, first answer", None),
        ):
            across = "files that differ from the mainline" if name == "tags" else "commits known"
            chart = Chart(f"{title} ({where})", across, up, self._series[up], target)
            (folder / f"history-{name}.svg").write_text(chart.svg(), encoding="utf-8")

    def _switch(self, engine: Engine) -> None:
        """Switch to a branch that left the mainline a hundred commits ago and has a hundred of its own."""
        length = engine.history().length
        far = min(_SWITCH, length - 1)
        git(self._root, "checkout", "-q", "-b", "bench-side", f"HEAD~{far}")
        path = next(row.path for row in engine.files().rows if row.symbols)
        for number in range(far):
            file = self._root / path
            file.write_text(file.read_text(errors="replace") if file.exists() else "", errors="replace")
            with file.open("a") as out:
                out.write(f"\ndef added_{number}():\n    return {number}\n")
            git(self._root, "add", "-A")
            git(self._root, "commit", "-q", "-m", f"side {number}")
        _, index = timed(lambda: list(engine.index()))
        _, replay = timed(lambda: list(engine.backfill()))
        self.rows[f"switch to a branch {far} commits away: index, s"] = round(index, 2)
        self.rows["and the past of it, s"] = round(replay, 2)
        git(self._root, "checkout", "-q", "-")
        list(engine.index())
        _, replay = timed(lambda: list(engine.backfill()))
        self.rows[f"back again, {far} commits replayed, s"] = round(replay, 2)

    def _check(self, engine: Engine) -> None:
        length = engine.history().length
        count = min(self._options.samples, length)
        ordinals = sorted(self._random.sample(range(1, length + 1), count))
        wrong = [ordinal for ordinal in ordinals if differs(engine, self._root, self._scratch, f"#{ordinal}")]
        self.rows["moments compared with a fresh index of their checkout"] = count
        self.rows["that differ"] = len(wrong)
        self.failed |= bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
