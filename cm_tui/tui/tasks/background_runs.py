"""Work on the project in the background: imports of past sessions, and passes of the narrator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cm_tui import model
from cm_tui.counts import count
from cm_tui.engine.api.transcripts import environment
from cm_tui.errors import CmError
from cm_tui.tui.state.project import ActivityLog, ProjectView
from cm_tui.tui.tasks.ask import Engine, Fail
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.long_tasks import RunEnded, RunKind, Steps


@dataclass
class ProjectWork:
    """Starts work on the project, and writes what comes of it into the project's view.

    Args:
        tasks: does it.
        view: what is known of the project.
        log: what happened, for people.
        changed: called after every change of the view.
    """

    tasks: EngineTasks
    view: ProjectView
    log: ActivityLog
    changed: Callable[[], None]

    def start_run(self, kind: RunKind, steps: Steps, words: str) -> bool:
        """Start a run and log it; False when one of this kind is on its way already."""
        is_started = self.tasks.start_run(kind, steps)
        if is_started:
            self.log.add(words)
        return is_started

    def log_end(self, message: RunEnded) -> None:
        """Log the error that stopped a run."""
        if message.error is not None:
            self.log.add(message.error.message, "warning" if message.cancelled else "error")


class SessionImport(ProjectWork):
    """Asks what there is to import, imports it, and shows how far that is."""

    _has_looked = False
    _answered = False

    def look(self) -> None:
        """Ask what there is to import, once: on a machine with many sessions it takes a moment."""
        if not self._has_looked:
            self._has_looked = True
            self._look(lambda: None, lambda _: None)

    def look_again(self, then: Callable[[], None], fail: Fail) -> None:
        """Ask again, as agents may have held sessions since; `then` is called with the answer in the view."""
        self._answered = False
        self._look(then, fail)

    def _look(self, then: Callable[[], None], fail: Fail) -> None:
        def got(plan: model.ImportPlan) -> None:
            self.view.imports = plan
            self.view.expiring = plan.expiring
            self._answered = True
            self.changed()
            then()

        def failed(error: CmError) -> None:
            self._answered = True
            self.log.add(f"Could not look for past sessions: {error.message}", "warning")
            fail(error)

        where = environment(os.environ)
        self.tasks.ask("app.imports", lambda engine: engine.imports(environment=where), got, failed)

    @property
    def looking(self) -> bool:
        """True until the search for sessions has succeeded or failed."""
        return not self._answered

    def start(self) -> None:
        """Import what there is."""
        where = environment(os.environ)

        def steps(engine: Engine, cancel: model.Cancel) -> Iterator[model.Progress]:
            return engine.import_sessions(environment=where, cancel=cancel)

        if self.start_run("import", steps, "Importing past sessions."):
            self.view.importing = model.Progress("import", 0, 0)
        self.changed()

    def rescue(self) -> None:
        """Keep copies of the transcripts of all projects, after the user agreed."""
        where = environment(os.environ)

        def steps(_: Engine, cancel: model.Cancel) -> Iterator[model.Progress]:
            from cm_tui.engine.api.rescue import rescue

            return rescue(where, None, cancel)

        if self.start_run("import", steps, "Copying the transcripts of coding agents."):
            self.view.importing = model.Progress("rescue", 0, 0)
        self.changed()

    def stop(self) -> None:
        """Stop the import or the copying; what was done is kept."""
        self.tasks.stop_run("import")

    def stepped(self, progress: model.Progress) -> None:
        """Show how far it is."""
        self.view.importing = progress
        self.changed()

    def ended(self, message: RunEnded) -> str:
        """Show what came of it; returns that in words, empty where it failed."""
        view, done, rescued = self.view, message.imported, message.rescued
        view.importing = None
        words = ""
        self.log_end(message)
        if done is not None:
            words = f"{count(done.episodes, 'episode')} of {count(done.sessions, 'session')} recorded."
            if not done.episodes and not done.sessions:
                words = "Nothing new to import: every past session is recorded."
            self.log.add(words, "ok")
            if unread := done.looked_at.unread:
                self.log.add(
                    f"{count(unread, 'transcript')} could not be read: `cm import --dry-run` lists them.", "warning"
                )
            view.imports = None
        if rescued is not None:
            words = f"{count(rescued.copied, 'transcript')} copied, {rescued.kept:,} copied before."
            self.log.add(words, "ok")
            for note in rescued.notes:
                self.log.add(note, "warning")
            view.expiring = 0
        view.index_news += 1
        self.changed()
        return words


class NarratorRun(ProjectWork):
    """Starts passes, and shows how far one is."""

    def start(self) -> None:
        """Have the narrator look at what is new."""
        words = "The narrator is reading new episodes."
        if self.start_run("narrate", lambda engine, cancel: engine.narrate(cancel=cancel), words):
            self.view.narrating = model.Progress("read", 0, 0)
        self.changed()

    def stop(self) -> None:
        """Stop the pass; what was read is kept."""
        self.tasks.stop_run("narrate")

    def stepped(self, progress: model.Progress) -> None:
        """Show how far it is."""
        self.view.narrating = progress
        self.changed()

    def ended(self, message: RunEnded) -> str:
        """Show what came of it; returns that in words, empty where it failed."""
        self.view.narrating = None
        self.log_end(message)
        words = "The pass was stopped; its progress is kept, and the next one continues." if message.cancelled else ""
        if message.narrated is not None:
            words = report_words(message.narrated)
            self.log.add(words, "ok")
        self.view.index_news += 1
        self.changed()
        return words


def report_words(report: model.NarratorReport) -> str:
    """Return what a pass did, in one or two sentences."""
    new = [f"{report.proposed:,} new"] if report.proposed else []
    new += [f"{report.changed:,} changed"] if report.changed else []
    new += [f"{report.withdrawn:,} withdrawn"] if report.withdrawn else []
    found = ", ".join(new) or "nothing new"
    sentences = [
        f"{count(report.episodes, 'episode')} read: {found}; {report.waiting:,} {'waits' if report.waiting == 1 else 'wait'}."
    ]
    if report.approved:
        sentences.append(f"{count(len(report.approved), 'proposal')} approved by your policy.")
    if report.cost.used:
        sentences.append(f"{report.cost.used:,} tokens of {report.cost.model} in {count(report.cost.calls, 'call')}.")
    return " ".join([*sentences, *report.notes, *report.cost.notes])
