"""Long work, such as an index run or a pass of the narrator: its steps become messages, and it can be asked to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from textual.message import Message

from cm_tui.errors import CancelledError, CmError
from cm_tui.model import Cancel, ImportSummary, IndexSummary, NarratorReport, Progress
from cm_tui.tui.tasks.errors import as_cm_error

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
