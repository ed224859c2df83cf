"""Past sessions of agents in the application: what there is to import, asked once, and the import itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cm_tui.counts import count
from cm_tui.engine.api.transcripts import environment
from cm_tui.errors import CmError
from cm_tui.model import Cancel, ImportPlan, Progress, RescueSummary
from cm_tui.tui.state.activity_log import ActivityLog
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.long_tasks import RunEnded

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


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
        self._rescued: RescueSummary | None = None
        self._answered = False

    def look(self) -> None:
        """Ask what there is to import, once: on a machine with many sessions it takes a moment."""
        if not self._asked:
            self._asked = True
            self._look(lambda: None, lambda _: None)

    def look_again(self, then: Callable[[], None], fail: Callable[[CmError], None]) -> None:
        """Ask once more, as agents may have held sessions since; `then` is called with the answer in the view."""
        self._answered = False
        self._look(then, fail)

    def _look(self, then: Callable[[], None], fail: Callable[[CmError], None]) -> None:
        def got(plan: ImportPlan) -> None:
            self._view.imports = plan
            self._view.expiring = plan.expiring
            self._answered = True
            self._changed()
            then()

        def failed(error: CmError) -> None:
            self._answered = True
            self._log.add(f"Past sessions were not looked for: {error.message}", "warning")
            fail(error)

        where = environment(os.environ)
        self._tasks.ask("app.imports", lambda engine: engine.imports(environment=where), got, failed)

    @property
    def looking(self) -> bool:
        """True until the search for sessions has succeeded or failed."""
        return not self._answered

    def start(self) -> None:
        """Import what there is."""
        where = environment(os.environ)
        if self._tasks.import_sessions(lambda engine, cancel: engine.import_sessions(environment=where, cancel=cancel)):
            self._log.add("Importing past sessions.")
            self._view.importing = Progress("import", 0, 0)
        self._changed()

    def rescue(self) -> None:
        """Keep copies of the transcripts of all projects, after the user agreed."""
        where = environment(os.environ)
        self._rescued = None

        def steps(_: Engine, cancel: Cancel) -> Iterator[Progress]:
            from cm_tui.engine.api.rescue import rescue

            for step in rescue(where, None, cancel):
                self._rescued = step.rescued or self._rescued
                yield step

        if self._tasks.import_sessions(steps):
            self._log.add("Copying the transcripts of coding agents.")
            self._view.importing = Progress("rescue", 0, 0)
        self._changed()

    def stop(self) -> None:
        """Stop the import or the copying; what was done is kept."""
        self._tasks.cancel_import()

    def stepped(self, progress: Progress) -> None:
        """Show how far it is."""
        self._view.importing = progress
        self._changed()

    def ended(self, message: RunEnded) -> str:
        """Show what came of it; returns that in words, empty where it failed."""
        view, done, rescued = self._view, message.imported, self._rescued
        view.importing = self._rescued = None
        words = ""
        if message.error is not None:
            self._log.add(message.error.message, "warning" if message.cancelled else "error")
        if done is not None:
            words = f"{count(done.episodes, 'episode')} of {count(done.sessions, 'session')} recorded."
            if not done.episodes and not done.sessions:
                words = "Nothing new to import: every past session is recorded."
            self._log.add(words, "ok")
            if unread := done.looked_at.unread:
                self._log.add(
                    f"{count(unread, 'transcript')} could not be read: `cm import --dry-run` lists them.", "warning"
                )
            view.imports = None
        if rescued is not None:
            words = f"{count(rescued.copied, 'transcript')} copied, {rescued.kept:,} copied before."
            self._log.add(words, "ok")
            for note in rescued.notes:
                self._log.add(note, "warning")
            view.expiring = 0
        view.index_news += 1
        self._changed()
        return words
