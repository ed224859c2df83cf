"""Long work that screens start: index runs, the reading of history, imports, passes of the narrator; one of each at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from cm_tui.model import Cancel, Progress
from cm_tui.tui.tasks.long_run import (
    HistoryEnded,
    HistoryStep,
    ImportEnded,
    ImportStep,
    IndexEnded,
    IndexStep,
    LongRun,
    NarrateEnded,
    NarrateStep,
    RunEnded,
    RunStep,
)
from cm_tui.tui.tasks.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

    from cm_tui.engine.api.engine import Engine


class LongTasks:
    """Starts long runs on threads of their own; their steps become messages to the application.

    Args:
        target: the application, which gets every message.
    """

    def __init__(self, target: MessagePump) -> None:
        self._workers = WorkerThreads(target)
        self._runs: dict[type[RunEnded], LongRun] = {}
        self.engine: Engine | None = None

    @property
    def indexing(self) -> bool:
        """True while an index run is on its way."""
        return IndexEnded in self._runs

    @property
    def reading_history(self) -> bool:
        """True while history is being read."""
        return HistoryEnded in self._runs

    def index(self, steps: Callable[[Engine, Cancel], Iterator[Progress]]) -> bool:
        """Start a long run; `IndexStep` messages follow, then `IndexEnded`.

        Returns:
            False when a run is on its way already.
        """
        return self._start(steps, IndexStep, IndexEnded)

    def read_history(self, steps: Callable[[Engine, Cancel], Iterator[Progress]]) -> bool:
        """Start to read history; `HistoryStep` messages follow, then `HistoryEnded`.

        Returns:
            False when it is being read already.
        """
        return self._start(steps, HistoryStep, HistoryEnded)

    def import_sessions(self, steps: Callable[[Engine, Cancel], Iterator[Progress]]) -> bool:
        """Start to import sessions; `ImportStep` messages follow, then `ImportEnded`.

        Returns:
            False when they are being imported already.
        """
        return self._start(steps, ImportStep, ImportEnded)

    def narrate(self, steps: Callable[[Engine, Cancel], Iterator[Progress]]) -> bool:
        """Start a pass of the narrator; `NarrateStep` messages follow, then `NarrateEnded`.

        Returns:
            False when one is on its way already.
        """
        return self._start(steps, NarrateStep, NarrateEnded)

    def _start(
        self, steps: Callable[[Engine, Cancel], Iterator[Progress]], step: type[RunStep], ended: type[RunEnded]
    ) -> bool:
        if ended in self._runs or self.engine is None:
            return False
        run = self._runs[ended] = LongRun(partial(steps, self.engine), self._workers.post, step, ended)

        def work() -> None:
            message = run.run()
            del self._runs[ended]
            self._workers.post(message)

        self._workers.run_long(work)
        return True

    def cancel_index(self) -> None:
        """Ask the index run to stop; what it did so far is kept."""
        self._cancel(IndexEnded)

    def cancel_history(self) -> None:
        """Ask the reading of history to stop; what is known by then is kept."""
        self._cancel(HistoryEnded)

    def cancel_import(self) -> None:
        """Ask the import to stop; what it recorded so far is kept."""
        self._cancel(ImportEnded)

    def cancel_narrate(self) -> None:
        """Ask the pass of the narrator to stop; what it read so far is kept."""
        self._cancel(NarrateEnded)

    def _cancel(self, ended: type[RunEnded]) -> None:
        if run := self._runs.get(ended):
            run.cancel()

    def cancel_runs(self) -> None:
        """Ask all of them to stop."""
        for run in list(self._runs.values()):
            run.cancel()
