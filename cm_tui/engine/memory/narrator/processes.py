"""Processes that mine episodes next to this one; an episode that crashes one of them is skipped, and only that."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from cm_tui.engine.memory.narrator.looking import Seen, look
from cm_tui.engine.memory.narrator.reading import Item
from cm_tui.errors import StoreError
from cm_tui.worker_process import Worker, WorkerPool

MOST = 4
_TASK_ITEMS = 200
_TASK_BYTES = 1_000_000
_SMALL_BYTES = 400_000
"""Below this a process would take longer to start than it saves."""
_START = "import cm_tui.engine.memory.narrator.worker as worker; worker.main()"
_LOST = "episodes that could not be looked at"


class Lookers(WorkerPool["_Worker"]):
    """Looks at episodes on several cores.

    `workers`: processes; 0: one per core, and none for little work.
    """

    def __init__(self, folder: Path, workers: int = 0) -> None:
        super().__init__(workers or min(MOST, os.cpu_count() or 1), "cm-narrator", lambda: _Worker(folder))
        self._folder = folder

    def look(self, items: Iterable[Item]) -> Iterator[Seen]:
        """Yield the observations of episodes, a task at a time in order.

        Raises StoreError if the journal cannot be read.
        """
        tasks = _tasks(items)
        first = next(tasks, None)
        if first is None:
            return
        second = next(tasks, None)
        if second is None and sum(item.at.size for item in first) < _SMALL_BYTES:
            yield look(self._folder, first)
            return
        yield from self._spread(_Worker.look, chain([first], [] if second is None else [second], tasks))


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


class _Worker(Worker):
    def __init__(self, folder: Path) -> None:
        super().__init__(_START, str(folder))
        self._folder = folder

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
