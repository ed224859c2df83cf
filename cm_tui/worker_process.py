"""Helper processes that this one talks to by pipes, pools of them, and threads that give way to others."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Generic, TypeVar

W = TypeVar("W", bound="Worker")
T = TypeVar("T")
R = TypeVar("R")

is_long_lived = False
"""Whether this process stays, as the daemon does: models then run in processes that end after their work."""


def start(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a process of this Python with pipes for its input and output.

    `code`: what it runs; `arguments`: of its command line. Raises OSError if it cannot be started.
    """
    # -P: a project's own files must never be imported in place of libraries.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


def batches(
    items: Iterable[T], size_of: Callable[[T], int], most: int, most_items: int = sys.maxsize
) -> Iterator[list[T]]:
    """Yield items in batches.

    `most`, `most_items`: size and number that end a batch, with the item that reaches them.
    """
    batch: list[T] = []
    size = 0
    for item in items:
        batch.append(item)
        size += size_of(item)
        if size >= most or len(batch) >= most_items:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_NICENESS = 5
"""Of a thread without haste. At 19, one that was interrupted with Python's lock kept it for over a second on a busy
machine, and all other threads waited; at 5 it is twice the time that any thread keeps it."""


def lower_thread_priority() -> None:
    """Lower the priority of this thread a little, where the system supports it per thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def serve(answer: Callable[[Any], Any]) -> None:
    """Answer the messages of `Worker.exchange` in its process, until the other end closes."""
    serve_several(lambda message: [answer(message)])


def serve_several(answers: Callable[[Any], Iterable[Any]]) -> None:
    """The same with any number of answers to a message."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Printed output must not get between the pickles.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr
    with suppress(EOFError):
        while True:
            message = pickle.load(inward)  # noqa: S301 - from our own parent process
            for answer in answers(message):
                pickle.dump(answer, outward, protocol=pickle.HIGHEST_PROTOCOL)
                outward.flush()


class Worker:
    """One process, started when it is first needed; used by one thread at a time.

    `code`: as for `start`; `arguments`: as for `start`.
    """

    def __init__(self, code: str, *arguments: str) -> None:
        self._command = (code, *arguments)
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._ended_by = 0
        """Signal that ended the last process."""

    def stop(self) -> None:
        """End the process at once."""
        self._stopped = True
        self._end()

    def exchange(self, message: Any) -> Any:
        """Send a message, and return the answer. Raises OSError if no process can be had, or it was lost."""
        if self._stopped:
            raise BrokenPipeError
        return next(self._answers(message))

    def _answers(self, message: Any) -> Iterator[Any]:
        """Send a message, and yield what the process answers."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(message, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            while True:
                yield pickle.load(process.stdout)  # noqa: S301 - from our own process
        except (EOFError, OSError, pickle.UnpicklingError, ValueError) as error:
            self._end()
            raise BrokenPipeError from error

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = start(*self._command)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        self._ended_by = -process.wait()
        for pipe in (process.stdin, process.stdout):
            # Unwritten data has no reader left.
            with suppress(OSError):
                pipe.close() if pipe is not None else None


class WorkerPool(Generic[W]):
    """Workers with a thread each, started when the first task comes. `size`: how many; 0: one a core."""

    def __init__(self, size: int, name: str, make: Callable[[], W]) -> None:
        self._size = size or os.cpu_count() or 1
        self._name = name
        self._make = make
        self._idle: queue.SimpleQueue[W] = queue.SimpleQueue()
        self._workers: list[W] = []
        self._threads: ThreadPoolExecutor | None = None

    def close(self) -> None:
        """End the processes; work in progress is dropped."""
        for worker in self._workers:
            worker.stop()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None
        self._workers.clear()

    def _spread(self, work: Callable[[W, T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield the results of tasks in their order; tasks are taken as the work goes on."""
        waiting: deque[Future[R]] = deque()
        for task in tasks:
            waiting.append(self._submit(work, task))
            # Enough in flight to keep every worker busy, little enough to keep memory small.
            if len(waiting) > 2 * self._size:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _submit(self, work: Callable[[W, T], R], task: T) -> Future[R]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._size, thread_name_prefix=self._name)
            self._idle = queue.SimpleQueue()
            self._workers = [self._make() for _ in range(self._size)]
            for worker in self._workers:
                self._idle.put(worker)
        return self._threads.submit(self._run, work, task)

    def _run(self, work: Callable[[W, T], R], task: T) -> R:
        idle = self._idle
        worker = idle.get()
        try:
            return work(worker, task)
        finally:
            idle.put(worker)
