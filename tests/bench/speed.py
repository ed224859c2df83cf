"""Speed: index, query and start-up times, as ratios against peers in the same run."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.bench.measure import Run, first_frame, percentiles, timed
from tests.bench.trees import django_tree, multiplied

QUERIES = (
    "how are requests routed to views", "parse a date from a string", "QuerySet", "template loader", "middleware",
    "send an email", "where are migrations applied", "cache key", "HttpResponse", "form validation error messages",
    "create a database connection", "signal handlers", "get_object_or_404", "session storage backend", "user password",
    "file upload", "serialize model to json", "translate a string", "lazy evaluation", "aggregate functions in SQL",
)  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Run the measurements and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.
    """
    options = _options(argv)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        folder = Path(scratch)
        tree = folder / "tree"
        shutil.copytree(options.tree or django_tree(), tree, symlinks=True)
        bench = _Bench(folder, tree)
        rows = bench.start_up() + bench.index() + bench.warm(tree, "warm query, this tree")
        if options.sizes:
            rows += bench.growth(options.sizes)
        if options.peer_python:
            rows += bench.semble(options.peer_python, options.peer_model)
        rows += bench.ripgrep()
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(f"| {row['name']} | {row['value']} | {row['target']} |")
    return 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench speed", description=__doc__)
    parser.add_argument("--tree", type=Path, help="Folder to index; default: Django's source from the registry.")
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[], help="Also measure at this many copies of the tree."
    )
    parser.add_argument("--peer-python", help="Python of an environment that has semble.")
    parser.add_argument("--peer-model", help="model2vec folder for semble.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    return parser.parse_args(list(argv))


def _row(name: str, value: str, target: str = "") -> dict[str, str]:
    return {"name": name, "value": value, "target": target}


class _Bench:
    """One set of measurements with a CM_HOME of its own."""

    def __init__(self, folder: Path, tree: Path) -> None:
        self.tree = tree
        self.folder = folder
        # The engine alone: what a daemon adds is measured by the bench of load.
        self.environment = {**os.environ, "CM_HOME": str(folder / "home"), "CM_DAEMON__USE": "never"}
        self.full_seconds = 0.0
        _git(tree, "init", "-q")
        _git(tree, "add", "-A", "-f")
        _git(tree, "commit", "--allow-empty", "-qm", "tree")

    def cm(self, *words: str) -> Run:
        """Run `cm` as a fresh process."""
        return timed([sys.executable, "-m", "cm_tui", *words], cwd=self.tree, env=self.environment)

    def start_up(self) -> list[dict[str, str]]:
        """Commands that need no index, and the application's first frame."""
        self.cm("--help")  # compiles what was never run
        help_run = min((self.cm("--help") for _ in range(5)), key=lambda run: run.seconds)
        command = [sys.executable, "-m", "cm_tui"]
        first_frame(command, self.tree, self.environment)
        frame = min(first_frame(command, self.tree, self.environment) for _ in range(3))
        shutil.rmtree(self.folder / "home", ignore_errors=True)
        return [
            _row("`cm --help`", f"{help_run.seconds:.2f} s", "< 0.25 s"),
            _row("first frame of `cm`", f"{frame:.2f} s", "< 0.8 s"),
        ]

    def index(self) -> list[dict[str, str]]:
        """Full, unchanged and one-file index runs, then a cold query."""
        full = self.cm("index", "--json")
        summary: dict[str, Any] = json.loads(full.stdout)
        self.full_seconds = full.seconds
        stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in summary["seconds"].items())
        again = min((self.cm("index", "--json") for _ in range(3)), key=lambda run: run.seconds)
        edited = next(path for path in sorted(self.tree.rglob("*.py")) if path.stat().st_size > 4000)
        edited.write_text(
            edited.read_text(encoding="utf-8") + "\n\ndef zebra_crossing_bench():\n    return 1\n", "utf-8"
        )
        one = self.cm("index", str(edited), "--json")
        found = json.loads(self.cm("search", "zebra_crossing_bench", "--json", "--limit", "1").stdout)["hits"]
        cold = min(
            (self.cm("search", "how are requests routed", "--json") for _ in range(5)), key=lambda run: run.seconds
        )
        size = sum(file.stat().st_size for file in (self.folder / "home").rglob("*") if file.is_file())
        counts = f"{summary['files']:,} files, {summary['passages']:,} passages"
        return [
            _row(f"full index ({counts})", f"{full.seconds:.1f} s ({stages})", "≤ 1.5 × semble"),
            _row("peak memory of the full index", f"{full.peak_bytes / 1e6:,.0f} MB", "< 1,000 MB"),
            _row("bytes on disk", f"{size / 1e6:,.0f} MB"),
            _row("index again, nothing changed", f"{again.seconds:.2f} s", "< 1 s"),
            _row("one changed file searchable", f"{one.seconds:.2f} s; found: {bool(found)}", "< 0.5 s"),
            _row("cold `cm search`", f"{cold.seconds:.2f} s", "< 1.2 s"),
        ]

    def warm(self, tree: Path, name: str, target: str = "") -> list[dict[str, str]]:
        """Latency in a process that is already up."""
        script = Path(__file__).with_name("warm.py")
        run = timed([sys.executable, str(script), str(tree), *QUERIES], cwd=tree, env=self.environment)
        result = json.loads(run.stdout)
        p50, p95 = percentiles(result["milliseconds"])
        counts = f"{result['passages']:,} passages, {result['mode']}"
        engine = f"{run.peak_bytes / 1e6:,.0f} MB"
        return [_row(f"{name} ({counts})", f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, {engine}", target)]

    def growth(self, sizes: Sequence[int]) -> list[dict[str, str]]:
        """Index and query a tree of several copies, each with identifiers of its own."""
        rows = []
        for size in sizes:
            tree = multiplied(self.tree, self.folder / f"tree{size}", size)
            run = timed([sys.executable, "-m", "cm_tui", "index", "--json"], cwd=tree, env=self.environment)
            summary = json.loads(run.stdout)
            text = f"{run.seconds:.1f} s, {run.peak_bytes / 1e6:,.0f} MB, {summary['passages']:,} passages"
            rows.append(_row(f"full index, {size} copies", text))
            rows += self.warm(tree, f"warm query, {size} copies")
        return rows

    def semble(self, python: str, model: str | None) -> list[dict[str, str]]:
        """semble's cold index of the same tree, and its warm queries."""
        script = Path(__file__).with_name("peer_semble.py")
        run = timed([python, str(script), str(self.tree), model or "", *QUERIES], cwd=self.tree, env=self.environment)
        result = json.loads(run.stdout.strip().splitlines()[-1])
        p50, p95 = percentiles(result["milliseconds"])
        ratio = self.full_seconds / run.seconds
        whole = f"{run.seconds:.1f} s with start-up and queries, {result['index_seconds']:.1f} s of it in the library"
        return [
            _row("semble, full index", whole),
            _row("ratio to semble's library index", f"{self.full_seconds / result['index_seconds']:.2f}", "≤ 1.5"),
            _row("ratio to semble's process", f"{ratio:.2f}"),
            _row("semble, warm query", f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, {run.peak_bytes / 1e6:,.0f} MB"),
        ]

    def ripgrep(self) -> list[dict[str, str]]:
        """ripgrep for one word, where it is installed."""
        program = shutil.which("rg")
        if program is None:
            return [_row("ripgrep", "not installed")]
        search: Callable[[], Run] = lambda: timed([program, "-l", "HttpResponse"], cwd=self.tree, env=self.environment)  # noqa: E731
        return [_row("ripgrep -l, one word", f"{min(search().seconds for _ in range(5)) * 1000:.0f} ms")]


def _git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)
