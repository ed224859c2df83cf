"""A pass of the narrator in the application: started, stopped, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.counts import count
from cm_tui.model import NarratorReport, Progress
from cm_tui.tui.state.activity_log import ActivityLog
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.long_tasks import RunEnded


class NarratorRun:
    """Starts passes, writes how far one is into the project's view, and says that it changed.

    Args:
        tasks: runs it.
        view: what is known of the project.
        log: what happened, for people.
        changed: called after every change of the view.
    """

    def __init__(self, tasks: EngineTasks, view: ProjectView, log: ActivityLog, changed: Callable[[], None]) -> None:
        self._tasks = tasks
        self._view = view
        self._log = log
        self._changed = changed

    def start(self) -> None:
        """Have the narrator look at what is new."""
        if self._tasks.narrate(lambda engine, cancel: engine.narrate(cancel=cancel)):
            self._log.add("The narrator looks at what is new.")
            self._view.narrating = Progress("read", 0, 0)
        self._changed()

    def stop(self) -> None:
        """Stop the pass; what was read is kept."""
        self._tasks.cancel_narrate()

    def stepped(self, progress: Progress) -> None:
        """Show how far it is."""
        self._view.narrating = progress
        self._changed()

    def ended(self, message: RunEnded) -> str:
        """Show what came of it; returns that in words, empty where it failed."""
        self._view.narrating = None
        words = ""
        if message.error is not None:
            self._log.add(message.error.message, "warning" if message.cancelled else "error")
            words = "The pass was stopped; what it read is kept, and the next one goes on." if message.cancelled else ""
        if message.narrated is not None:
            words = report_words(message.narrated)
            self._log.add(words, "ok")
        self._view.index_news += 1
        self._changed()
        return words


def report_words(report: NarratorReport) -> str:
    """Return what a pass did, in one or two sentences."""
    new = [f"{report.proposed:,} new"] if report.proposed else []
    new += [f"{report.changed:,} changed"] if report.changed else []
    new += [f"{report.withdrawn:,} withdrawn"] if report.withdrawn else []
    found = ", ".join(new) or "nothing new"
    said = [
        f"{count(report.episodes, 'episode')} read: {found}; {report.waiting:,} {'waits' if report.waiting == 1 else 'wait'}."
    ]
    if report.approved:
        said.append(f"{count(len(report.approved), 'proposal')} approved by your policy.")
    if report.cost.used:
        said.append(f"{report.cost.used:,} tokens of {report.cost.model} in {count(report.cost.calls, 'call')}.")
    return " ".join([*said, *report.notes, *report.cost.notes])
