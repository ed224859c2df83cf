"""Measuring processes: wall time, peak memory of the whole process tree, first output on a terminal."""

from __future__ import annotations

import os
import select
import statistics
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cm_tui.errors import CmError


@dataclass(frozen=True, slots=True)
class Run:
    """A finished process."""

    seconds: float
    peak_bytes: int
    """Highest sum of resident memory over the process and its children (0 where /proc is missing)."""
    stdout: str


def timed(command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Run:
    """Run a command to its end.

    Raises:
        CmError: it failed; the message carries the end of its stderr.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        list(command), cwd=cwd, env=dict(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    peak = _Peak(process.pid)
    out, err = process.communicate()
    seconds = time.perf_counter() - started
    peak.stop()
    if process.returncode:
        raise CmError(f"{' '.join(command[:4])} … ended with {process.returncode}: {err[-800:]}")
    return Run(seconds, peak.bytes, out)


class _Peak(threading.Thread):
    """Looks at the memory of a process tree every 50 ms."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.bytes = 0
        self._done = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._done.wait(0.05):
            self.bytes = max(self.bytes, sum(_resident(pid) for pid in _tree(self.pid)))

    def stop(self) -> None:
        """Look no more."""
        self._done.set()
        self.join()


def _tree(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        try:
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue  # it has ended meanwhile
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0  # it has ended meanwhile


def first_frame(command: Sequence[str], cwd: Path, env: Mapping[str, str], needle: bytes = b"Overview") -> float:
    """Seconds from the start of a terminal program until it shows a word.

    Raises:
        CmError: the word never came.
    """
    import pty

    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], list(command), {**env, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"})
    seen = b""
    try:
        while needle not in seen and time.perf_counter() - started < 20:
            if select.select([terminal], [], [], 1)[0]:
                seen += os.read(terminal, 65536)
        seconds = time.perf_counter() - started
    except OSError as error:
        raise CmError(f"The program ended before it showed {needle.decode()}.") from error
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)
    if needle not in seen:
        raise CmError(f"The program never showed {needle.decode()}.")
    return seconds


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """The 50th and 95th percentile."""
    if len(values) == 1:
        return values[0], values[0]
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    return cuts[9], cuts[18]
