"""Many clients at once, with and without writes: how long answers take, and whether they are right."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.bench import load_clients
from tests.bench.daemon_project import DaemonProject
from tests.bench.load_clients import KINDS, Answer, Asker, Questions
from tests.bench.load_edits import Edits

PHASES = ("without writes", "a full index run", "edits")
OPERATIONS = ("search", "callers", "context", "pack", "idle context")
"""Those whose latency is compared; commands of the shell are shown too, most of their time is Python's start."""
_QUESTIONS = 40
_LATE_S = 600.0


class Client:
    """A client's process."""

    def __init__(self, kind: str, number: int, tree: Path, questions: Questions) -> None:
        command = [sys.executable, "-P", load_clients.__file__, kind, str(number), str(tree)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._say(questions._asdict())
        assert self._hear() == "ready"

    def begin(self, seconds: float) -> None:
        """Have it ask for so long."""
        self._say({"seconds": seconds})

    def answers(self) -> list[Answer]:
        """Wait until it has its last answer, and return all of them."""
        return [Answer(*row) for row in json.loads(self._hear())]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._process.kill()

    def _say(self, record: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(record) + "\n")
        self._process.stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


class Load:
    """The phases, each with the same clients.

    Args:
        project: what they work on.
    """

    def __init__(self, project: DaemonProject) -> None:
        self._project = project
        self._options = project.options
        self._engine: Any = project.open_engine()
        self.edits = Edits(project.tree, project.random, self._options.edits)
        self.answers: dict[str, list[Answer]] = {}

    def prepare(self) -> Questions:
        """Index the project, and choose what is asked."""
        for _ in self._engine.index():
            pass
        status = self._engine.status()
        self._project.row("project", f"{status.files:,} files, {status.passages:,} passages")
        symbols = [s for s in self._engine.symbols(limit=10**6).rows if s.kind in ("function", "method", "class")]
        chosen = self._project.random.sample(symbols, min(_QUESTIONS, len(symbols)))
        names = [symbol.qualname.rpartition(".")[2] or symbol.qualname for symbol in chosen]
        words = [
            " ".join([*symbol.path.rpartition("/")[2].split(".")[:1], *symbol.name.split("_")]) for symbol in chosen
        ]
        return Questions(words, names)

    def phases(self, questions: Questions, clients: int) -> dict[str, dict[str, list[float]]]:
        """Run all phases with so many clients; gives milliseconds by phase and operation."""
        running = [Client(KINDS[n % len(KINDS)], n, self._project.tree, questions) for n in range(clients)]
        try:
            self._phase("warming up", running, lambda _: None, min(8.0, self._options.seconds))
            for phase, beside in zip(PHASES, (lambda _: None, self._index, self.edits.write_until), strict=True):
                self._phase(phase, running, beside, self._options.seconds)
        finally:
            for client in running:
                client.close()
        return {phase: _by_operation(self.answers[phase]) for phase in PHASES}

    def _phase(
        self, name: str, clients: list[Client], beside: Callable[[threading.Event], None], seconds: float
    ) -> None:
        over = threading.Event()
        writer = threading.Thread(target=beside, args=(over,))
        watcher = threading.Thread(target=self.edits.watch_until, args=(over, self._project.open_engine()))
        for thread in (writer, watcher):
            thread.start()
        for client in clients:
            client.begin(seconds)
        self.answers[name] = [answer for client in clients for answer in client.answers()]
        over.set()
        for thread in (writer, watcher):
            thread.join(_LATE_S)
        self._settle()

    def _index(self, over: threading.Event) -> None:
        engine = self._project.open_engine()
        while not over.is_set():
            for _ in engine.index(full=True):
                pass
        engine.close()

    def _settle(self) -> None:
        until = time.monotonic() + _LATE_S
        while self._engine.freshness().behind and time.monotonic() < until:
            time.sleep(0.2)

    def wrong_answers(self) -> tuple[int, list[str]]:
        """Compare answers that were given while files changed with those of the same state when nothing else runs.

        Returns:
            How many were compared, and what differs.
        """
        given: dict[int, dict[tuple[str, str], str]] = defaultdict(dict)
        for answer in self.answers["edits"]:
            if answer.generation is not None and answer.generation in self.edits.states:
                given[answer.generation][answer.operation, answer.question] = answer.digest
        chosen = sorted(given, key=lambda number: -len(given[number]))[: self._options.compared]
        asker, wrong, compared = Asker(self._project.tree), [], 0
        for generation in chosen:
            self.edits.restore(generation)
            for _ in self._engine.index():
                pass
            for (operation, question), digest in given[generation].items():
                compared += 1
                if _again(asker, operation, question) != digest:
                    wrong.append(f"{operation} {question!r} of generation {generation}")
        asker.close()
        return compared, wrong


def _again(asker: Asker, operation: str, question: str) -> str:
    from cm_tui.errors import NotFoundError

    try:
        return asker.ask(operation, question)[1]
    except NotFoundError:
        return "nothing"


def _by_operation(answers: Sequence[Answer]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        found[answer.operation].append(answer.milliseconds)
    return found


def main(argv: Sequence[str]) -> int:
    """Run the phases and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        1 when an answer was wrong or failed.
    """
    options = _options(argv)
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        os.environ.update(CM_HOME=str(Path(scratch) / "home"), CM_DAEMON__USE="auto")
        project = DaemonProject(Path(scratch), options)
        try:
            figures = _measure(project)
        finally:
            project.end()
            os.environ.clear()
            os.environ.update(before)
            shutil.rmtree(Path(scratch), ignore_errors=True)
    if options.json:
        print(json.dumps({"rows": project.rows, "milliseconds": figures}, indent=2))
    else:
        print("| clients | what | " + " | ".join(PHASES) + " | ratios |\n|---:|---|" + "---:|" * len(PHASES) + "---|")
        for clients, phases in figures.items():
            for line in _table(clients, phases):
                print(line)
        for row in project.rows:
            print(f"| {row['name']} | {row['value']} |")
    if options.plot:
        _plot(options.plot, figures)
    return 1 if project.failed else 0


def _measure(project: DaemonProject) -> dict[int, dict[str, dict[str, list[float]]]]:
    load = Load(project)
    questions = load.prepare()
    figures = {}
    problems: list[str] = []
    for clients in project.options.clients:
        figures[clients] = load.phases(questions, clients)
        for line in _table(clients, figures[clients]):
            print(line, file=sys.stderr, flush=True)
        every = [answer for phase in PHASES for answer in load.answers[phase]]
        problems += [f"{answer.operation} {answer.question!r}: {answer.problem}" for answer in every if answer.problem]
        slowest = max(every, key=lambda answer: answer.milliseconds)
        project.row(f"slowest answer of {clients} clients", f"{slowest.operation} {slowest.milliseconds / 1000:.2f} s")
        compared, wrong = load.wrong_answers()
        project.row("answers compared with a quiet run of the same generation", f"{compared:,}")
        project.report("of them wrong", wrong)
    project.report("answers that failed", problems)
    return figures


def percentiles(milliseconds: Sequence[float]) -> tuple[float, float]:
    """Return half and nearly all of some durations, however few there are."""
    found = sorted(milliseconds)
    return found[len(found) // 2], found[min(len(found) - 1, int(len(found) * 0.95))]


def _table(clients: int, phases: dict[str, dict[str, list[float]]]) -> list[str]:
    """A line for each operation: half and nearly all, and how often the p95 without writes."""
    lines = []
    for operation in (*OPERATIONS, *sorted({*phases[PHASES[0]]} - {*OPERATIONS})):
        if not all(phases[phase].get(operation) for phase in PHASES):
            continue
        found = [percentiles(phases[phase][operation]) for phase in PHASES]
        cells = [
            f"{p50:.0f} / {p95:.0f} ms ({len(phases[phase][operation])})"
            for (p50, p95), phase in zip(found, PHASES, strict=True)
        ]
        ratios = ", ".join(f"{p95 / found[0][1]:.1f} ×" for _, p95 in found[1:])
        lines.append(f"| {clients} | {operation} | {' | '.join(cells)} | {ratios} |")
    return lines


def _plot(file: Path, figures: dict[int, dict[str, dict[str, list[float]]]]) -> None:
    from tests.bench.chart import Chart

    series = {
        phase: [(float(n), percentiles(phases[phase]["idle context"])[1]) for n, phases in figures.items()]
        for phase in PHASES
    }
    chart = Chart("Context for one client beside others", "clients", "p95, milliseconds", series)
    file.write_text(chart.svg(), encoding="utf-8")


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench load", description=__doc__)
    parser.add_argument("--tree", type=Path, help="Folder to index; default: Python's own library, without its tests.")
    parser.add_argument(
        "--clients", type=int, nargs="+", default=[8], help="How many ask at once; several are measured in turn."
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="Length of a phase.")
    parser.add_argument("--edits", type=float, default=20.0, help="Files a second that change in the last phase.")
    parser.add_argument(
        "--compared", type=int, default=6, help="Generations whose answers are compared with a quiet run."
    )
    parser.add_argument("--seed", type=int, default=1, help="Of the questions and the edits.")
    parser.add_argument("--plot", type=Path, help="Draw the idle client's p95 over the number of clients, as SVG.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    return parser.parse_args(list(argv))


__all__ = ["Load", "main"]
