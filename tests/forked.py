"""Python code in a process of its own, forked from one that has imported the engine: Python takes half a second to start.

It is a process like any other: it may be killed, and all that comes back is its exit code and what it printed.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

from tests.waiting import PATIENCE, until

PRELOADED = ["cm_tui.engine.api.engine", "cm_tui.engine.api.backup", "tests.indexing", "tests.engine.narrator.decided"]


class Python:
    """What `python -c CODE WORDS` starts."""

    def __init__(self, code: str, *words: str, **environment: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._files = [f"{self._folder.name}/{name}" for name in ("out", "err")]
        settings = {**os.environ, **environment}
        self._process = _context().Process(target=_run, args=(code, words, settings, self._files))
        self._process.start()

    def lines(self, count: int) -> list[str]:
        """Wait until so many lines are printed; returns all there are."""
        out = Path(self._files[0])
        until(lambda: (out.exists() and out.read_text().count("\n") >= count) or not self._process.is_alive(), "lines")
        return out.read_text().splitlines()

    def kill(self) -> subprocess.CompletedProcess[str]:
        """Kill it at once."""
        self._process.kill()
        return self.end()

    def end(self) -> subprocess.CompletedProcess[str]:
        """Wait for its end."""
        self._process.join(PATIENCE)
        assert self._process.exitcode is not None, "it does not end"
        printed = [Path(file).read_text() for file in self._files]
        self._folder.cleanup()
        return subprocess.CompletedProcess([], self._process.exitcode, *printed)


def run_python(code: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code to its end."""
    return Python(code, *words, **environment).end()


def processor_seconds() -> float:
    """Processor seconds of all that ended, which the system counts for the process that forks."""
    pid = getattr(forkserver._forkserver, "_forkserver_pid", None)  # type: ignore[attr-defined]
    if pid is None or not os.path.exists("/proc"):  # noqa: PTH110 - asked twice a test
        return 0.0
    times = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


@functools.cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def _run(code: str, words: Sequence[str], environment: dict[str, str], files: Sequence[str]) -> None:
    for number, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600), number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *words]
    exec(compile(code, "-c", "exec"), {"__name__": "__main__"})  # what a test wants run
