"""Watches for pauses of recording by any client, and for their end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.config import Config
from cm_tui.errors import CmError
from cm_tui.tui.state.project import ProjectView

if TYPE_CHECKING:
    from cm_tui.model import RecordingState

EVERY = 1.0
"""Seconds between looks."""

Work = Callable[[Callable[[], "RecordingState | CmError"], Callable[["RecordingState | CmError"], None]], None]


class RecordingWatch:
    """Looks on a worker thread, one look at a time.

    Args:
        view: gets whether anything is recorded.
        root: gives the root of the project's checkout; None until that is known.
        config: gives the settings in force.
        work: runs the first function on a worker thread, the second with its answer on the application's.
        changed: called when it is another state.
    """

    def __init__(
        self,
        view: ProjectView,
        root: Callable[[], Path | None],
        config: Callable[[], Config],
        work: Work,
        changed: Callable[[], None],
    ) -> None:
        self._view = view
        self._root = root
        self._config = config
        self._work = work
        self._changed = changed
        self._busy = False

    def look(self) -> None:
        """Look once, where the project is open."""
        root, records = self._root(), self._config().agents.record
        if self._busy or root is None:
            return
        self._busy = True

        def call() -> RecordingState | CmError:
            from cm_tui.engine.api import recording

            try:
                return recording.recording_state(root, records=records)
            except CmError as error:
                return error

        self._work(call, self._got)

    def _got(self, found: RecordingState | CmError) -> None:
        self._busy = False
        before = (self._view.recording, _words(self._view.recording_error))
        failed = found if isinstance(found, CmError) else None
        self._view.recording_error = failed
        self._view.recording = None if isinstance(found, CmError) else found
        if before != (self._view.recording, _words(failed)):
            self._changed()


def _words(error: CmError | None) -> str:
    return error.message if error else ""
