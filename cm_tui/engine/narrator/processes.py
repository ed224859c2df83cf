"""Processes that mine episodes next to this one; an episode that crashes one of them is skipped, and only that."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from cm_tui.engine.narrator.looking import Seen, look
from cm_tui.engine.narrator.reading import Item
from cm_tui.errors import StoreError

MOST = 4
_TASK_ITEMS = 200
_TASK_BYTES = 1_000_000
_SMALL_BYTES = 400_000
"""Below this a process would take longer to start than it saves."""
_START = "import cm_tui.engine.narrator.worker as worker; worker.main()"
_LOST = "episodes that could not be looked at"


class Lookers:
    """Mines episodes on several cores.

    Args:
        folder: of the journal.
        workers: processes; 0: one per core, and none for little work.
    """

    def __init__(self, folder: Path, workers: int = 0) -> None:
        self._folder = folder
        self._size = workers or min(MOST, os.cpu_count() or 1)
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._threads: ThreadPoolExecutor | None = None

    def look(self, items: Iterable[Item]) -> Iterator[Seen]:
        """Yield the observations of episodes, a task at a time in order.

        Raises:
            StoreError: the journal cannot be read.
        """
        tasks = _tasks(items)
        first = next(tasks, None)
        if first is None:
            return
        second = next(tasks, None)
        if second is None and sum(item.at.size for item in first) < _SMALL_BYTES:
            yield look(self._folder, first)
            return
        self._start()
        assert self._threads is not None
        waiting: deque[Future[Seen]] = deque()
        for task in _chain(first, second, tasks):
            waiting.append(self._threads.submit(self._work, task))
            # Enough in flight to keep every process busy, few enough to keep memory small.
            if len(waiting) > 2 * self._size:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        """End the processes; work in progress is dropped."""
        for worker in self._workers:
            worker.stop()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None
        self._workers.clear()

    def _start(self) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._size, thread_name_prefix="cm-narrator")
            for _ in range(self._size):
                worker = _Worker(self._folder)
                self._workers.append(worker)
                self._idle.put(worker)

    def _work(self, items: list[Item]) -> Seen:
        worker = self._idle.get()
        try:
            return worker.look(items)
        finally:
            self._idle.put(worker)


def _tasks(items: Iterable[Item]) -> Iterator[list[Item]]:
    task: list[Item] = []
    size = 0
    for item in items:
        task.append(item)
        size += item.at.size
        if len(task) >= _TASK_ITEMS or size >= _TASK_BYTES:
            yield task
            task, size = [], 0
    if task:
        yield task


def _chain(first: list[Item], second: list[Item] | None, rest: Iterator[list[Item]]) -> Iterator[list[Item]]:
    yield first
    if second is not None:
        yield second
    yield from rest


class _Worker:
    """One process and its pipes; used by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def look(self, items: list[Item]) -> Seen:
        """Mine episodes; if the process is lost, each half of the task is tried separately."""
        found = self._attempt(items)
        if found is None:
            found = self._attempt(items)
        if found is not None:
            return found
        if self._stopped:
            raise StoreError("The pass of the narrator was ended.", hint="Run `cm narrate` to go on.")
        if len(items) == 1:
            return Seen(items=items, failed={_LOST: 1})
        half = len(items) // 2
        both = self.look(items[:half])
        both.add(self.look(items[half:]))
        return both

    def stop(self) -> None:
        """End the process at once."""
        self._stopped = True
        self._end()

    def _attempt(self, items: list[Item]) -> Seen | None:
        """Return the observations; None: the process was lost."""
        try:
            process = self._running()
        except OSError:
            # No way to have a process here, or no memory for it: this one can do it.
            return look(self._folder, items)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(items, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            answer = pickle.load(process.stdout)  # noqa: S301 - from our own worker process
        except (EOFError, OSError, pickle.UnpicklingError, ValueError):
            self._end()
            return None
        if isinstance(answer, str):
            raise StoreError(answer, hint="Check the disk and the folder.")
        assert isinstance(answer, Seen)
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # -P: a project's own files must never be imported in place of libraries.
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    # The pipe's reader is gone: unwritten data is dropped.
                    continue
