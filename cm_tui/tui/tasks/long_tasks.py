"""Long work that screens start: index runs, the reading of history, imports, passes of the narrator; one of each at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from textual.message import Message

from cm_tui.errors import CancelledError, CmError
from cm_tui.model import Cancel, ImportSummary, IndexSummary, NarratorReport, Progress, RescueSummary
from cm_tui.tui.tasks.ask import as_cm_error
from cm_tui.tui.tasks.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

    from cm_tui.engine.api.engine import Engine


STEP_SECONDS = 1 / 20
"""Progress reaches the screen at most this often."""

RunKind = Literal["index", "history", "import", "narrate"]
Steps = Callable[["Engine", Cancel], Iterator[Progress]]


class RunStep(Message):
    """A run got on."""

    def __init__(self, kind: RunKind, progress: Progress) -> None:
        super().__init__()
        self.kind = kind
        self.progress = progress


class RunEnded(Message):
    """A run is over: with what its steps summed up, or with the error that stopped it."""

    def __init__(self, kind: RunKind) -> None:
        super().__init__()
        self.kind = kind
        self.error: CmError | None = None
        self.summary: IndexSummary | None = None
        self.imported: ImportSummary | None = None
        self.narrated: NarratorReport | None = None
        self.rescued: RescueSummary | None = None

    def add(self, step: Progress) -> None:
        """Take the summaries of a step."""
        self.summary = step.summary or self.summary
        self.imported = step.imported or self.imported
        self.narrated = step.narrated or self.narrated
        self.rescued = step.rescued or self.rescued

    @property
    def cancelled(self) -> bool:
        """True when the user stopped it."""
        return isinstance(self.error, CancelledError)


class LongTasks:
    """Starts long runs on threads of their own; their steps become messages to the application.

    Args:
        target: the application, which gets every message.
    """

    def __init__(self, target: MessagePump) -> None:
        self._workers = WorkerThreads(target)
        self._runs: dict[RunKind, Cancel] = {}
        self.engine: Engine | None = None

    @property
    def indexing(self) -> bool:
        """True while an index run is in progress."""
        return "index" in self._runs

    @property
    def reading_history(self) -> bool:
        """True while history is being read."""
        return "history" in self._runs

    def start_run(self, kind: RunKind, steps: Steps) -> bool:
        """Start a long run; `RunStep` messages follow, then `RunEnded`.

        Returns:
            False when one of this kind is on its way already.
        """
        engine = self.engine
        if kind in self._runs or engine is None:
            return False
        cancel = self._runs[kind] = Cancel()

        def work() -> None:
            ended = self._run(kind, lambda: steps(engine, cancel), cancel)
            del self._runs[kind]
            self._workers.post(ended)

        self._workers.run_long(work)
        return True

    def _run(self, kind: RunKind, begin: Callable[[], Iterator[Progress]], cancel: Cancel) -> RunEnded:
        """Do all steps; those are posted that are a new stage, or the first one for some time."""
        ended, posted, before = RunEnded(kind), 0.0, None
        try:
            for step in begin():
                ended.add(step)
                now, stage = time.monotonic(), (step.stage, step.searchable)
                if stage != before or now - posted >= STEP_SECONDS:
                    posted, before = now, stage
                    self._workers.post(RunStep(kind, step))
                cancel.check()
        except Exception as error:  # noqa: BLE001 - shown on screen
            ended.error = as_cm_error(error)
        return ended

    def stop_run(self, kind: RunKind) -> None:
        """Ask a run to stop after the step it is at; what it did so far is kept."""
        if kind in self._runs:
            self._runs[kind].set()

    def stop_runs(self) -> None:
        """Ask all of them to stop."""
        for cancel in list(self._runs.values()):
            cancel.set()
