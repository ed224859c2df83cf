"""A tree of its own, a daemon of its own, and the rows that are measured on them."""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cm_tui.engine.api.engine import Engine
from tests.bench.measure import percentiles


class DaemonProject:
    """One set of measurements with a CM_HOME of its own.

    Args:
        folder: where the tree is put.
        options: the command's own.
    """

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.options = options
        self.rows: list[dict[str, str]] = []
        self.failed = False
        self.tree = folder / "tree"
        parts_left_out = ("test", "tests", "idlelib", "lib2to3") if options.tree is None else (".git",)
        ignored = shutil.ignore_patterns("site-packages", "__pycache__", "*.pyc", "*.so", *parts_left_out)
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

    def report(self, name: str, problems: Sequence[str]) -> None:
        """Keep how much went wrong, and say what."""
        self.failed = self.failed or bool(problems)
        self.row(name, f"{len(problems)}")
        for text in problems[:20]:
            print(f"  {text}", file=sys.stderr)


def milliseconds(work: Callable[[], Any]) -> float:
    """Measure one call."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def latency(spent: Sequence[float]) -> str:
    """Say half and nearly all of some milliseconds."""
    p50, p95 = percentiles(spent)
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"
