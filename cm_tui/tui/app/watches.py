"""What changes outside of the application and is looked at again and again: what is checked out, what is recorded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from cm_tui.config import Config
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.tasks import head_watch, recording_watch
from cm_tui.tui.tasks.engine_tasks import EngineTasks


class Watches:
    """Looks on worker threads; the view of the project gets what is seen.

    Args:
        tasks: does the looking, and knows the engine.
        view: gets what is seen.
        config: gives the settings in force.
        head_changed: called when another branch or commit is checked out.
        recording_changed: called when recording was paused, or goes on.
    """

    def __init__(
        self,
        tasks: EngineTasks,
        view: ProjectView,
        config: Callable[[], Config],
        head_changed: Callable[[], None],
        recording_changed: Callable[[], None],
    ) -> None:
        def root() -> Path | None:
            return tasks.engine.root if tasks.engine else None

        self._head = head_watch.HeadWatch(view, root, partial(tasks.work, topic="app.head"), head_changed)
        self._recording = recording_watch.RecordingWatch(
            view, root, config, partial(tasks.work, topic="app.recording-watch"), recording_changed
        )

    def begin(self, every: Callable[[float, Callable[[], None]], object]) -> None:
        """Look from now on.

        Args:
            every: calls a function again and again, after so many seconds each time.
        """
        every(head_watch.EVERY, self._head.look)
        every(recording_watch.EVERY, self._recording.look)

    def look_at_recording(self) -> None:
        """Look at once whether anything is recorded."""
        self._recording.look()
