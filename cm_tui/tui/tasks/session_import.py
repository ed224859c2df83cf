"""Past sessions of agents in the application: what there is to import, asked once, and the import itself."""

from __future__ import annotations

import os
from collections.abc import Callable

from cm_tui.counts import count
from cm_tui.engine.api.transcripts import environment
from cm_tui.errors import CmError
from cm_tui.model import ImportPlan, Progress
from cm_tui.tui.state.activity_log import ActivityLog
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.long_run import RunEnded


class SessionImport:
    """Asks the engine, writes the answers into the project's view, and says that it changed.

    Args:
        tasks: asks.
        view: what is known of the project.
        log: what happened, for people.
        changed: called after every change of the view.
    """

    def __init__(self, tasks: EngineTasks, view: ProjectView, log: ActivityLog, changed: Callable[[], None]) -> None:
        self._tasks = tasks
        self._view = view
        self._log = log
        self._changed = changed
        self._asked = False
        self._answered = False

    def look(self) -> None:
        """Ask what there is to import, once: on a machine with many sessions it takes a moment."""
        if self._asked:
            return
        self._asked = True

        def got(plan: ImportPlan) -> None:
            self._view.imports = plan
            self._answered = True
            self._changed()

        def failed(error: CmError) -> None:
            self._answered = True
            self._log.add(f"Past sessions were not looked for: {error.message}", "warning")

        where = environment(os.environ)
        self._tasks.ask("app.imports", lambda engine: engine.imports(environment=where), got, failed)

    @property
    def looking(self) -> bool:
        """True until it is known what there is to import, or why nobody knows."""
        return not self._answered

    def start(self) -> None:
        """Import what there is."""
        where = environment(os.environ)
        if self._tasks.import_sessions(lambda engine, cancel: engine.import_sessions(environment=where, cancel=cancel)):
            self._log.add("Importing past sessions.")
            self._view.importing = Progress("import", 0, 0)
        self._changed()

    def stop(self) -> None:
        """Stop the import; what was recorded is kept."""
        self._tasks.cancel_import()

    def stepped(self, progress: Progress) -> None:
        """Show how far it is."""
        self._view.importing = progress
        self._changed()

    def ended(self, message: RunEnded) -> str:
        """Show what came of it; returns that in words, empty where it failed."""
        view, done = self._view, message.imported
        view.importing = None
        words = ""
        if message.error is not None:
            self._log.add(message.error.message, "warning" if message.cancelled else "error")
        if done is not None:
            words = f"{count(done.episodes, 'episode')} of {count(done.sessions, 'session')} recorded."
            self._log.add(words, "ok")
            if unread := done.looked_at.unread:
                self._log.add(
                    f"{count(unread, 'transcript')} could not be read: `cm import --dry-run` lists them.", "warning"
                )
            view.imports = None
        view.index_news += 1
        self._changed()
        return words
