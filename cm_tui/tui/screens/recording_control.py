"""Pausing what is recorded of sessions from the application, and recording again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from cm_tui.engine.api import recording
from cm_tui.errors import CmError
from cm_tui.model.dates import local_hour_minute
from cm_tui.tui.screens.question import Line, ask_line

if TYPE_CHECKING:
    from cm_tui.model import RecordingState
    from cm_tui.tui.screens.app_services import AppServices

_HINT = "Such as 30m, 2h or 1d; empty: until you record again. Nothing that agents do is written down meanwhile."


class RecordingControl:
    """Pauses after a question, resumes at once, and says what came of it.

    Args:
        app: shows the question.
        cm: the same application, as modes see it.
        look: looks again whether anything is recorded.
    """

    def __init__(self, app: App[Any], cm: AppServices, look: Callable[[], None]) -> None:
        self._app = app
        self._cm = cm
        self._look = look

    def toggle(self) -> None:
        """Pause, or record again."""
        state, error = self._cm.project.recording, self._cm.project.recording_error
        root = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root
        if error is not None or (state is not None and state.state == "paused"):
            everywhere = error is not None or (state is not None and state.everywhere)
            self._do(lambda: _resume(root, everywhere=everywhere))
        elif state is not None and state.state == "never":
            self._cm.tell("Nothing is ever recorded in this folder: memory.never_record of your settings names it.")
        elif state is not None and state.state == "off":
            self._cm.tell("Nothing is recorded: agents.record is switched off in the settings.")
        else:
            line = Line(lambda answer: self._pause(root, answer), hint=_HINT, check=_wrong)
            ask_line(self._app, "Pause recording for how long?", line)

    def _pause(self, root: Path, answer: str) -> None:
        seconds = recording.seconds_of(answer) if answer.strip() else None
        self._do(lambda: recording.pause(root, seconds))

    def _do(self, change: Callable[[], RecordingState]) -> None:
        self._cm.tasks.attempt(change, self._done, self._failed, topic="app.recording")

    def _failed(self, error: CmError) -> None:
        self._cm.tell_error(error)
        self._look()

    def _done(self, found: RecordingState) -> None:
        if found.state == "paused":
            end = f"until {local_hour_minute(found.until)}" if found.until else "until you record again"
            self._cm.tell(f"Nothing is recorded {end}.")
        else:
            self._cm.tell("What agents do is recorded again.")
        self._look()


def _resume(root: Path, *, everywhere: bool) -> RecordingState:
    state = recording.resume(None, here=root) if everywhere else recording.recording_state(root)
    return recording.resume(root) if state.state == "paused" or not everywhere else state


def _wrong(answer: str) -> str | None:
    if not answer.strip():
        return None
    try:
        recording.seconds_of(answer)
    except CmError as error:
        return f"{error.message} {error.hint}"
    return None
