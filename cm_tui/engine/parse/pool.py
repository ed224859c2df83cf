"""Pool of processes that parse blobs; a crash or hang only costs the responsible blob its symbols."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path

from cm_tui.engine.parse.row_batches import Batch
from cm_tui.engine.parse.worker import CPU_SIGNAL, Task, parse_batch
from cm_tui.errors import CmError

BATCH_BYTES = 200_000
BATCH_BLOBS = 64
PATIENCE = 20.0
SMALL_BYTES = 300_000
"""Below this a process would take longer to start than it saves."""

_START = "import cm_tui.engine.parse.worker as worker; worker.main()"


class WorkerLostError(CmError):
    """Error: a worker process ended during an easy task, or was stopped."""


class Pool:
    """Pool that parses blobs on several cores, in the order given.

    Args:
        workers: processes; 0: one per core.
        timeout: CPU seconds per blob, independent of the machine's load.
        guard: a file that exists while this process itself parses; if a run finds it, the last one died parsing, and
            even a little work goes to processes, which may die.
        patience: factor on `timeout` for the time without a sign of life, for a process that waits without using CPU.
    """

    def __init__(self, workers: int, timeout: float, guard: Path, patience: float = PATIENCE) -> None:
        self._size = workers or os.cpu_count() or 1
        self._timeout = timeout
        self._patience = patience
        self._guard = guard
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._threads: ThreadPoolExecutor | None = None

    def parse(self, tasks: Iterable[Task]) -> Iterator[Batch]:
        """Yield the rows of blobs, a batch at a time; tasks are taken as the work goes on.

        Raises:
            WorkerLostError: a process ended while it only split a blob into lines.
        """
        stream = iter(tasks)
        first: list[Task] = []
        size = 0
        for task in stream:
            first.append(task)
            size += len(task.data)
            if size > SMALL_BYTES:
                yield from self._spread(chain(first, stream))
                return
        if not first:
            return
        if self._guard.exists():
            yield from self._spread(iter(first))
            self._guard.unlink(missing_ok=True)
            return
        self._guard.touch()
        try:
            batch = parse_batch(first)
        finally:
            self._guard.unlink(missing_ok=True)
        yield batch

    def close(self) -> None:
        """End the worker processes; work in progress is dropped."""
        for worker in self._workers:
            worker.stop()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None
        self._workers.clear()

    def _spread(self, tasks: Iterator[Task]) -> Iterator[Batch]:
        self._start()
        assert self._threads is not None
        waiting: deque[Future[Batch]] = deque()
        for batch in _batches(tasks):
            waiting.append(self._threads.submit(self._work, batch))
            # Enough in flight to keep every worker busy, few enough to keep memory small.
            if len(waiting) > 2 * self._size:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _start(self) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._size, thread_name_prefix="cm-parse")
            for _ in range(self._size):
                worker = _Worker(self._timeout, self._patience * self._timeout)
                self._workers.append(worker)
                self._idle.put(worker)

    def _work(self, tasks: list[Task]) -> Batch:
        worker = self._idle.get()
        try:
            return worker.parse(tasks)
        finally:
            self._idle.put(worker)


def _batches(tasks: Iterator[Task]) -> Iterator[list[Task]]:
    batch: list[Task] = []
    size = 0
    for task in tasks:
        batch.append(task)
        size += len(task.data)
        if size >= BATCH_BYTES or len(batch) >= BATCH_BLOBS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Worker:
    """One process and its pipes; used by one thread at a time."""

    def __init__(self, timeout: float, silence: float) -> None:
        self._timeout = timeout
        self._silence = silence
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._late = threading.Event()
        self._ended_by = 0
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
                raise WorkerLostError("A parser process was lost.", hint="Run the command again; `cm doctor` may help.")
            too_long = self._ended_by == CPU_SIGNAL
            if too_long or at in tried:
                remaining[at] = remaining[at]._replace(failed=self._why(too_long=too_long))
            tried.add(at)

    def _why(self, *, too_long: bool) -> str:
        if too_long:
            return f"the parser took longer than {self._timeout:g} s of CPU"
        if self._late.is_set():
            return f"the parser gave no sign of life for {self._silence:g} s, twice"
        return "the parser crashed, twice"

    def stop(self) -> None:
        """End the process at once."""
        self._stopped = True
        self._end()

    def _attempt(self, tasks: list[Task]) -> tuple[Batch | None, int | None]:
        """Return rows, or the index of the task at which the process was lost (None: before the first)."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        self._late.clear()
        self._deadline = time.monotonic() + self._silence
        done = threading.Event()
        threading.Thread(target=self._watch, args=(process, done), name="cm-parse-watch", daemon=True).start()
        at: int | None = None
        try:
            pickle.dump(tasks, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            while True:
                message = pickle.load(process.stdout)  # noqa: S301 - from our own worker process
                if isinstance(message, dict):
                    return message, None
                at = message
                self._deadline = time.monotonic() + self._silence
        except (EOFError, OSError, pickle.UnpicklingError, ValueError):
            self._end()
            return None, at
        finally:
            done.set()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # -P: a project's own files must never be imported in place of libraries.
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, f"{self._timeout:g}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        return self._process

    def _watch(self, process: subprocess.Popen[bytes], done: threading.Event) -> None:
        """Kill a process without a sign of life for too long."""
        while not done.wait(max(0.05, self._deadline - time.monotonic())):
            if time.monotonic() >= self._deadline:
                self._late.set()
                process.kill()
                return

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        self._ended_by = -process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    # The pipe's reader is gone: unwritten data is dropped.
                    continue
