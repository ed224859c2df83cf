"""Long work that screens start: index runs, the reading of history, imports, passes of the narrator; one of each at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from cm_tui.errors import CancelledError, CmError
from cm_tui.model import Cancel, ImportSummary, IndexSummary, NarratorReport, Progress
from cm_tui.tui.tasks.ask import as_cm_error
from cm_tui.tui.tasks.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

    from cm_tui.engine.api.engine import Engine


STEP_SECONDS = 1 / 20
"""Progress reaches the screen at most this often."""


class RunStep(Message):
    """A run got on."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress


class RunEnded(Message):
    """A run is over: with a summary, or with the error that stopped it."""

    def __init__(
        self,
        summary: IndexSummary | None,
        error: CmError | None,
        imported: ImportSummary | None = None,
        narrated: NarratorReport | None = None,
    ) -> None:
        super().__init__()
        self.summary = summary
        self.imported = imported
        self.narrated = narrated
        self.error = error

    @property
    def cancelled(self) -> bool:
        """True when the user stopped it."""
        return isinstance(self.error, CancelledError)


class IndexStep(RunStep):
    """An index run got on."""


class IndexEnded(RunEnded):
    """An index run is over."""


class HistoryStep(RunStep):
    """More of the history is known."""


class HistoryEnded(RunEnded):
    """No more history is being read."""


class ImportStep(RunStep):
    """More sessions are imported."""


class ImportEnded(RunEnded):
    """No more sessions are being imported."""


class NarrateStep(RunStep):
    """A pass of the narrator got on."""


class NarrateEnded(RunEnded):
    """A pass of the narrator is over."""


class LongRun:
    """Goes through the steps of a run on whatever thread calls `run`.

    Args:
        steps: makes the steps; gets what says that the run should stop.
        post: takes a message for each step that is worth showing.
        step: makes that message.
        ended: makes what `run` returns.
    """

    def __init__(
        self,
        steps: Callable[[Cancel], Iterator[Progress]],
        post: Callable[[Message], None],
        step: type[RunStep] = IndexStep,
        ended: type[RunEnded] = IndexEnded,
    ) -> None:
        self._steps = steps
        self._post = post
        self._step = step
        self._ended = ended
        self._cancel = Cancel()
        self._notified = 0.0
        self._before: tuple[str, bool] | None = None

    def cancel(self) -> None:
        """Ask the run to stop after the step it is at; what it did so far is kept."""
        self._cancel.set()

    def run(self) -> RunEnded:
        """Do all steps; returns what came of them."""
        summary: IndexSummary | None = None
        imported: ImportSummary | None = None
        narrated: NarratorReport | None = None
        try:
            for progress in self._steps(self._cancel):
                summary, imported = progress.summary or summary, progress.imported or imported
                narrated = progress.narrated or narrated
                self._tell(progress)
                self._cancel.check()
        except Exception as error:  # noqa: BLE001 - shown on screen
            return self._ended(summary, as_cm_error(error), imported, narrated)
        return self._ended(summary, None, imported, narrated)

    def _tell(self, progress: Progress) -> None:
        """Post a step when it is a new stage, or when the last one was some time ago."""
        now, stage = time.monotonic(), (progress.stage, progress.searchable)
        if stage != self._before or now - self._notified >= STEP_SECONDS:
            self._notified, self._before = now, stage
            self._post(self._step(progress))


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
        """True while an index run is in progress."""
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
