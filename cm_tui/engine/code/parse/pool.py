"""Pool of processes that parse blobs; a crash or hang only costs the responsible blob its symbols."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from cm_tui.engine.code.parse.records import Batch
from cm_tui.engine.code.parse.worker import CPU_SIGNAL, Task, parse_batch
from cm_tui.errors import CmError
from cm_tui.worker_process import Worker, WorkerPool, batches

BATCH_BYTES = 200_000
BATCH_BLOBS = 64
PARSE_SECONDS = 30.0
"""Seconds of CPU that a parser may take for a blob before that is cut by lines; time in which others run does not count."""
PATIENCE = 20.0
SMALL_BYTES = 300_000
"""Below this a process would take longer to start than it saves."""

_START = "import cm_tui.engine.code.parse.worker as worker; worker.main()"


class WorkerLostError(CmError):
    """Error: a worker process ended during an easy task, or was stopped."""


class Pool(WorkerPool["_Worker"]):
    """Pool that parses blobs on several cores, in the order given.

    Args:
        workers: processes; 0: one per core.
        timeout: CPU seconds per blob, independent of the machine's load.
        guard: a file that exists while this process itself parses; if a run finds it, the last one died parsing, and
            even a little work goes to processes, which may die.
        patience: factor on `timeout` for the time without a sign of life, for a process that waits without using CPU.
    """

    def __init__(self, workers: int, timeout: float, guard: Path, patience: float = PATIENCE) -> None:
        super().__init__(workers, "cm-parse", lambda: _Worker(timeout, patience * timeout))
        self._guard = guard

    def parse(self, tasks: Iterable[Task]) -> Iterator[Batch]:
        """Yield the rows of blobs, a batch at a time; tasks are taken as the work goes on.

        Raises WorkerLostError if a process ended while it only split a blob into lines.
        """
        stream = iter(tasks)
        first: list[Task] = []
        size = 0
        for task in stream:
            first.append(task)
            size += len(task.data)
            if size > SMALL_BYTES:
                yield from self._spread(_Worker.parse, _in_batches(chain(first, stream)))
                return
        if not first:
            return
        if self._guard.exists():
            yield from self._spread(_Worker.parse, _in_batches(first))
            self._guard.unlink(missing_ok=True)
            return
        self._guard.touch()
        try:
            batch = parse_batch(first)
        finally:
            self._guard.unlink(missing_ok=True)
        yield batch


def _in_batches(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    return batches(tasks, lambda task: len(task.data), BATCH_BYTES, BATCH_BLOBS)


class _Worker(Worker):
    def __init__(self, timeout: float, silence: float) -> None:
        super().__init__(_START, f"{timeout:g}")
        self._timeout = timeout
        self._silence = silence
        self._late = threading.Event()
        self._deadline = 0.0

    def parse(self, tasks: list[Task]) -> Batch:
        """Parse a batch, repeating it without the blobs at fault.

        A blob that took too much CPU would take it again; the cause of a crash or a silence may have passed, so those
        are tried again.
        """
        remaining = list(tasks)
        tried: set[int] = set()
        while True:
            batch, at = self._attempt(remaining)
            if batch is not None:
                return batch
            if at is None and not self._stopped:
                # The process never began: no way to have one here, or no memory for it. This process can do it.
                return parse_batch(remaining)
            if at is None or remaining[at].failed or self._stopped:
                raise WorkerLostError(
                    "A parser process ended unexpectedly.", hint="Run the command again; `cm doctor` may help."
                )
            too_long = self._ended_by == CPU_SIGNAL
            if too_long or at in tried:
                remaining[at] = remaining[at]._replace(failed=self._why(too_long=too_long))
            tried.add(at)

    def _why(self, *, too_long: bool) -> str:
        if too_long:
            return f"the parser took longer than {self._timeout:g} s of CPU"
        if self._late.is_set():
            return f"the parser did not respond for {self._silence:g} s, twice"
        return "the parser crashed, twice"

    def _attempt(self, tasks: list[Task]) -> tuple[Batch | None, int | None]:
        """Return rows, or the index of the task at which the process was lost (None: before the first)."""
        process = self._running()
        self._late.clear()
        self._deadline = time.monotonic() + self._silence
        done = threading.Event()
        threading.Thread(target=self._watch, args=(process, done), name="cm-parse-watch", daemon=True).start()
        at: int | None = None
        try:
            for message in self._answers(tasks):
                if isinstance(message, dict):
                    return message, None
                at = message
                self._deadline = time.monotonic() + self._silence
        except BrokenPipeError:
            pass
        finally:
            done.set()
        return None, at

    def _watch(self, process: subprocess.Popen[bytes], done: threading.Event) -> None:
        """Kill a process without a sign of life for too long."""
        while not done.wait(max(0.05, self._deadline - time.monotonic())):
            if time.monotonic() >= self._deadline:
                self._late.set()
                process.kill()
                return
