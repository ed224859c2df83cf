"""Episodes by the hundred thousand: lists, filters, words, sessions, totals; store and memory; appends beside kills."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cm_tui.bench import episode_appends, episode_journal
from cm_tui.bench.measure import percentiles
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.journal.journal import Journal
from cm_tui.model import EpisodeEdit, EpisodeFilter

COMMITS = 300
"""Of the made-up repository."""
_QUIET = 5
"""Seconds without work after which there is none to come."""


def main(argv: Sequence[str]) -> int:
    """Run the measurements and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        1 when an event was lost or there twice.
    """
    parser = argparse.ArgumentParser(prog="cm bench episodes", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="How many episodes; 0: none are measured.")
    parser.add_argument("--rounds", type=int, default=30, help="How often each kind of question is asked.")
    parser.add_argument("--limit", type=int, default=100, help="Rows of a page.")
    parser.add_argument(
        "--settled", action="store_true", help="Ask once nothing is done in the background; no vectors are made."
    )
    parser.add_argument("--appends", type=int, default=0, help="Events that each of two processes appends.")
    parser.add_argument("--seed", type=int, default=1, help="Of all that is made up.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    before = dict(os.environ)
    bench = _Bench(options)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        os.environ.update(CM_HOME=str(Path(scratch) / "home"), CM_DAEMON__USE="auto")
        if options.settled:
            os.environ["CM_EMBEDDING__PROVIDER"] = "none"
        try:
            bench.run(Path(scratch))
        finally:
            from cm_tui.daemon import bootstrap

            bootstrap.stop_daemon()
            os.environ.clear()
            os.environ.update(before)
    if options.json:
        print(json.dumps(bench.rows, indent=2))
    else:
        for row in bench.rows:
            print(f"| {row['name']} | {row['value']} |")
    return 1 if bench.failed else 0


class _Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rows: list[dict[str, Any]] = []
        self.failed = False
        self._chance = random.Random(options.seed)

    def run(self, scratch: Path) -> None:
        if self.options.count:
            self._questions(scratch / "tree", _repository(scratch / "tree"))
        if self.options.appends:
            # A project of its own: what is in the other one would be made searchable first.
            _repository(scratch / "appends", commits=1)
            lost, twice, kills = episode_appends.run(scratch / "appends", self.options.appends)
            self._row("events appended by two processes, the daemon killed meanwhile", f"{2 * self.options.appends:,}")
            self._row("lost, there twice, kills of the daemon", f"{lost:,}, {twice:,}, {kills:,}")
            self.failed = bool(lost or twice)

    def _questions(self, root: Path, shas: Sequence[str]) -> None:
        from cm_tui.daemon.open_engine import open_engine

        engine = open_engine(root)
        for _ in engine.index():
            pass
        idle = _resident()
        store = _store_bytes(engine)
        count = self.options.count
        journal = Journal.of(root)
        size = episode_journal.write(journal, count, shas=shas, root=root, now=time.time(), seed=self.options.seed)
        self._row("journal", f"{count:,} episodes, {size / count:,.0f} bytes each")
        self._first_reading(engine, count)
        if self.options.settled:
            self._settle(engine)
        for name, questions in _kinds(engine, self._chance, self.options.limit):
            before = _processor_ms()
            asked = zip(range(self.options.rounds), questions, strict=False)
            times = [_milliseconds(question) for _, question in asked]
            work = (_processor_ms() - before) / max(len(times), 1)
            half, nearly_all = percentiles(times)
            said = f"p50 {half:.1f} ms, p95 {nearly_all:.1f} ms; the daemon's processor {work:.1f} ms each"
            self._row(name, said, p50_ms=half, p95_ms=nearly_all, processor_ms=work)
        resident = _resident()
        engine.close()
        from cm_tui.daemon import bootstrap

        bootstrap.stop_daemon()
        again = open_engine(root)
        begun = time.perf_counter()
        again.episodes(limit=self.options.limit)
        self._row("the first list of a new daemon", f"{(time.perf_counter() - begun) * 1000:.0f} ms")
        for _, questions in _kinds(again, self._chance, self.options.limit):
            for _, question in zip(range(5), questions, strict=False):
                question()
        after = _resident()
        per_episode = (_store_bytes(again) - store) / count
        again.close()
        self._row("store", f"{per_episode:,.0f} bytes an episode", bytes=per_episode)
        said = f"{resident:,.0f} MB; {idle:,.0f} MB before the journal, {after:,.0f} MB of a new one that was asked the same"
        self._row("memory of the daemon", said, mb=resident, new_mb=after)

    def _first_reading(self, engine: Engine, count: int) -> None:
        """Ask for a list while the journal is read for the first time, and then until all of it was."""
        before, begun = _processor_ms(), time.perf_counter()
        first = engine.sessions(limit=self.options.limit)
        told = (time.perf_counter() - begun) * 1000
        self._row("first list after that", f"{told:.0f} ms, the newest {first.total:,} sessions", ms=told)
        times = []
        while engine.episode_stats().note:
            times.append(_milliseconds(partial(engine.episodes, limit=self.options.limit)))
            time.sleep(0.25)
        spent = time.perf_counter() - begun
        assert engine.episode_stats().episodes == count
        work = (_processor_ms() - before) / 1000
        said = f"{spent:.1f} s, {count / spent:,.0f} episodes/s; the daemon's processor {work:.1f} s"
        self._row("reading the journal into the store", said)
        if times:
            half, nearly_all = percentiles(times)
            self._row("lists meanwhile", f"p50 {half:.1f} ms, p95 {nearly_all:.1f} ms", p50_ms=half, p95_ms=nearly_all)
        read, most = _resident(), _highest()
        said = f"{read:,.0f} MB then, {most:,.0f} MB at most until then"
        self._row("memory of the daemon that read it", said, mb=read, most_mb=most)

    def _settle(self, engine: Engine) -> None:
        """Wait until the daemon does nothing but answer."""
        begun, quiet = time.perf_counter(), 0
        while quiet < _QUIET:
            engine.status()
            time.sleep(1)
            quiet = 0 if _is_busy() else quiet + 1
        self._row(
            "after that, until nothing is done in the background", f"{time.perf_counter() - begun - _QUIET:.0f} s"
        )

    def _row(self, name: str, value: str, **figures: float) -> None:
        self.rows.append({"name": name, "value": value, **figures})
        print(f"{name}: {value}", file=sys.stderr, flush=True)


def _kinds(engine: Engine, chance: random.Random, limit: int) -> Iterator[tuple[str, Iterator[Callable[[], Any]]]]:
    """Yield kinds of questions, and questions of each without end."""
    words = episode_journal.vocabulary()
    now = time.time()

    def asked(make: Callable[[], EpisodeFilter]) -> Iterator[Callable[[], Any]]:
        while True:
            yield partial(engine.episodes, where=make(), limit=limit)

    def some_text(most: int) -> EpisodeFilter:
        return EpisodeFilter(text=" ".join(chance.choices(words, k=chance.randrange(1, most + 1))))

    def typed() -> EpisodeFilter:
        word = chance.choice(words)
        return EpisodeFilter(text=word[: chance.randrange(1, len(word) + 1)])

    def some() -> EpisodeFilter:
        until = now - chance.random() * 400 * 86_400
        return chance.choice(
            (
                EpisodeFilter(tools=("Edit",), outcomes=("failed",)),
                EpisodeFilter(agents=("codex",), types=("command",)),
                EpisodeFilter(file=f"package_{chance.randrange(40)}"),
                EpisodeFilter(tags=("bug", "flaky")),
                EpisodeFilter(since=until - 30 * 86_400, until=until),
            )
        )

    yield "for comparison: is the index behind?", (engine.stale_reason for _ in _numbers())
    yield "list, newest", asked(EpisodeFilter)
    yield "list, a page far back", _pages(engine, limit)
    yield "filter", asked(some)
    yield "search, whole words", asked(partial(some_text, 3))
    yield "search, as it is typed", asked(typed)
    yield "search and filter", asked(lambda: replace(some(), text=chance.choice(words)))
    yield (
        "sessions",
        (partial(engine.sessions, where=EpisodeFilter() if n % 2 else some(), limit=limit) for n in _numbers()),
    )
    yield "totals", (partial(engine.episode_stats, where=EpisodeFilter() if n % 2 else some()) for n in _numbers())
    page = engine.episodes(limit=limit).rows
    yield "one, whole", (partial(engine.episode, chance.choice(page).id) for _ in _numbers())
    yield (
        "an edit of one",
        (partial(engine.edit_episodes, [page[n % len(page)].id], EpisodeEdit(("seen",))) for n in _numbers()),
    )


def _pages(engine: Engine, limit: int) -> Iterator[Callable[[], Any]]:
    before: list[str] = []

    def turn() -> None:
        page = engine.episodes(before=before[-1] if before else None, limit=limit)
        before.append(page.rows[-1].id)

    while True:
        yield turn


def _numbers() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


def _milliseconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def _repository(root: Path, commits: int = COMMITS) -> list[str]:
    """Make a repository of some commits; returns their shas, the oldest first."""
    root.mkdir(parents=True)
    (root / "a.py").write_text("def gravel():\n    return 1\n")
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        *([["commit", "-q", "--allow-empty", "-m", f"commit {n}"] for n in range(commits)]),
    ):
        subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)
    log = subprocess.run(
        ["git", "log", "--reverse", "--format=%H"], cwd=root, check=True, capture_output=True, text=True
    )
    return log.stdout.split()


def _store_bytes(engine: Engine) -> int:
    store = Path(engine.status().store)
    return sum(file.stat().st_size for file in store.glob("*.duckdb*") if file.is_file())


def _processor_ms() -> float:
    """Return the processor time that the daemon has taken, which a busy machine changes less than the time of day."""
    from cm_tui.daemon import bootstrap

    report = bootstrap.health()
    if not report:
        return 0.0
    fields = Path(f"/proc/{report['pid']}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _is_busy() -> bool:
    from cm_tui.daemon import bootstrap

    return bool((bootstrap.health() or {}).get("jobs"))


def _resident() -> float:
    """Return the daemon's resident memory in MB."""
    from cm_tui.daemon import bootstrap

    report = bootstrap.health()
    return report["memory_bytes"] / 1e6 if report else 0.0


def _highest() -> float:
    """Return the most resident memory that the daemon has had, in MB; 0 where the system does not tell."""
    from cm_tui.daemon import bootstrap

    report = bootstrap.health()
    try:
        lines = Path(f"/proc/{report['pid']}/status").read_text(encoding="utf-8").splitlines() if report else []
    except OSError:
        return 0.0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM:")), 0.0)
