"""Messages about imports and passes of the narrator."""

from __future__ import annotations

from cm_tui.tui.app.mode_app import ModeApp
from cm_tui.tui.tasks.long_tasks import ImportEnded, ImportStep, NarrateEnded, NarrateStep, RunEnded
from cm_tui.tui.tasks.narrator_run import NarratorRun
from cm_tui.tui.tasks.session_import import SessionImport


class RunMessages(ModeApp):
    """Hands on how far such a run is, and says what came of it."""

    session_import: SessionImport
    narrator_run: NarratorRun

    def on_import_step(self, message: ImportStep) -> None:
        """More sessions are imported."""
        self.session_import.stepped(message.progress)

    def on_import_ended(self, message: ImportEnded) -> None:
        """No more sessions are being imported."""
        self._say(self.session_import.ended(message), message)

    def on_narrate_step(self, message: NarrateStep) -> None:
        """The narrator got on."""
        self.narrator_run.stepped(message.progress)

    def on_narrate_ended(self, message: NarrateEnded) -> None:
        """A pass of the narrator is over."""
        self._say(self.narrator_run.ended(message), message)

    def _say(self, words: str, message: RunEnded) -> None:
        if words:
            self.tell(words)
        elif message.error is not None and not message.cancelled:
            self.tell_error(message.error)
